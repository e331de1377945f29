"""The pages of the record: a template of each language with its tables filled in.

In: a Record. Out: the text of README.md and README.zh.md of the record's folder. Must hold: a figure in
them comes from the samples of a run or from the published table; the templates have none.
"""

import os
import pathlib
import re

from comparison import backends
from comparison.record import power, runs
from comparison.record.texts import TEXTS

TEMPLATES = pathlib.Path(__file__).resolve().parent


def shown_card(run):
    return run.data["machine"]["gpu"]["name"]


def _table(head, rows):
    lines = [f"| {' | '.join(head)} |", "| --- |" + " --- |" * (len(head) - 1)]
    return "\n".join(lines + [f"| {' | '.join(r)} |" for r in rows])


def _link(record, run):
    target = os.path.relpath(run.path, record.folder)
    return f"[{run.name}]({target}{'/' if run.path.is_dir() else ''})"


def _label(name, t):
    return t["labels"].get(name) or backends.TABLE[name].label


def _short(name, t):
    return t["short"].get(name) or backends.TABLE[name].label


def _joined(parts):
    return " / ".join(f"{x:.3f}" for x in parts)


def _published(published, name, sizes):
    places = [published["sizes"].index(s) for s in sizes if s in published["sizes"]]
    if name not in published["ms"] or not places:
        return "–"
    ms = published["ms"]
    return _joined(ms[backends.REFERENCE][p] / ms[name][p] for p in places)


def ratios(record, t):
    """The published table beside the sustained figures here."""
    p, sizes = record.published, record.sizes()
    head = [t["ratio"].format(sizes=" / ".join(map(str, sizes))), t["page_of"].format(card=p["card"]),
            t["ours"].format(card=shown_card(record.runs[0])), t["run"]]
    rows = []
    for name in record.names():
        run = record.source(name)
        here = _joined(run.figures["sustained", s, name]["ratio_to_fa3"] for s in sizes) if run else "–"
        rows.append([_label(name, t), _published(p, name, sizes), here, _link(record, run) if run else "–"])
    return _table(head, rows)


def _cell(f):
    span = f" ({f['ms_min']:.4f}–{f['ms_max']:.4f})" if f["samples"] > 1 else ""
    return f"{f['ms']:.4f}{span} / {f['tflops']:.1f} / {f['ratio_to_fa3']:.3f}"


def figures(record, regime, t):
    """All figures of a regime, run by run: ratios are to FA3 of the same run."""
    parts = []
    for run in record.runs:
        names = [n for n in record.names() if n in run.backends(regime) and
                 (record.source(n) is run or n == backends.REFERENCE)]
        if not names:
            continue
        rows = []
        for name in names:
            found = [run.figures[regime, s, name] for s in run.sizes]
            rows.append([_label(name, t), *map(_cell, found), "/".join(dict.fromkeys(str(f["samples"]) for f in found)),
                         _link(record, run)])
        head = [t[regime] + t["colon"] + t["cell"], *(f"S={s}" for s in run.sizes), t["samples"], t["run"]]
        parts.append(_table(head, rows))
    return "\n\n".join(parts)


def bursts(record, t):
    """Their figures and what they are, or that there are none."""
    table = figures(record, "burst", t)
    return f"{t['bursts']}\n\n{table}" if table else t["no_burst"]


def energy(record, t):
    """Clock, power, and what follows from them, of each implementation at the longest size."""
    rows, parts = [], {run.path: power.of(run) for run in record.runs}
    for name in record.names():
        run = record.source(name)
        f = run and parts[run.path].get(name)
        if f:
            rows.append([_label(name, t), f"{f['clock']:.0f}", f"{f['watts']:.0f}", f"{f['cycles']:.0f}",
                         f"{100 * f['busy']:.0f} %", f"{f['pj']:.2f}", str(f["readings"]), _link(record, run)])
    head = [t["at_power"].format(seq=max(record.sizes())), t["clock"], t["watts"], t["cycles"], t["share"], t["pj"],
            t["readings"], t["run"]]
    return _table(head, rows) if rows else "–"


def _launches(regimes):
    one = regimes.get("sustained")
    return f"{one['warmup']} + {one['repeat']}" if one else "–"


def _series(values, t):
    return t["median"].format(*values) if values else t["unknown"]


def _drift(parts, t):
    """One a size, in their order."""
    return " / ".join(f"{100 * x:+.1f} %" for x in parts) if parts else t["unknown"]


def _versions(run, unknown):
    """Of each peer in the run, what was installed."""
    found = {n: unknown for n in run.backends() if n not in runs.KERNELS.values()}
    for name, about in run.data["backends"].items():
        packages = ", ".join(f"{k} {v}" for k, v in sorted((about.get("versions") or {}).items()))
        found[name] = "; ".join(filter(None, [about.get("version"), packages]))
    return found


def environment(record, t):
    """What differs between the page's measurement and these."""
    p, u = record.published, t["unknown"]
    w = p["workload"]
    columns = [{
        "card": p["card"], "sm_count": p["sm_count"], "power_limit": p["power_limit_w"], "driver": p["driver"],
        "cuda": p["cuda_toolkit"], "date": p["date"], "rounds": f"{p['rounds']}; {p['samples']['fa3']}",
        "launches": f"{w['warmup']} + {w['repeat']}", "seed": w["seed"],
        "drift": _drift(p["fa3_drift"], t), "busy": u, "power": u, "temperature": u}]
    for run in record.runs:
        d, gpu, busy = run.data, run.data["machine"]["gpu"], run.busy()
        fa3 = run.figures["sustained", run.sizes[0], backends.REFERENCE]["samples"]
        columns.append({
            "card": gpu["name"], "sm_count": power.sm_count(run) or u,
            "power_limit": (gpu.get("power.limit") or u).replace(".00", ""), "driver": gpu.get("driver_version") or u, "cuda": d["machine"].get("cuda_toolkit") or u,
            "date": d["begin"][:10], "rounds": f"{d['options']['rounds']}; {fa3}",
            "launches": _launches(d["workload"]["regimes"]), "seed": d["workload"]["seed"],
            "drift": _drift([x["drift"] for x in d["drift"] if x["regime"] == "sustained"], t),
            "busy": _series(busy["clocks.current.sm"], t), "power": _series(busy["power.draw"], t),
            "temperature": _series(busy["temperature.gpu"], t)})
    rows = [[t[key], *(str(c[key]) for c in columns)] for key in columns[0]]
    versions = [p["versions"], *(_versions(r, u) for r in record.runs)]
    for name in record.names():
        if any(name in v for v in versions):
            rows.append([t["version"].format(_short(name, t)), *(v.get(name) or "–" for v in versions)])
    return _table([t["what"], t["published"], *(_link(record, r) for r in record.runs)], rows)


def notes(record, t):
    """What a reader has to know of the runs before comparing."""
    lines = []
    for run in record.runs:
        d, link = run.data, _link(record, run)
        if run is not record.runs[0]:
            names = [_short(n, t) for n in record.names() if record.source(n) is run and n != backends.REFERENCE]
            lines.append(t["elsewhere"].format(run=link, names=t["comma"].join(names) or "–"))
        lines += [t["untested"].format(name=_short(n, t)) for n in d["untested"] if n in run.backends()]
        for name, why in d["skipped"].items():
            if record.source(name) is None:
                lines.append(t["skipped"].format(name=_short(name, t), run=link, why=" ".join(why.split())))
        lines += [t["hot"].format(run=link, seq=c["seq"], at=c["after_c"]) for c in d["cooling"]
                  if not c["reached"] and c["after_c"] is not None]
    absent = [_short(n, t) for n in record.names() if record.source(n) is None]
    if absent:
        lines.append(t["absent"].format(names=t["comma"].join(absent)))
    return "\n".join(f"- {line}" for line in lines or [t["nothing"]])


def without_dead_links(text, folder):
    """Links to what is not there become plain text: the attention package leaves some pages out."""
    own = {t["page"] for t in TEXTS.values()}  # they may be about to be made

    def link(found):
        target = found[2].partition("#")[0]
        kept = not target or ":" in target or target in own or (folder / target).exists()
        return found[0] if kept else found[1]
    return re.sub(r"(?<!!)\[([^\]]*)\]\(([^)\s]*)\)", link, text)


def page(record, language):
    t = TEXTS[language]
    text = (TEMPLATES / f"page.{language}.txt").read_text(encoding="utf-8")
    parts = {"ratios": ratios(record, t), "sustained": figures(record, "sustained", t),
             "burst": bursts(record, t), "energy": energy(record, t),
             "environment": environment(record, t), "notes": notes(record, t)}
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    return without_dead_links(text, record.folder)


def pages(record):
    """{path: text} of both languages."""
    return {record.folder / TEXTS[language]["page"]: page(record, language) for language in TEXTS}


def first_difference(path, want):
    """What the first line that differs is and should be, or None."""
    if not path.exists():
        return f"{path}: missing"
    have = path.read_text(encoding="utf-8").splitlines()
    lines = want.splitlines()
    for number in range(max(len(have), len(lines))):
        is_, should = ([*x, *[""] * (number + 1 - len(x))][number] for x in (have, lines))
        if is_ != should:
            return f"{path}:{number + 1}: is `{is_}`, but the runs give `{should}`"
    return None
