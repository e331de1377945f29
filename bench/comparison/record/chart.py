"""The chart of the record: throughput of every implementation, one panel a size, for the README.

In: a Record. Out: attention.png/.svg and attention.zh.png/.svg in its folder. Bars of the median from a
common zero, whiskers of the full range. Each file carries the sum of what it shows, so that a chart that is
older than the record is found without drawing it. Needs matplotlib, and a font that has the Chinese labels.
"""

import hashlib
import json

from comparison import backends, plots
from comparison.record.pages import shown_card
from comparison.record.texts import TEXTS


class ChartError(RuntimeError):
    """There is nothing to draw with; the text says what to install."""


def content(record, language):
    """All that the chart says, as plain data."""
    t = TEXTS[language]
    names = [n for n in record.names() if record.source(n)]
    w = record.runs[0].data["workload"]
    used = dict.fromkeys(record.source(n).name for n in names)
    panels = [{"seq": seq, "bars": [
        [n, *(round(record.source(n).figures["sustained", seq, n][k], 2) for k in ("tflops", "tflops_min", "tflops_max"))]
        for n in names]} for seq in record.sizes()]
    shape = f"B={w['batch']}, H={w['heads']}, D={w['dim']}, {w['element'].upper()}"
    return {"title": t["title"].format(card=shown_card(record.runs[0])), "axis": t["axis"], "panels": panels,
            "labels": [t["short"].get(n) or backends.TABLE[n].label for n in names],
            "caption": t["caption"].format(shape=shape, runs=", ".join(used))}


def mark(shown):
    """The sum that a chart's files carry."""
    return "record " + hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()


def files(record, language):
    stem = "attention" if language == "en" else f"attention.{language}"
    return [record.folder / f"{stem}.{kind}" for kind in ("png", "svg")]


def outdated(record):
    """What is wrong with the charts that are there."""
    for language in TEXTS:
        want = mark(content(record, language)).encode()
        for path in files(record, language):
            if not path.exists():
                yield f"{path}: missing"
            elif want not in path.read_bytes():
                yield f"{path}: does not show the record; make it again"


def _set_font(module, shown):
    if all(ord(c) < 0x2E80 for c in json.dumps(shown, ensure_ascii=False)):
        module.rcParams["font.sans-serif"] = ["DejaVu Sans"]
        return
    font = plots.chinese_font("".join(sorted(set(json.dumps(shown, ensure_ascii=False)))))
    if font is None:
        raise ChartError("no installed font has the Chinese characters (fonts-wqy-microhei or fonts-noto-cjk has)")
    module.rcParams["font.sans-serif"] = [font, "DejaVu Sans"]


def figure(module, shown):
    """The figure and its panels."""
    count = len(shown["labels"])
    fig, panels = module.subplots(1, len(shown["panels"]), figsize=(11, 1.5 + 0.34 * count), sharex=True, sharey=True,
                                  layout="constrained", squeeze=False)
    for axes, panel in zip(panels[0], shown["panels"]):
        values = [bar[1] for bar in panel["bars"]]
        low = [bar[1] - bar[2] for bar in panel["bars"]]
        high = [bar[3] - bar[1] for bar in panel["bars"]]
        colours = [plots.COLOURS.get(bar[0], "#888888") for bar in panel["bars"]]
        axes.barh(range(count), values, 0.74, color=colours, zorder=2)
        axes.errorbar(values, range(count), xerr=[low, high], fmt="none", ecolor="black", capsize=2.5, linewidth=1,
                      zorder=3)
        for place, bar in enumerate(panel["bars"]):
            axes.annotate(f"{bar[1]:.0f}", (bar[3], place), xytext=(5, 0), textcoords="offset points", va="center",
                          fontsize=8)
        axes.set_title(f"S={panel['seq']}", fontsize=10)
        axes.grid(axis="x", color="#dddddd", zorder=0)
    top = max(bar[3] for panel in shown["panels"] for bar in panel["bars"])
    panels[0][0].set_xlim(0, 1.14 * top)
    panels[0][0].set_yticks(range(count), shown["labels"])
    panels[0][0].invert_yaxis()
    for axes in panels[0]:
        axes.tick_params(left=False)
    fig.suptitle(shown["title"], x=0.01, ha="left", fontweight="bold")
    fig.supxlabel(f"{shown['axis']}\n{shown['caption']}", fontsize=8, color="#444444")
    return fig, list(panels[0])


def draw(record):
    """Makes all charts; the paths of the files."""
    module, made = plots.pyplot(), []
    for language in TEXTS:
        shown = content(record, language)
        _set_font(module, shown)
        fig, _ = figure(module, shown)
        for path in files(record, language):
            extra = {"Software": None} if path.suffix == ".png" else {"Date": None}
            fig.savefig(path, dpi=150, metadata={"Description": mark(shown), **extra})
            made.append(path)
        module.close(fig)
    return made
