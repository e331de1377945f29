"""A kernel's pipeline over time, from the simulator's trace: `python3 -m comparison.timeline TRACE.json`.

In: what `choreo check --trace` writes. Out, beside it or in --out: timeline-KERNEL.png and .svg, one track
a role and warpgroup, for TMA and for the tensor core. Lengths are modelled cycles, and the chart says so.
"""

import argparse
import json
import pathlib
import sys

from comparison import plots

COLOURS = {"compute": "#3182bd", "wait": "#e5e5e5", "mma": "#d95f02", "load": "#66a61e", "store": "#7570b3"}


def read(path):
    """(kernel, cta, [(track, [(begin, length, kind)])]); tracks of one name are laid together."""
    trace = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    events = trace["traceEvents"]
    order = {e["tid"]: e["args"]["sort_index"] for e in events if e["name"] == "thread_sort_index"}
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    tracks = {names[tid]: [] for tid in sorted(names, key=lambda tid: order.get(tid, tid))}
    for event in events:
        if event["ph"] == "X":
            tracks[names[event["tid"]]].append((event["ts"], event["dur"], event["cat"]))
    return trace["otherData"]["kernel"], trace["otherData"]["cta"], list(tracks.items())


def draw(path, language="en", folder=None, say=print):
    """The paths of the files."""
    pyplot = plots.pyplot()
    t = plots.set_language(pyplot, language, say)
    kernel, cta, tracks = read(path)
    figure, axes = pyplot.subplots(figsize=(11, 1.2 + 0.42 * len(tracks)), layout="constrained")
    for row, (_, spans) in enumerate(tracks):
        # Waits first: whatever else a track does lies on top.
        for kind in sorted({s[2] for s in spans}, key=lambda k: k != "wait"):
            axes.broken_barh([(b, n) for b, n, k in spans if k == kind], (row - 0.38, 0.76),
                             facecolors=COLOURS.get(kind, "#888888"))
    kinds = [k for k in COLOURS if any(s[2] == k for _, spans in tracks for s in spans)]
    handles = [pyplot.Rectangle((0, 0), 1, 1, color=COLOURS[k]) for k in kinds]
    axes.legend(handles, [t["kinds"][k] for k in kinds], loc="upper left", bbox_to_anchor=(1.01, 1),
                frameon=False)
    axes.set_yticks(range(len(tracks)), [name for name, _ in tracks])
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel(t["cycles"])
    axes.set_title(f"{kernel}, CTA {cta}", loc="left", fontweight="bold")
    folder = pathlib.Path(folder or pathlib.Path(path).parent)
    return plots.save(pyplot, figure, folder, f"timeline-{kernel}")


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python3 -m comparison.timeline",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("trace", type=pathlib.Path)
    parser.add_argument("--language", choices=("en", "zh"), default="en")
    parser.add_argument("--out", type=pathlib.Path, help="folder of the files (that of the trace)")
    args = parser.parse_args(arguments)
    try:
        for path in draw(args.trace, args.language, args.out):
            print(path)
    except plots.NoMatplotlib as e:
        print(e, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
