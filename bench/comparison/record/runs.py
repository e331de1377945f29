"""What was measured, of one run: read from its raw samples, and its derived files checked against them.

In: a folder as bench/run.sh writes it, or the raw rows (NAME.jsonl) of tools/gpu/verify_and_time.sh with
NAME-summary.csv and NAME-gpu-state.csv beside them. Out: Runs, whose figures come from the samples only.
Must hold: a run that is incomplete, unverified, or whose summary says something else is refused.
"""

import csv
import dataclasses
import json
import pathlib
import re
import statistics

from comparison import backends, results, workload

DECIMALS = {"ms": 4, "ms_min": 4, "ms_max": 4, "tflops": 1, "ratio_to_fa3": 3}
KERNELS = {b.kernel: b.name for b in backends.TABLE.values() if b.kernel}


class RecordError(ValueError):
    """A run that cannot be the record; the text says which and why."""


@dataclasses.dataclass
class Run:
    path: pathlib.Path  # the folder, or the file of raw rows
    data: dict          # as results.json
    figures: dict       # (regime, seq, backend) -> median, range, throughput, ratio

    @property
    def name(self):
        return self.path.name

    @property
    def sizes(self):
        return self.data["workload"]["sizes"]

    def backends(self, regime="sustained"):
        """Those that were timed at every size, in the order they were asked for."""
        return [n for n in self.data["options"]["backends"]
                if all((regime, s, n) in self.figures for s in self.sizes)]

    def busy(self):
        """(median, lowest, highest) of clock (MHz), power (W) and temperature (C) while the card was busy."""
        rows = [r for r in self.data["state"] if is_busy(r)]
        found = {}
        for name in ("clocks.current.sm", "power.draw", "temperature.gpu"):
            values = [r[name] for r in rows if isinstance(r.get(name), (int, float))]
            found[name] = (statistics.median(values), min(values), max(values)) if values else None
        return found


def is_busy(reading):
    """Whether the card worked; nvidia-smi may tell words in place of a number."""
    used = reading.get("utilization.gpu")
    return isinstance(used, (int, float)) and used >= 90


def shape(data):
    """The workload of a run, whatever else later versions of the file may know."""
    known = [f.name for f in dataclasses.fields(workload.Workload)]
    return workload.Workload(**{n: data["workload"].get(n) for n in known})


def load(path):
    """The run of a folder or of a file of raw rows; RecordError where it is none that could be a record."""
    path = pathlib.Path(path)
    try:
        run = _load_folder(path) if path.is_dir() else _load_rows(path)
    except (OSError, KeyError, TypeError, ValueError) as e:
        if isinstance(e, RecordError):
            raise
        raise RecordError(f"{path}: not a run that can be read: {type(e).__name__}: {e}") from e
    _check_complete(run)
    _check_summary(run)
    return run


def _figures(data):
    found = results.statistics_of(data["samples"], shape(data))
    return {(s["regime"], s["seq"], s["backend"]): s for s in found}


def _load_folder(path):
    data = json.loads((path / "results.json").read_text(encoding="utf-8"))
    run = Run(path, data, _figures(data))
    recorded = {(s["regime"], s["seq"], s["backend"]): s for s in data["statistics"]}
    for key in [*run.figures, *recorded]:
        if not _same(recorded.get(key), run.figures.get(key)):
            raise RecordError(f"{path}/results.json: the statistics of {_words(key)} are not those of its samples")
    return run


def _same(recorded, figures):
    """Equal in every figure, whatever else later versions may write beside them."""
    names = ("samples", *DECIMALS, "tflops_min", "tflops_max")
    if recorded is None or figures is None:
        return False
    pairs = [(recorded.get(n), figures[n]) for n in names]
    return all(a == b if a is None or b is None else abs(a - b) <= 1e-9 * abs(b) for a, b in pairs)


def _number(text):
    found = re.match(r"\s*-?[\d.]+", text)
    return float(found[0]) if found else None


def _state(path):
    """The series of the card's state; its cells have units."""
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        rows = [[c.strip() for c in row] for row in csv.reader(file)]
    names = [re.sub(r" \[.*\]", "", n) for n in rows[0]]
    return [{n: v if n == "timestamp" else _number(v) for n, v in zip(names, row)}
            for row in rows[1:] if len(row) == len(names)]


def _load_rows(path):
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rounds = [r for r in rows if r["row"] == "round"]
    if not rounds:
        raise RecordError(f"{path}: no rounds in it")
    for row in rows:
        row["backend"] = KERNELS.get(row["name"], row["name"])
    verified = [r for r in rows if r["row"] == "verify"]
    first, card = rounds[0], next(r for r in verified if "device" in r)
    of_kind = {r["regime"]: {n: r[n] for n in ("warmup", "repeat", "idle_s")} for r in rounds}
    data = {
        "status": "incomplete" if any(r["row"] in ("failed", "missing") for r in rows) else "complete",
        "why": "something failed or was missing", "begin": first["begin"], "end": rounds[-1]["end"],
        "options": {"backends": list(dict.fromkeys(r["backend"] for r in rounds)), "regimes": list(of_kind),
                    "rounds": max(r["round"] for r in rounds) + 1},
        "workload": {**{n: first[n] for n in ("batch", "heads", "dim", "element")}, "kv_heads": card["kv_heads"],
                     "sizes": sorted({r["seq"] for r in rounds}), "regimes": of_kind, "seed": card["seed"]},
        "machine": {"gpu": {"name": card["device"]}, "sm_count": card["sm_count"], "cuda_toolkit": None},
        "backends": {}, "skipped": {}, "untested": [], "verification": verified, "cooling": [], "drift": [],
        "samples": [{n: r[n] for n in ("regime", "seq", "backend", "round", "ms", "begin", "end")} for r in rounds],
        "state": _state(path.with_name(path.stem + "-gpu-state.csv"))}
    return Run(path, data, _figures(data))


def _words(key):
    regime, seq, name = key
    return f"{name} at S={seq}, {regime}"


def _check_complete(run):
    data = run.data
    if data["status"] != "complete":
        raise RecordError(f"{run.path}: the run is incomplete: {data['why']}")
    verified = {(v["backend"], v["seq"]) for v in data["verification"] if v["ok"]}
    for regime, seq, name in run.figures:
        if (name, seq) not in verified:
            raise RecordError(f"{run.path}: {name} was timed at S={seq} but not verified there")
    if backends.REFERENCE not in run.backends():
        raise RecordError(f"{run.path}: without {backends.REFERENCE} at every size there are no ratios")


def _check_summary(run):
    """The rows of the CSV are the figures of the samples, and all of them."""
    path = run.path / "summary.csv" if run.path.is_dir() else run.path.with_name(run.path.stem + "-summary.csv")
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    seen = set()
    for row in rows:
        name = row.get("backend") or KERNELS.get(row["name"], row["name"])
        key = (row["regime"], int(row["seq"]), name)
        figures = run.figures.get(key)
        if not row["ms"] and not figures:
            continue  # left out of the run
        seen.add(key)
        for column, decimals in DECIMALS.items():
            want = f"{figures[column]:.{decimals}f}" if figures else "nothing"
            if row[column] != want:
                raise RecordError(f"{path}: {_words(key)}: {column} is {row[column] or 'nothing'}, the samples "
                                  f"give {want}")
    for key in run.figures:
        if key not in seen:
            raise RecordError(f"{path}: {_words(key)}: has samples, but no row")
