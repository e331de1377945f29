"""Looks into the charts of a record as objects, and draws them twice.  check_record_chart.py FOLDER"""
import pathlib
import sys

sys.path.insert(0, ".")
from comparison import plots
from comparison.record import chart
from comparison.record.__main__ import read

record = read(pathlib.Path(sys.argv[1]))
pyplot, fonts = plots.pyplot(), True
for language in ("en", "zh"):
    shown = chart.content(record, language)
    try:
        chart._set_font(pyplot, shown)
    except chart.ChartError as e:
        print(e)
        fonts = False
        continue
    figure, panels = chart.figure(pyplot, shown)
    assert len({p.get_xlim() for p in panels}) == 1 and panels[0].get_xlim()[0] == 0
    for panel, axes in zip(shown["panels"], panels):
        bars = next(c for c in axes.containers if hasattr(c, "patches"))
        whiskers = next(c for c in axes.containers if c.__class__.__name__ == "ErrorbarContainer")
        spans = [[x for x, _ in segment] for segment in whiskers[2][0].get_segments()]
        for (name, median, low, high), bar, span in zip(panel["bars"], bars.patches, spans):
            found = record.source(name).figures["sustained", panel["seq"], name]
            assert abs(bar.get_width() - found["tflops"]) < 0.01, name
            assert abs(span[0] - found["tflops_min"]) < 0.01 and abs(span[1] - found["tflops_max"]) < 0.01, name
            assert low <= median <= high
    print(f"{language}: {len(panels)} panels from 0 on one scale, bars and whiskers of the samples")
if fonts:
    first = {p: p.read_bytes() for p in chart.draw(record)}
    assert first == {p: p.read_bytes() for p in chart.draw(record)}
    assert not list(chart.outdated(record))
    record.runs[0].figures["sustained", record.sizes()[0], "fa3"]["tflops_max"] += 1
    assert len(list(chart.outdated(record))) == 4
print("the same bytes twice")
