"""summary.csv and summary.md of a run. In: the data of results.json. Out: text. The CSV is what the
plots are made from: every backend asked for has its rows, also one that was skipped, with the reason."""

import csv
import io

from comparison import backends
from comparison.texts import TEXTS

COLUMNS = ("regime", "seq", "backend", "label", "samples", "ms", "ms_min", "ms_max", "tflops",
           "tflops_min", "tflops_max", "ratio_to_fa3", "max_error", "max_row_rel_l2", "run", "note")
_DIGITS = {"ms": 4, "ms_min": 4, "ms_max": 4, "tflops": 1, "tflops_min": 1, "tflops_max": 1,
           "ratio_to_fa3": 3}


def _text(name, value):
    if value is None:
        return ""
    if name in ("max_error", "max_row_rel_l2"):
        return f"{value:.3g}"
    return f"{value:.{_DIGITS[name]}f}" if name in _DIGITS else str(value)


def rows(data):
    """One row a regime, size and backend asked for."""
    measured = {(s["regime"], s["seq"], s["backend"]): s for s in data["statistics"]}
    errors = {(v["seq"], v["backend"]): v for v in data["verification"]}
    result = []
    for regime in data["options"]["regimes"]:
        for seq in data["workload"]["sizes"]:
            for name in data["options"]["backends"]:
                found = measured.get((regime, seq, name), {"samples": 0})
                notes = [f"skipped: {data['skipped'][name]}"] if name in data["skipped"] else []
                notes += ["untested"] if name in data["untested"] else []
                row = {"regime": regime, "seq": seq, "backend": name,
                       "label": backends.TABLE[name].label, "run": data["status"],
                       "note": "; ".join(" ".join(n.split()) for n in notes)}
                row.update({k: v for k, v in found.items() if k in COLUMNS})
                verified = errors.get((seq, name), {})
                row.update({k: verified.get(k) for k in ("max_error", "max_row_rel_l2")})
                result.append({c: _text(c, row.get(c)) for c in COLUMNS})
    return result


def csv_text(table):
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()


def _cell(row):
    if not row["ms"]:
        return "–"
    ratio = f" / {row['ratio_to_fa3']}" if row["ratio_to_fa3"] else ""
    return f"{row['ms']} ({row['ms_min']}–{row['ms_max']}) / {row['tflops']}{ratio}"


def _table(data, table, regime, t):
    sizes = data["workload"]["sizes"]
    yield f"| {t[regime]}: {t['cell']} | " + " | ".join(f"S={s}" for s in sizes) + " |"
    yield "| --- |" + " --- |" * len(sizes)
    for name in data["options"]["backends"]:
        mine = {r["seq"]: r for r in table if (r["regime"], r["backend"]) == (regime, name)}
        yield f"| {t['labels'].get(name, backends.TABLE[name].label)} | " + " | ".join(_cell(mine[str(s)]) for s in sizes) + " |"
    yield ""


def _layouts(data, t):
    """Of each peer that has another layout: what becomes of it, and what copies cost."""
    for name, about in data["backends"].items():
        costs = [f"{v['layout_ms']:.3f}" for v in data["verification"]
                 if v["backend"] == name and "layout_ms" in v]
        if costs:
            how = t["copied" if data["options"]["include_layout"] else "viewed"]
            yield f"- {name}: {about['layout']}{t['comma']}{how} {' / '.join(costs)} ms"


def markdown(data, table, language):
    """The tables, and before them whatever a reader must know of the run."""
    t, w = TEXTS[language], data["workload"]
    lines = [f"# {t['title']}", ""]
    if data["status"] != "complete":
        lines += [f"**{t['incomplete']}** (`incomplete`): {data['why']}", ""]
    for name, why in data["skipped"].items():
        lines += [f"**{t['skipped']}** (`skipped`): {name}: {' '.join(why.split())}", ""]
    if data["untested"]:
        lines += [f"{t['untested']} (*untested*): {', '.join(data['untested'])}", ""]
    gpu = data["machine"].get("gpu", {})
    lines += [f"{gpu.get('name', '?')}, {t['driver']} {gpu.get('driver_version', '?')}, CUDA "
              f"{data['machine'].get('cuda_toolkit') or '?'}; {data['begin']}", "",
              f"B={w['batch']} H={w['heads']} Hkv={w['kv_heads']} D={w['dim']} causal {w['element']} BSHD",
              ""]
    for regime in data["options"]["regimes"]:
        lines += _table(data, table, regime, t)
    for d in data["drift"]:
        lines.append(f"- {t['drift']} {d['regime']} S={d['seq']}: {d['drift']:+.2%}")
    if data["options"]["graph"]:
        lines.append(f"- {t['graph']}")
    lines += _layouts(data, t)
    hot = [c for c in data["cooling"] if not c["reached"]]
    lines += [f"- {t['hot']} S={c['seq']}: {c['after_c']} C" for c in hot]
    return "\n".join(lines).rstrip() + "\n"
