#!/usr/bin/env python3
"""Verifies the attention implementations to compare with, alone, at the given shapes.

In: nothing but the installed packages. Out: a line a peer and shape; a peer that cannot be imported or
run is reported with its reason, never replaced by another. Exit status: 0 fine, 1 a verdict failed.
"""

import argparse
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

from comparison.peers import FINDERS, available  # noqa: E402
from comparison.torch_attention import ELEMENTS, make_inputs, poisoned_launch, verify  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", default="fa3,cudnn", help=",".join(FINDERS))
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--heads", type=int, default=32)
    parser.add_argument("--seq", default="4096")
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--element", choices=tuple(ELEMENTS), default="bf16")
    args = parser.parse_args()
    peers, missing = available(args.peers.split(","))
    for name, why in missing.items():
        print(f"{name}: not available: {why}")
    failed = False
    for seq in (int(s) for s in args.seq.split(",")):
        q, k, v = make_inputs(args.batch, args.heads, seq, args.dim, ELEMENTS[args.element])
        for peer in peers.values():
            out, poisoned = poisoned_launch(peer.prepare(q, k, v), q)
            result = {**verify(out, q, k, v), "poisoned": poisoned}
            failed |= not result["ok"]
            print(f"{peer.name} ({peer.version}) S={seq}: {json.dumps(result)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
