"""Command line of the comparison. In: arguments. Out: a namespace; wrong usage ends with status 2."""

import argparse
import pathlib

from comparison import backends, workload

BENCH = pathlib.Path(__file__).resolve().parent.parent


def _positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is not a positive integer")
    return value


def _not_negative(text):
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"`{text}` is negative")
    return value


def _seconds(text):
    value = float(text)
    if not 0 <= value <= 3600:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of seconds from 0 to 3600")
    return value


def _names(text):
    names = list(backends.TABLE) if text == "all" else [n for n in text.split(",") if n]
    unknown = [n for n in names if n not in backends.TABLE]
    if unknown or not names:
        raise argparse.ArgumentTypeError(
            f"unknown backend {', '.join(unknown) or '(none given)'}; there are "
            f"{','.join(backends.TABLE)}")
    if len(set(names)) != len(names):
        raise argparse.ArgumentTypeError("a backend is named twice")
    return names


def _sizes(text):
    return sorted({_positive(s) for s in text.split(",") if s})


def parser():
    p = argparse.ArgumentParser(
        prog="bench/run.sh",
        description="Compares the attention kernels with other implementations in one run on one card.")
    p.add_argument("--gpu", type=_not_negative, default=0, metavar="N", help="which card (0)")
    p.add_argument("--backends", type=_names, default=backends.USUAL, metavar="A,B",
                   help=f"of {','.join(backends.TABLE)}, or all ({','.join(backends.USUAL)})")
    p.add_argument("--allow-missing", action="store_true",
                   help="go on without backends that are missing or fail; every output names them")
    p.add_argument("--python", default="python3", metavar="PATH",
                   help="interpreter with PyTorch, for the peers (python3)")
    p.add_argument("--ws-python", metavar="PATH", help="interpreter for triton_ws (that of --python)")
    p.add_argument("--build-only", action="store_true", help="build the kernels and stop; needs no card")
    p.add_argument("--skip-build", action="store_true", help="use the binaries as they are")
    p.add_argument("--regenerate", action="store_true",
                   help="compile the .co sources anew in place of the generated CUDA at hand")
    p.add_argument("--choreo", metavar="PATH", help="compiler for --regenerate (build/*/bin, then PATH)")
    p.add_argument("--nvcc", metavar="PATH", help="CUDA compiler (PATH, then /usr/local/cuda/bin)")
    p.add_argument("--build-dir", type=pathlib.Path, metavar="DIR",
                   help="where the binaries are (build/comparison)")
    p.add_argument("--warmup", type=_not_negative, metavar="N", help="launches before a sustained one (50)")
    p.add_argument("--repeat", type=_positive, metavar="N", help="sustained launches measured (200)")
    p.add_argument("--rounds", type=_positive, default=3, metavar="N", help="alternations (3)")
    p.add_argument("--sizes", type=_sizes, metavar="S,S", help="sequence lengths, in place of the file's")
    p.add_argument("--regime", choices=(*workload.REGIMES, "both"), default="sustained")
    p.add_argument("--workload", type=pathlib.Path, default=BENCH / "workload.json", metavar="FILE")
    p.add_argument("--graph", action="store_true",
                   help="capture a launch of each backend in a CUDA graph, and replay that")
    p.add_argument("--include-layout", action="store_true",
                   help="count what a peer with [B, H, S, D] tensors of its own needs to copy to and from them")
    p.add_argument("--gap-s", type=_seconds, default=1.0, metavar="SECONDS",
                   help="pause before anything is timed (1.0)")
    p.add_argument("--timeout", type=_positive, default=180, metavar="SECONDS",
                   help="longest single step of a backend (180)")
    p.add_argument("--language", choices=("en", "zh"), default="en", help="of plots and summary.md")
    p.add_argument("--out", type=pathlib.Path, metavar="DIR",
                   help="the run's folder DIR/<UTC time> is made (results)")
    return p


def parse(arguments):
    p = parser()
    args = p.parse_args(arguments)
    if args.build_only and args.skip_build:
        p.error("--build-only together with --skip-build leaves nothing to do")
    if args.choreo and not args.regenerate:
        p.error("--choreo is used with --regenerate only")
    args.ws_python = args.ws_python or args.python
    args.regimes = list(workload.REGIMES) if args.regime == "both" else [args.regime]
    args.root = BENCH.parent
    args.build_dir = (args.build_dir or args.root / "build" / "comparison").resolve()
    args.out = (args.out or args.root / "results").resolve()
    return args
