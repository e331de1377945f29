#!/usr/bin/env python3
"""Writes runtime/include/choreo/ptx/wgmma/m64n<N>k16.h for N = 8, 16, ... 256.

    tools/gen_wgmma.py [--check] [--out DIR]

Each header holds four functions: bf16 and f16, with A in shared memory (SS) or in registers (RS).
With --check nothing is written; exit status 1 and one line a file that is missing or out of date.
"""
import argparse
import pathlib
import sys

TYPES = ("bf16", "f16")


def wrap(items, indent, width=100):
    """Joins items with ', ' into lines of at most `width` columns, each indented."""
    lines, line = [], ""
    for item in items:
        piece = item if not line else f"{line}, {item}"
        if len(indent) + len(piece) + 1 > width:
            lines.append(line + ",")
            piece = item
        line = piece
    lines.append(line)
    return f"\n{indent}".join(lines)


def asm_text(n, dtype, a_text, b_index, scale_index, flags):
    """The PTX of one MMA as C string literals; operands are numbered from the accumulator on."""
    registers = [f"%{i}" for i in range(n // 2)]
    rows = [registers[i:i + 14] for i in range(0, len(registers), 14)]
    out = ['"{\\n"', '".reg .pred p;\\n"', f'"setp.ne.b32 p, %{scale_index}, 0;\\n"',
           f'"wgmma.mma_async.sync.aligned.m64n{n}k16.f32.{dtype}.{dtype} "']
    for k, row in enumerate(rows):
        head = "{" if k == 0 else ""
        tail = "}, " if k == len(rows) - 1 else ", "
        out.append(f'"{head}{", ".join(row)}{tail}"')
    out.append(f'"{a_text}, %{b_index}, p, 1, 1, {", ".join(f"%{f}" for f in flags)};\\n"')
    out.append('"}"')
    return "\n      ".join(out)


def function_ss(n, dtype):
    count = n // 2
    text = asm_text(n, dtype, f"%{count}", count + 1, count + 2, (count + 3, count + 4))
    outputs = wrap([f'"+f"(d[{i}])' for i in range(count)], " " * 8)
    return f"""template <int tnspA, int tnspB>
__device__ __forceinline__ void wgmma_m64n{n}k16_f32_{dtype}(
    float (&d)[{count}], uint64_t desc_a, uint64_t desc_b, int scale_d) {{
  static_assert(tnspA >= 0 && tnspA <= 1 && tnspB >= 0 && tnspB <= 1, "0: K-major, 1: MN-major");
  asm volatile(
      {text}
      : {outputs}
      : "l"(desc_a), "l"(desc_b), "r"(scale_d), "n"(tnspA), "n"(tnspB));
}}
"""


def function_rs(n, dtype):
    count = n // 2
    a_text = "{" + ", ".join(f"%{count + i}" for i in range(4)) + "}"
    text = asm_text(n, dtype, a_text, count + 4, count + 5, (count + 6,))
    outputs = wrap([f'"+f"(d[{i}])' for i in range(count)], " " * 8)
    return f"""template <int tnspB>
__device__ __forceinline__ void wgmma_m64n{n}k16_f32_{dtype}_rs(
    float (&d)[{count}], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint64_t desc_b,
    int scale_d) {{
  static_assert(tnspB >= 0 && tnspB <= 1, "0: K-major, 1: N-major");
  asm volatile(
      {text}
      : {outputs}
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(desc_b), "r"(scale_d), "n"(tnspB));
}}
"""


def header(n):
    parts = [f"""// Written by tools/gen_wgmma.py; do not edit.
// D[64, {n}] = A[64, 16] * B[16, {n}] + (scale_d != 0 ? D : 0), f32 accumulation, one warpgroup.
// A and B by shared-memory descriptors, or A in four registers a thread (_rs; K-major by nature).
// Between wgmma_fence() and the wait of its group the accumulator belongs to the tensor core.
// Source: PTX ISA, "wgmma.mma_async".
#pragma once

#include <cstdint>

// clang-format off
namespace choreo::ptx {{
"""]
    for dtype in TYPES:
        parts += [function_ss(n, dtype), function_rs(n, dtype)]
    parts.append("}  // namespace choreo::ptx\n// clang-format on\n")
    return "\n".join(parts)


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--out", type=pathlib.Path,
                        default=root / "runtime/include/choreo/ptx/wgmma")
    args = parser.parse_args()
    stale = []
    for n in range(8, 257, 8):
        path = args.out / f"m64n{n}k16.h"
        text = header(n)
        if args.check:
            if not path.is_file() or path.read_text() != text:
                stale.append(path)
        else:
            args.out.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    for path in stale:
        print(f"out of date: {path} (run tools/gen_wgmma.py)", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
