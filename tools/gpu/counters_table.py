#!/usr/bin/env python3
"""A table of what tools/gpu/counters.sh has read. In: KERNEL.csv as ncu writes it, one launch each, and the
shape. Out: counters.csv (kernel, counter, unit, value) and a table on stdout, a column a kernel.
A counter that was not read is a dash; nothing is estimated in its place.
"""

import argparse
import csv
import pathlib
import sys

TILE, DIM, FLOPS_A_CYCLE = 128, 128, 4096  # of a step; dense BF16 of one multiprocessor's tensor core


def read(path):
    """{counter: (value, unit)} of the one launch in the file."""
    lines = [l for l in path.read_text(encoding="utf-8", errors="replace").splitlines() if l.startswith('"')]
    rows = list(csv.DictReader(lines))
    if len({r["ID"] for r in rows}) != 1:
        raise ValueError(f"{path}: counters of {len({r['ID'] for r in rows})} launches, not of one")
    found = {}
    for row in rows:
        try:
            found[row["Metric Name"]] = (float(row["Metric Value"].replace(",", "")), row["Metric Unit"])
        except ValueError:
            continue  # n/a
    return found


def lines(found, steps):
    """(what, text) of one kernel. Cycles and products are those of one multiprocessor and one step: a tile of
    128 x 128 scores with its two products."""
    def value(name):
        return found[name][0] if name in found else None

    def said(name, form, scale=1.0):
        return form.format(value(name) * scale) if value(name) is not None else "-"

    cycles = value("sm__cycles_elapsed.sum")  # of all multiprocessors together
    a_step = cycles / steps if cycles else None
    busy = 4 * TILE * TILE * DIM / FLOPS_A_CYCLE
    scale = {"ns": 1e-6, "nsecond": 1e-6, "us": 1e-3, "usecond": 1e-3, "ms": 1.0, "msecond": 1.0}
    unit = found.get("gpu__time_duration.sum", (0, "ns"))[1]
    yield "time (ms)", said("gpu__time_duration.sum", "{:.3f}", scale.get(unit, 1e-6))
    yield "cycles (million)", said("sm__cycles_elapsed.max", "{:.2f}", 1e-6)
    yield "cycles a step", f"{a_step:.0f}" if a_step else "-"
    yield "needed for its products", f"{100 * busy / a_step:.1f} %" if a_step else "-"
    yield "tensor pipe active", said("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "{:.1f} %")
    yield "exp2 and conversions (XU pipe)", said("sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed", "{:.1f} %")
    yield "issue slots used", said("smsp__issue_active.avg.pct_of_peak_sustained_elapsed", "{:.1f} %")
    yield "instructions of warps, a step", said("smsp__inst_executed.sum", "{:.0f}", 1 / steps)
    yield "L2 to multiprocessors (GB)", said("l1tex__m_xbar2l1tex_read_bytes.sum", "{:.2f}", 1e-9)
    yield "L2 throughput", said("lts__throughput.avg.pct_of_peak_sustained_elapsed", "{:.1f} %")
    yield "L2 hits", said("lts__t_sector_hit_rate.pct", "{:.1f} %")
    yield "DRAM (GB)", said("dram__bytes.sum", "{:.2f}", 1e-9)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--seq", type=int, required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--heads", type=int, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    tiles = args.seq // TILE
    steps = args.batch * args.heads * tiles * (tiles + 1) // 2
    try:
        found = {path.stem: read(path) for path in args.files}
    except (ValueError, KeyError, OSError) as e:
        print(f"counters_table: {e}", file=sys.stderr)
        return 1
    with open(args.out, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("kernel", "counter", "unit", "value"))
        writer.writerows((k, name, unit, value) for k, v in found.items() for name, (value, unit) in v.items())
    columns = {kernel: dict(lines(v, steps)) for kernel, v in found.items()}
    print(f"{'S=' + str(args.seq):32}" + "".join(f"{kernel:>10}" for kernel in columns))
    for what in next(iter(columns.values())):
        print(f"{what:32}" + "".join(f"{column[what]:>10}" for column in columns.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
