#!/usr/bin/env python3
"""Times GEMM kernels against cuBLAS (torch.matmul) in one run on one card, A B A B.

In: kernel binaries (NAME=PATH, built over kernels/gemm/harness.h). Kernels and cuBLAS are verified
before anything is timed; those that fail are reported and not timed. Then, for each shape and regime,
`--rounds` alternations over all of them. Out, under --out: results.jsonl (appended; every raw
measurement with its time of day), summary.csv and a table on stdout.
Exit status: 0 fine, 1 a verification failed or a ratio is below --floor, 3 stopped at the deadline.
"""

import argparse
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from alternate import REGIMES, now

REL_TOLERANCE = {"bf16": 2.2e-3, "f16": 4e-4}  # relative L2, as the kernels' own harness


def tflops(shape, ms):
    m, n, k = shape
    return 2.0 * m * n * k / (ms * 1e9)


def text_of(shape):
    return "x".join(str(x) for x in shape)


class Kernel:
    """A binary over the GEMM harness; a fresh process for each measurement."""

    def __init__(self, name, path, args):
        self.name, self.path, self.args = name, path, args

    def run(self, shape, *options):
        with tempfile.TemporaryDirectory() as folder:
            rows_path = pathlib.Path(folder) / "rows.jsonl"
            sizes = [word for pair in zip(("--m", "--n", "--k"), map(str, shape)) for word in pair]
            environment = {k: v for k, v in os.environ.items() if k != "CHOREO_DISABLE_TIMING"}
            done = subprocess.run([self.path, *sizes, "--json", str(rows_path), *options],
                                  capture_output=True, text=True, env=environment,
                                  timeout=self.args.timeout)
            rows = []
            if rows_path.exists():
                rows = [json.loads(line) for line in rows_path.read_text().splitlines()]
            return done, rows

    def verify(self, shape):
        done, rows = self.run(shape, "--warmup", "0", "--repeat", "1", "--rounds", "1")
        result = next((r for r in rows if r["row"] == "verify"), {})
        result["ok"] = done.returncode == 0 and bool(result.get("ok"))
        if not result["ok"]:
            result["why"] = (done.stderr + done.stdout)[-400:]
        return result

    def time(self, shape, regime):
        done, rows = self.run(
            shape, "--no-verify", "--warmup", str(regime["warmup"]), "--repeat",
            str(regime["repeat"]), "--rounds", "1", "--idle-ms", str(int(regime["idle_s"] * 1000)))
        if done.returncode != 0:
            raise RuntimeError(f"{self.name}: exit status {done.returncode}: {done.stderr[-400:]}")
        return next(r["ms"] for r in rows if r["row"] == "round")


class Cublas:
    """torch.matmul in this process. `gap_s` of idleness before it stands for a kernel's start."""

    def __init__(self, args):
        import torch

        # Sums stay in FP32, as the kernels'.
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
        self.torch, self.args = torch, args
        self.name = "cublas"
        self.path = f"torch {torch.__version__}, CUDA {torch.version.cuda}"
        self.shape, self.tensors = None, None

    def launcher(self, shape):
        if self.shape != shape:
            torch, (m, n, k) = self.torch, shape
            dtype = torch.bfloat16 if self.args.element == "bf16" else torch.float16
            generator = torch.Generator(device="cuda").manual_seed(42)

            def uniform(rows):
                x = torch.rand(rows, k, device="cuda", generator=generator)
                return x.mul_(2).sub_(1).to(dtype)

            self.tensors = (uniform(m), uniform(n), torch.empty(m, n, device="cuda", dtype=dtype))
            self.shape = shape
        a, b, c = self.tensors
        return lambda: self.torch.matmul(a, b.t(), out=c)

    def verify(self, shape):
        self.launcher(shape)()
        a, b, c = self.tensors
        rows = sorted({0, shape[0] - 1, shape[0] // 2, shape[0] // 3})
        want = a[rows].double() @ b.double().t()
        error = float((c[rows].double() - want).norm() / want.norm())
        return {"ok": error < REL_TOLERANCE[self.args.element], "elements": want.numel(),
                "rel_l2": error}

    def time(self, shape, regime):
        launch = self.launcher(shape)
        torch = self.torch
        time.sleep(self.args.gap_s + regime["idle_s"])
        for _ in range(regime["warmup"]):
            launch()
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(regime["repeat"]):
            launch()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop) / regime["repeat"]


def collect(args, add):
    """Everything to compare, verified at every shape; False if a kernel is not right."""
    contenders, ok, good = [Kernel(*item.split("=", 1), args) for item in args.kernel], True, []
    try:
        contenders.append(Cublas(args))
    except (ImportError, OSError) as e:
        print(f"cublas: not available: {e}")
        add(row="missing", name="cublas", why=str(e))
        ok = False
    for contender in contenders:
        fine = True
        for shape in args.shapes:
            try:
                result = contender.verify(shape)
            except Exception as e:  # a peer may fail in any way; it is reported, and not timed
                result = {"ok": False, "why": f"{type(e).__name__}: {e}"[-400:]}
            result.update(row="verify", name=contender.name, what=contender.path,
                          shape=text_of(shape))
            add(**result)
            fine &= result["ok"]
            print(f"  verify {contender.name:16} {text_of(shape):18} "
                  + (f"ok, relative L2 {result['rel_l2']:.3g}" if result["ok"]
                     else f"FAILED {result.get('why', result)}"), flush=True)
        if fine:
            good.append(contender)
        ok &= fine
    return good, ok


def measure(args, contenders, add):
    """All alternations; False if the deadline came first."""
    for turn in range(args.rounds):
        for regime in args.regimes:
            for shape in args.shapes:
                for contender in contenders:
                    if time.monotonic() > args.stop_at:
                        return False
                    begin = now()
                    ms = contender.time(shape, REGIMES[regime])
                    add(row="round", name=contender.name, regime=regime, shape=text_of(shape),
                        round=turn, element=args.element, **REGIMES[regime], ms=ms,
                        tflops=tflops(shape, ms), begin=begin, end=now())
    return True


def summarise(args, contenders, rows):
    """Prints and writes the table; False if a kernel is below the floor at the largest shape."""
    ok, table = True, []
    largest = max(args.shapes, key=lambda s: s[0] * s[1] * s[2])
    for regime in args.regimes:
        for shape in args.shapes:
            def figures(name):
                return [r["ms"] for r in rows if r["row"] == "round" and r["name"] == name
                        and (r["regime"], r["shape"]) == (regime, text_of(shape))]

            peer = figures("cublas")
            for contender in contenders:
                ms = figures(contender.name)
                if not ms:
                    continue
                median = statistics.median(ms)
                ratio = statistics.median(peer) / median if peer else None
                verdict = ""
                if ratio and contender.name != "cublas" and shape == largest:
                    verdict = "above floor" if ratio >= args.floor else "BELOW FLOOR"
                    ok &= ratio >= args.floor
                table.append({
                    "regime": regime, "shape": text_of(shape), "name": contender.name,
                    "rounds": len(ms), "ms": f"{median:.4f}", "ms_min": f"{min(ms):.4f}",
                    "ms_max": f"{max(ms):.4f}", "tflops": f"{tflops(shape, median):.1f}",
                    "ratio_to_cublas": f"{ratio:.3f}" if ratio else "", "verdict": verdict})
    if not table:
        print("nothing was timed")
        return False
    with open(pathlib.Path(args.out) / "summary.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, table[0].keys())
        writer.writeheader()
        writer.writerows(table)
    print(f"{'regime':10}{'shape':>18} {'name':16}{'ms':>9}{'TFLOPS':>8}{'/cuBLAS':>9}  verdict")
    for row in table:
        print(f"{row['regime']:10}{row['shape']:>18} {row['name']:16}{row['ms']:>9}"
              f"{row['tflops']:>8}{row['ratio_to_cublas']:>9}  {row['verdict']}")
    return ok


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernel", action="append", default=[], metavar="NAME=BINARY")
    parser.add_argument("--shapes", default="8192x8192x8192,4096x4096x4096,8192x1024x4096")
    parser.add_argument("--element", choices=("bf16", "f16"), default="bf16")
    parser.add_argument("--regimes", default="sustained,burst")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--floor", type=float, default=0.7, help="least ratio at the largest shape")
    parser.add_argument("--gap-s", type=float, default=1.5)
    parser.add_argument("--timeout", type=float, default=60, help="seconds a kernel process may run")
    parser.add_argument("--deadline-s", type=float, default=240, help="stop measuring after that")
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    args.shapes = [tuple(int(x) for x in s.split("x")) for s in args.shapes.split(",")]
    args.regimes = [r for r in args.regimes.split(",") if r]
    args.stop_at = time.monotonic() + args.deadline_s
    if any(r not in REGIMES for r in args.regimes) or any(len(s) != 3 for s in args.shapes):
        parser.error("--regimes takes sustained and burst, --shapes MxNxK")
    if any("=" not in k for k in args.kernel):
        parser.error("--kernel takes NAME=BINARY")
    out = pathlib.Path(args.out)
    out.mkdir(parents=True, exist_ok=True)

    rows = []
    with open(out / "results.jsonl", "a", encoding="utf-8") as file:
        def add(**row):
            rows.append(row)
            file.write(json.dumps(row) + "\n")
            file.flush()

        contenders, ok = collect(args, add)
        complete = measure(args, contenders, add)
    ok &= summarise(args, contenders, rows)
    if not complete:
        print("INCOMPLETE: the deadline came before the last round")
    return 1 if not ok else 0 if complete else 3


if __name__ == "__main__":
    sys.exit(main())
