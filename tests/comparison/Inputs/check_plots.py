"""Looks into the charts as objects. In: the folder of recorded summaries. Prints what it found."""
import pathlib
import sys

sys.path.insert(0, ".")
from comparison import plots
from comparison.texts import TEXTS

recorded = pathlib.Path(sys.argv[1])
pyplot, english = plots.pyplot(), TEXTS["en"]
rows = [r for r in plots.read(recorded / "h200-summary.csv") if r["regime"] == "sustained"]
figure, axes = plots._chart(pyplot, rows, english, "tflops", "TFLOPS")
bars = [c for c in axes.containers if hasattr(c, "patches")]
heights = {round(p.get_height(), 1) for c in bars for p in c.patches}
assert heights == {r["tflops"] for r in rows}, heights
for whiskers in (c for c in axes.containers if c.__class__.__name__ == "ErrorbarContainer"):
    ends = sorted(y for segment in whiskers[2][0].get_segments() for _, y in segment)
    spans = {round(y, 1) for y in ends}
    assert spans <= {v for r in rows for v in (r["tflops_min"], r["tflops_max"])}, spans
axes.set_ylim(bottom=0)
print(f"{len(bars)} backends, {len(axes.get_xticks())} sizes, scale from {axes.get_ylim()[0]:.0f}")

for row in rows:
    row["run"] = "incomplete"
    if row["backend"] == "fa3":
        row["note"] = "skipped: missing"
print("notes:", "; ".join(plots._notes(rows, english)[1:]))
texts, font = plots.choose_language("zh", print)
assert (texts is TEXTS["zh"]) == (font is not None)
if font:
    print("Chinese:", font)
