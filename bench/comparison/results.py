"""The folder of one run: what was measured, kept as it comes.

In: samples, verdicts, notes. Out: DIR/<UTC time>/ with log.txt, results.json, summary.csv, summary.md.
Must hold: the files are whole at any moment (written beside, then renamed), and say `incomplete` until
the run has ended well, so that a run that was killed reads as what it is.
"""

import datetime
import json
import os
import pathlib
import statistics

from comparison import backends, summary

SCHEMA = 1


def utc():
    return datetime.datetime.now(datetime.timezone.utc)


def write_whole(path, text):
    beside = path.with_name(path.name + ".part")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, path)


class Run:
    def __init__(self, parent, workload, options, language):
        begin = utc()
        self.folder = pathlib.Path(parent) / begin.strftime("%Y-%m-%dT%H-%M-%SZ")
        # Runs that begin within one second: the later one gets a number.
        number = 1
        while self.folder.exists():
            number += 1
            self.folder = self.folder.with_name(begin.strftime("%Y-%m-%dT%H-%M-%SZ") + f"-{number}")
        self.folder.mkdir(parents=True)
        self.language = language
        self.data = {
            "schema": SCHEMA, "status": "incomplete", "why": "the run was cut off", "begin": begin.isoformat(),
            "end": None, "options": options, "workload": workload.as_json(), "machine": {}, "backends": {},
            "build": {}, "skipped": {}, "untested": [], "verification": [], "cooling": [], "samples": [],
            "statistics": [], "drift": [], "state": []}
        self.workload = workload
        self.log_file = open(self.folder / "log.txt", "w", encoding="utf-8")

    def log(self, text):
        if not self.log_file.closed:  # a peer that is being ended may still say something
            self.log_file.write(text + "\n")
            self.log_file.flush()

    def skip(self, name, why):
        self.data["skipped"][name] = why

    def save(self):
        data = self.data
        data["statistics"] = statistics_of(data["samples"], self.workload)
        data["drift"] = drift_of(data["samples"])
        write_whole(self.folder / "results.json", json.dumps(data, indent=1) + "\n")
        rows = summary.rows(data)
        write_whole(self.folder / "summary.csv", summary.csv_text(rows))
        write_whole(self.folder / "summary.md", summary.markdown(data, rows, self.language))

    def finish(self, why=""):
        """The last word; `why` says what is incomplete."""
        self.data.update(status="incomplete" if why else "complete", why=why, end=utc().isoformat())
        self.save()
        self.log_file.close()


def statistics_of(samples, workload):
    """Median and full range of each backend, size and regime, in the order of the first samples."""
    groups = {}
    for s in samples:
        groups.setdefault((s["regime"], s["seq"], s["backend"]), []).append(s["ms"])
    references = {}
    for (regime, seq, name), ms in groups.items():
        if name == backends.REFERENCE:
            references[regime, seq] = statistics.median(ms)
    result = []
    for (regime, seq, name), ms in groups.items():
        median, reference = statistics.median(ms), references.get((regime, seq))
        result.append({
            "regime": regime, "seq": seq, "backend": name, "samples": len(ms), "ms": median,
            "ms_min": min(ms), "ms_max": max(ms), "tflops": workload.tflops(seq, median),
            "tflops_min": workload.tflops(seq, max(ms)), "tflops_max": workload.tflops(seq, min(ms)),
            "ratio_to_fa3": reference / median if reference else None})
    return result


def drift_of(samples):
    """How much slower the reference was at the ends of the rounds than at their beginnings."""
    ends = {}
    for s in samples:
        if s["backend"] == backends.REFERENCE and s.get("place"):
            ends.setdefault((s["regime"], s["seq"]), {}).setdefault(s["place"], []).append(s["ms"])
    result = []
    for (regime, seq), places in ends.items():
        if "first" in places and "last" in places:
            first, last = statistics.median(places["first"]), statistics.median(places["last"])
            result.append({"regime": regime, "seq": seq, "backend": backends.REFERENCE, "first_ms": first,
                           "last_ms": last, "drift": last / first - 1})
    return result
