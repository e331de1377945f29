"""Causal attention in Triton, autotuned, without warp specialisation: a peer for the comparison.

In: q, k, v as [B, S, H, D] of 16-bit elements, S a multiple of 128. Out: o likewise. One program owns
BLOCK_M query rows of one head and walks the KV tiles up to its diagonal; only tiles that the diagonal
crosses are masked.
"""

import torch
import triton
import triton.language as tl

VERSION = triton.__version__
LOG2_E = 1.4426950408889634

CONFIGS = [
    triton.Config({"BLOCK_M": m, "BLOCK_N": n}, num_warps=warps, num_stages=stages)
    for m, n, warps in ((128, 128, 8), (128, 64, 8), (128, 64, 4), (64, 64, 4))
    for stages in (2, 3, 4)
]


@triton.jit
def _blocks(acc, row_max, row_sum, q, k_base, v_base, stride, rows, first, last, scale,
            MASKED: tl.constexpr, BLOCK_N: tl.constexpr, DIM: tl.constexpr):
    """Takes the KV rows [first, last) into the running softmax."""
    columns = tl.arange(0, DIM)
    for start in range(first, last, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_base + keys[None, :] * stride + columns[:, None])
        scores = tl.dot(q, k) * scale
        if MASKED:
            scores = tl.where(rows[:, None] >= keys[None, :], scores, float("-inf"))
        new_max = tl.maximum(row_max, tl.max(scores, 1))
        p = tl.exp2(scores - new_max[:, None])
        shrink = tl.exp2(row_max - new_max)
        row_sum = row_sum * shrink + tl.sum(p, 1)
        v = tl.load(v_base + keys[:, None] * stride + columns[None, :])
        acc = tl.dot(p.to(v.dtype), v, acc * shrink[:, None])
        row_max = new_max
    return acc, row_max, row_sum


@triton.autotune(configs=CONFIGS, key=["seq", "DIM"])
@triton.jit
def _attend(q_base, k_base, v_base, o_base, seq, heads, kv_heads, scale, DIM: tl.constexpr,
            BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    tile = tl.num_programs(0) - 1 - tl.program_id(0)  # the longest rows of tiles first
    batch = (tl.program_id(1) // heads).to(tl.int64)
    head = tl.program_id(1) % heads
    kv_head = head // (heads // kv_heads)
    q_stride, kv_stride = heads * DIM, kv_heads * DIM
    begin = tile * BLOCK_M
    rows = begin + tl.arange(0, BLOCK_M)
    at = batch * seq * q_stride + head * DIM + rows.to(tl.int64)[:, None] * q_stride \
        + tl.arange(0, DIM)[None, :]
    kv_at = batch * seq * kv_stride + kv_head * DIM
    q = tl.load(q_base + at)
    acc = tl.zeros([BLOCK_M, DIM], dtype=tl.float32)
    row_max = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    row_sum = tl.zeros([BLOCK_M], dtype=tl.float32)
    whole = begin // BLOCK_N * BLOCK_N  # tiles before it lie below the diagonal
    acc, row_max, row_sum = _blocks(acc, row_max, row_sum, q, k_base + kv_at, v_base + kv_at, kv_stride,
                                    rows, 0, whole, scale, False, BLOCK_N, DIM)
    acc, row_max, row_sum = _blocks(acc, row_max, row_sum, q, k_base + kv_at, v_base + kv_at, kv_stride,
                                    rows, whole, begin + BLOCK_M, scale, True, BLOCK_N, DIM)
    tl.store(o_base + at, (acc / row_sum[:, None]).to(o_base.dtype.element_ty))


def attend(q, k, v):
    batch, seq, heads, dim = q.shape
    if seq % 128 != 0 or not (q.is_contiguous() and k.is_contiguous() and v.is_contiguous()):
        raise ValueError("the Triton kernel takes contiguous tensors, S a multiple of 128")
    out = torch.empty_like(q)

    def grid(meta):
        return (seq // meta["BLOCK_M"], batch * heads)

    _attend[grid](q, k, v, out, seq, heads, k.shape[2], LOG2_E / dim**0.5, DIM=dim)
    return out


def setting():
    """The configurations that tuning chose, by size."""
    return "; ".join(f"S={key[0]}: {config}" for key, config in _attend.cache.items())
