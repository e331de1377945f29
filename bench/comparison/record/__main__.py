"""The results of record: `python3 -m comparison.record`, from the folder bench/.

In: docs/results/record.json, which names the runs. Out, in docs/results/: README.md, README.zh.md and the
charts, made from the runs' raw samples alone. --adopt RUN... copies folders of bench/run.sh there and makes
them the record; --check writes nothing and says what is not as the runs have it.
Exit status: 0 fine, 1 a run cannot be the record or a page or chart is not what the runs give.
"""

import argparse
import dataclasses
import json
import pathlib
import shutil
import sys

from comparison import backends, plots
from comparison.record import chart, pages, runs

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "docs" / "results"
# Of a run's folder: what it was made of. Charts come from the CSV again.
KEPT = (".json", ".csv", ".md", ".txt")
REGENERATE = "python3 -m comparison.record (from bench/) makes it again"


@dataclasses.dataclass
class Record:
    folder: pathlib.Path
    published: dict
    runs: list

    def sizes(self):
        return self.runs[0].sizes

    def source(self, name):
        """The first run that has this implementation, or None."""
        return next((r for r in self.runs if name in r.backends()), None)

    def names(self):
        """The published order, with kernels that are not in it behind the last one that is; then peers besides."""
        first, measured = list(self.published["ms"]), dict.fromkeys(n for r in self.runs for n in r.backends())
        besides = [n for n in measured if n not in first]
        own = [n for n in besides if not backends.TABLE[n].is_peer]
        place = 1 + max((i for i, n in enumerate(first) if not backends.TABLE[n].is_peer), default=-1)
        return [*first[:place], *own, *first[place:], *(n for n in besides if n not in own)]


def read(folder):
    told = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    published = json.loads((folder / told["published"]).read_text(encoding="utf-8"))
    found = [runs.load((folder / name).resolve()) for name in told["runs"]]
    if not found:
        raise runs.RecordError(f"{folder}/record.json: names no run")
    for run in found[1:]:
        if [run.sizes, pages.shown_card(run)] != [found[0].sizes, pages.shown_card(found[0])]:
            raise runs.RecordError(f"{run.path}: other sizes or another card than {found[0].path}")
    return Record(folder.resolve(), published, found)


def _shortened(text, root):
    """Without the folder that the run was made in; figures stay as they are."""
    return text.replace(root + "/", "").replace(root, ".") if root else text


def adopt(folder, sources):
    """Copies runs to <folder>/<card>/ and writes record.json; nothing is changed if one cannot be the record."""
    loaded, names = [runs.load(s) for s in sources], []
    for run in loaded:
        card = pages.shown_card(run).split()[-1].lower()
        names.append(f"{card}/{run.name}")
        if (folder / names[-1]).exists():
            raise runs.RecordError(f"{folder / names[-1]}: already there")
    for run, name in zip(loaded, names):
        (folder / name).mkdir(parents=True)
        root = run.data["options"].get("root", "").rstrip("/")
        for file in sorted(run.path.iterdir()):
            if file.suffix in KEPT:
                text = _shortened(file.read_text(encoding="utf-8", errors="replace"), root)
                (folder / name / file.name).write_text(text, encoding="utf-8")
        print(f"{folder / name}")
    told = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    told["runs"] = names
    (folder / "record.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def check(record):
    faults = [f for f in (pages.first_difference(p, text) for p, text in pages.pages(record).items()) if f]
    faults += chart.outdated(record)
    for fault in faults:
        print(fault)
    if faults:
        print(REGENERATE)
        return 1
    rows = sum(len(r.figures) for r in record.runs)
    print(f"record: {len(record.runs)} runs, {rows} figures, pages and charts agree")
    return 0


def write(record):
    for path, text in pages.pages(record).items():
        path.write_text(text, encoding="utf-8")
        print(path)
    try:
        for path in chart.draw(record):
            print(path)
    except (chart.ChartError, plots.NoMatplotlib) as e:
        reason = str(e) if isinstance(e, chart.ChartError) else f"{sys.executable} has no matplotlib"
        print(f"no charts: {reason}; the pages are written, {REGENERATE.replace('makes it again', 'draws them')}",
              file=sys.stderr)
        return 1
    return 0


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python3 -m comparison.record", description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--adopt", nargs="+", type=pathlib.Path, metavar="RUN",
                      help="make these folders of bench/run.sh the record; of a backend the first that has it counts")
    what.add_argument("--check", action="store_true", help="write nothing; say what is not as the runs have it")
    parser.add_argument("--folder", type=pathlib.Path, default=FOLDER, help="where the record is (docs/results)")
    args = parser.parse_args(arguments)
    try:
        if args.adopt:
            adopt(args.folder, args.adopt)
        record = read(args.folder)
        return check(record) if args.check else write(record)
    except (runs.RecordError, OSError) as e:
        print(e, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
