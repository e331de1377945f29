#!/usr/bin/env python3
"""Times kernels and peers against each other in one run on one card, A B A B.

In: kernel binaries (NAME=PATH, built over the attention harness; options of theirs may follow, so that
one binary can be compared with itself: "pairs=bin/v3 --schedule pairs") and peer names. Every kernel and
peer is verified before anything is timed; those that fail are reported and not timed. Then, for each
size and regime, `--rounds` alternations over all of them (`--burst-rounds` of the bursts, which are
mostly pauses). Out, under --out: results.jsonl (appended;
every raw measurement with its time of day), summary.csv and a table on stdout.
Exit status: 0 fine, 1 a verification failed or a ratio is below its floor, 3 stopped at the deadline.
"""

import argparse
import csv
import datetime
import json
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

from comparison.contenders import KernelProcess  # noqa: E402

REGIMES = {
    "sustained": {"warmup": 50, "repeat": 200, "idle_s": 0.0},
    "burst": {"warmup": 3, "repeat": 10, "idle_s": 3.0},
}


def now():
    return datetime.datetime.now().isoformat(timespec="milliseconds")


def tflops(args, seq, ms):
    return 2.0 * args.batch * args.heads * seq * seq * args.dim / (ms * 1e9)


class Results:
    """Raw rows: kept, and written as they come."""

    def __init__(self, path):
        self.rows = []
        self.file = open(path, "a", encoding="utf-8")

    def add(self, **row):
        self.rows.append(row)
        self.file.write(json.dumps(row) + "\n")
        self.file.flush()

    def ms(self, regime, seq, name):
        return [
            r["ms"] for r in self.rows
            if r["row"] == "round" and (r["regime"], r["seq"], r["name"]) == (regime, seq, name)
        ]


class TorchPeer:
    """A peer in this process. `gap_s` of idleness before it stands for a kernel's process start."""

    def __init__(self, attention, peer, args):
        self.attention, self.peer, self.args = attention, peer, args
        self.name, self.path = peer.name, peer.version
        self.inputs = {}

    def launcher(self, seq):
        if seq not in self.inputs:
            self.inputs[seq] = self.attention.make_inputs(
                self.args.batch, self.args.heads, seq, self.args.dim,
                self.attention.ELEMENTS[self.args.element],
                limits={"q": self.args.spread, "k": self.args.spread, "v": 1.0})
        q, k, v = self.inputs[seq]
        return self.peer.prepare(q, k, v), (q, k, v)

    def verify(self, seq):
        launch, (q, k, v) = self.launcher(seq)
        out, poisoned = self.attention.poisoned_launch(launch, q)
        return {**self.attention.verify(out, q, k, v), "poisoned": poisoned}

    def time(self, seq, regime):
        launch, _ = self.launcher(seq)
        time.sleep(max(self.args.gap_s, regime["idle_s"]))
        return self.attention.time_ms(launch, regime["warmup"], regime["repeat"])


def kernel(item, args):
    """NAME=BINARY [OPTION...]"""
    name, command = item.split("=", 1)
    return KernelProcess(name, f"{command} --spread {args.spread:g}", args.batch, args.heads, args.timeout)


def lists_text(result):
    """What a persistent kernel says of its task lists, which it makes before it is timed."""
    if "schedule_build_ms" not in result:
        return ""
    return (f"; lists: {result['order']}, {result['ctas']} CTAs, heaviest {result['imbalance']:.4f} x the "
            f"mean, built in {result['schedule_build_ms']:.2f} ms, uploaded in "
            f"{result['schedule_upload_ms']:.2f} ms")


def collect(args, results):
    """Everything to compare, verified at every size; False if anything asked for is not right."""
    contenders, ok = [kernel(item, args) for item in args.kernel], True
    names = [n for n in args.peers.split(",") if n]
    if names:
        try:
            from comparison import peers, torch_attention

            found, missing = peers.available(names)
            contenders += [TorchPeer(torch_attention, p, args) for p in found.values()]
        except ImportError as e:
            missing = {name: str(e) for name in names}
        for name, why in missing.items():
            print(f"{name}: not available: {why}")
            results.add(row="missing", name=name, why=why)
    good = []
    for contender in contenders:
        fine = True
        for seq in args.seqs:
            try:
                result = contender.verify(seq)
            except Exception as e:  # a peer may fail in any way; it is reported, and not timed
                result = {"ok": False, "why": f"{type(e).__name__}: {e}"[-400:]}
            result.update(row="verify", name=contender.name, what=contender.path, seq=seq)
            results.add(**result)
            fine &= result["ok"]
            print(f"  verify {contender.name:24} S={seq:<6} "
                  + (f"ok, largest error {result['max_error']:.2g}, row relative L2 "
                     f"{result['max_row_rel_l2']:.2g}{lists_text(result)}" if result["ok"] else
                     f"FAILED {result.get('why', result)}"), flush=True)
        if fine:
            good.append(contender)
        elif isinstance(contender, KernelProcess):
            ok = False
    return good, ok


def measure(args, contenders, results):
    """All alternations; False if the deadline came first."""
    regimes = [r for r in args.regimes.split(",") if r]
    for turn in range(args.rounds):
        for regime in regimes:
            if regime == "burst" and turn >= args.burst_rounds:
                continue
            for seq in args.seqs:
                for contender in contenders:
                    if time.monotonic() > args.stop_at:
                        return False
                    begin = now()
                    try:
                        ms = contender.time(seq, REGIMES[regime])
                    except Exception as e:
                        results.add(row="failed", name=contender.name, regime=regime, seq=seq,
                                    round=turn, why=f"{type(e).__name__}: {e}"[-400:])
                        print(f"  {contender.name} S={seq} {regime}: {e}")
                        continue
                    results.add(row="round", name=contender.name, regime=regime, seq=seq, round=turn,
                                batch=args.batch, heads=args.heads, dim=args.dim,
                                element=args.element, **REGIMES[regime], ms=ms,
                                tflops=tflops(args, seq, ms), begin=begin, end=now())
    return True


def fa3_baseline(args, results, regime, seq, floors):
    """(FA3's TFLOPS in this run, where it comes from), or (None, why not)."""
    fa3 = results.ms(regime, seq, "fa3")
    if fa3:
        return tflops(args, seq, statistics.median(fa3)), "fa3"
    cudnn, factor = results.ms(regime, seq, "cudnn"), floors["fa3_over_cudnn"].get(str(seq))
    if cudnn and factor:
        return factor * tflops(args, seq, statistics.median(cudnn)), f"{factor} x cudnn"
    return None, "no baseline"


def summarise(args, contenders, results):
    """Prints and writes the table; False if a kernel is below its floor by more than noise."""
    floors = json.loads(pathlib.Path(args.floors).read_text())
    ok, table = True, []
    for regime in (r for r in args.regimes.split(",") if r):
        for seq in args.seqs:
            baseline, source = fa3_baseline(args, results, regime, seq, floors)
            for contender in contenders:
                ms = results.ms(regime, seq, contender.name)
                if not ms:
                    continue
                median = statistics.median(ms)
                speed = tflops(args, seq, median)
                ratio = speed / baseline if baseline else None
                floor = floors["floors"].get(contender.name, {}).get(str(seq))
                verdict = ""
                if regime == "sustained" and ratio and floor and args.is_reference_shape:
                    short = 1 - ratio / floor
                    verdict = ("above floor" if short <= 0 else
                               "within noise" if short < floors["noise"] else "BELOW FLOOR")
                    ok &= verdict != "BELOW FLOOR"
                table.append({
                    "regime": regime, "seq": seq, "name": contender.name, "rounds": len(ms),
                    "ms": f"{median:.4f}", "ms_min": f"{min(ms):.4f}", "ms_max": f"{max(ms):.4f}",
                    "tflops": f"{speed:.1f}", "ratio_to_fa3": f"{ratio:.3f}" if ratio else "",
                    "baseline": source, "floor": floor or "", "verdict": verdict})
    if not table:
        print("nothing was timed")
        return ok
    path = pathlib.Path(args.out) / "summary.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, table[0].keys())
        writer.writeheader()
        writer.writerows(table)
    print(f"{'regime':10}{'S':>7} {'name':26}{'ms':>9}{'TFLOPS':>8}{'/FA3':>7}{'floor':>7}  verdict")
    for row in table:
        print(f"{row['regime']:10}{row['seq']:7} {row['name']:26}{row['ms']:>9}{row['tflops']:>8}"
              f"{row['ratio_to_fa3']:>7}{row['floor']!s:>7}  {row['verdict']}")
    return ok


def main():
    here = pathlib.Path(__file__).resolve()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernel", action="append", default=[], metavar="NAME=BINARY [OPTION...]")
    parser.add_argument("--peers", default="fa3,cudnn")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--heads", type=int, default=32)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--element", choices=("bf16", "f16"), default="bf16")
    parser.add_argument("--spread", type=float, default=2.0, help="Q and K are uniform within plus and minus this")
    parser.add_argument("--seqs", default="4096,8192,16384")
    parser.add_argument("--regimes", default="sustained,burst")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--burst-rounds", type=int, help="as --rounds unless told")
    parser.add_argument("--gap-s", type=float, default=1.5)
    parser.add_argument("--timeout", type=float, default=60, help="seconds a kernel process may run")
    parser.add_argument("--deadline-s", type=float, default=300, help="stop measuring after that")
    parser.add_argument("--floors", default=here.parents[2] / "bench" / "floors.json")
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    if args.burst_rounds is None:
        args.burst_rounds = args.rounds
    args.seqs = [int(s) for s in args.seqs.split(",")]
    args.stop_at = time.monotonic() + args.deadline_s
    args.is_reference_shape = (args.batch, args.heads, args.dim, args.element) == (4, 32, 128, "bf16")
    unknown = [r for r in args.regimes.split(",") if r and r not in REGIMES]
    if unknown or any("=" not in k for k in args.kernel):
        parser.error(f"unknown regime {unknown}" if unknown else "--kernel takes NAME=BINARY")
    pathlib.Path(args.out).mkdir(parents=True, exist_ok=True)

    results = Results(pathlib.Path(args.out) / "results.jsonl")
    contenders, ok = collect(args, results)
    complete = measure(args, contenders, results)
    ok &= summarise(args, contenders, results)
    if args.peers and not any(isinstance(c, TorchPeer) for c in contenders):
        print("FAILED: none of the peers could be had, so that no ratio is known")
        ok = False
    if not complete:
        print("INCOMPLETE: the deadline came before the last round")
    return 1 if not ok else 0 if complete else 3


if __name__ == "__main__":
    sys.exit(main())
