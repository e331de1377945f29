"""Charts of a run, from its summary.csv alone: `python3 -m comparison.plots SUMMARY.csv`.

In: the CSV. Out, beside it: throughput-REGIME.png/.svg (bars of the median, whiskers of the full range,
one scale from zero) and speed-REGIME.png/.svg (ratio to FlashAttention-3). What was skipped and an
incomplete run are said in the chart. Needs matplotlib; Chinese labels need a font that has them.
"""

import argparse
import csv
import pathlib
import sys

from comparison import backends
from comparison.texts import TEXTS

CHINESE_FONTS = ("Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC", "WenQuanYi Micro Hei",
                 "WenQuanYi Zen Hei", "Microsoft YaHei", "SimHei", "PingFang SC")
# Own kernels in shades of one colour, peers in others: told apart without reading the legend.
COLOURS = {"v1": "#9ecae1", "v2": "#6baed6", "v4": "#3182bd", "v3": "#08519c", "v5": "#08306b", "fa3": "#d95f02",
           "cudnn": "#66a61e", "fa2": "#e6ab02", "tilelang": "#e7298a", "triton": "#7570b3", "triton_ws": "#a6761d"}
NO_MATPLOTLIB = ("matplotlib is not installed for this Python; install python3-matplotlib, then: "
                 "python3 -m comparison.plots SUMMARY.csv")


class NoMatplotlib(RuntimeError):
    """There is nothing to draw with."""


def pyplot():
    """matplotlib, set up for files; NoMatplotlib where there is none."""
    try:
        import matplotlib
    except ImportError as e:
        raise NoMatplotlib(NO_MATPLOTLIB) from e
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "croqtile", "svg.fonttype": "path",
                                "axes.spines.top": False, "axes.spines.right": False, "font.size": 10})
    from matplotlib import pyplot as module

    return module


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["seq"] = int(row["seq"])
        for name in ("tflops", "tflops_min", "tflops_max", "ratio_to_fa3"):
            row[name] = float(row[name]) if row[name] else None
    return rows


def chinese_font(text):
    """The first installed font that has every character of the text, or None."""
    from matplotlib import font_manager
    from matplotlib.ft2font import FT2Font

    for name in CHINESE_FONTS:
        for entry in font_manager.fontManager.ttflist:
            if entry.name == name:
                known = FT2Font(entry.fname).get_charmap()
                if all(ord(c) in known for c in text):
                    return name
    return None


def _characters(texts):
    return "".join(v if isinstance(v, str) else _characters(v) for v in texts.values())


def choose_language(language, say):
    """(texts, font or None): English where Chinese cannot be rendered, and that is said."""
    if language != "zh":
        return TEXTS["en"], None
    font = chinese_font(_characters(TEXTS["zh"]))
    if font is None:
        say("no installed font has the Chinese characters (fonts-wqy-microhei or fonts-noto-cjk has): "
            "the labels are English")
        return TEXTS["en"], None
    return TEXTS["zh"], font


def set_language(module, language, say):
    """The texts, with a font for them set."""
    t, font = choose_language(language, say)
    module.rcParams["font.sans-serif"] = [*filter(None, [font]), "DejaVu Sans"]
    return t


def save(module, figure, folder, stem):
    """The chart as PNG and SVG, the same bytes each time; the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{stem}.png", folder / f"{stem}.svg"]
    figure.savefig(paths[0], dpi=150)
    figure.savefig(paths[1], metadata={"Date": None})
    module.close(figure)
    return paths


def _label(row, t):
    return t["labels"].get(row["backend"], row["label"])


def _notes(rows, t):
    """What a reader has to know before comparing bars."""
    skipped = list(dict.fromkeys(_label(r, t) for r in rows if "skipped" in r["note"]))
    notes = [t["median"]]
    if any(r["run"] != "complete" for r in rows):
        notes.append(f"{t['incomplete']} (incomplete)")
    if skipped:
        notes.append(f"{t['skipped']} (skipped): {', '.join(skipped)}")
    return notes


def _chart(module, rows, t, value, label):
    """Bars in groups, one group a size; the figure."""
    from matplotlib import patheffects

    names = [n for n in dict.fromkeys(r["backend"] for r in rows)
             if any(r["backend"] == n and r[value] for r in rows)]
    sizes = sorted({r["seq"] for r in rows})
    found = {(r["backend"], r["seq"]): r for r in rows}
    width = 0.84 / max(1, len(names))
    figure, axes = module.subplots(figsize=(10, 5.2), layout="constrained")
    for i, name in enumerate(names):
        mine = [(g, found[name, s]) for g, s in enumerate(sizes)
                if (name, s) in found and found[name, s][value]]
        places = [g + (i - (len(names) - 1) / 2) * width for g, _ in mine]
        heights = [r[value] for _, r in mine]
        axes.bar(places, heights, width * 0.92, label=_label(mine[0][1], t), zorder=2,
                 color=COLOURS.get(name, "#888888"))
        tops = heights
        if value == "tflops":
            low = [r["tflops"] - r["tflops_min"] for _, r in mine]
            high = [r["tflops_max"] - r["tflops"] for _, r in mine]
            axes.errorbar(places, heights, [low, high], fmt="none", ecolor="black", capsize=2.5,
                          linewidth=1, zorder=3)
            tops = [r["tflops_max"] for _, r in mine]
        for place, top, height in zip(places, tops, heights):
            text = f"{height:.0f}" if value == "tflops" else f"{height:.2f}"
            written = axes.annotate(text, (place, top), xytext=(0, 3), textcoords="offset points",
                                    ha="center", fontsize=7, zorder=2.5)
            written.set_path_effects([patheffects.withStroke(linewidth=2, foreground="white")])
    axes.set_xticks(range(len(sizes)), [f"S={s}" for s in sizes])
    axes.set_xlabel(t["size"])
    axes.set_ylabel(label)
    axes.grid(axis="y", color="#dddddd", zorder=0)
    if names:
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
    return figure, axes


def draw(path, language="en", folder=None, say=print):
    """Makes all charts; the paths of the files."""
    module = pyplot()
    t = set_language(module, language, say)
    table, made = read(path), []
    folder = pathlib.Path(folder or pathlib.Path(path).parent)
    for regime in dict.fromkeys(r["regime"] for r in table):
        rows = [r for r in table if r["regime"] == regime]
        for kind, value, label in (("throughput", "tflops", t["throughput"]),
                                   ("speed", "ratio_to_fa3", t["ratio"])):
            if not any(r[value] for r in rows):
                continue  # nothing measured, or no reference to compare with
            figure, axes = _chart(module, rows, t, value, label)
            # One scale from zero for all regimes, so that their charts can be laid side by side.
            axes.set_ylim(0, 1.08 * max(r["tflops_max" if value == "tflops" else value] or 0 for r in table))
            if value == "ratio_to_fa3":
                axes.axhline(1.0, color=COLOURS[backends.REFERENCE], linewidth=1, linestyle="--",
                             zorder=1)
            notes = _notes(rows, t)[0 if value == "tflops" else 1:]
            axes.set_title(f"{t['title']}{t['comma']}{t[regime]}", loc="left", fontweight="bold", pad=22)
            axes.text(0, 1.02, "; ".join(notes), transform=axes.transAxes, fontsize=8, color="#555555")
            made += save(module, figure, folder, f"{kind}-{regime}")
    return made


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python3 -m comparison.plots", description=__doc__.splitlines()[0])
    parser.add_argument("summary", type=pathlib.Path)
    parser.add_argument("--language", choices=("en", "zh"), default="en")
    parser.add_argument("--out", type=pathlib.Path, help="folder of the files (that of the CSV)")
    args = parser.parse_args(arguments)
    try:
        for path in draw(args.summary, args.language, args.out):
            print(path)
    except NoMatplotlib as e:
        print(e, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
