"""Causal attention in Triton with Hopper's warp specialisation: a peer for the comparison.

In: q, k, v as [B, S, H, D] of 16-bit elements, S a multiple of 128. Out: o likewise. Must hold: what is
launched was specialised (specialised.py). The specialising pass of the released versions takes one loop a
kernel, without a branch, and descriptors that the kernel makes; so every KV tile is masked, not only
those on the diagonal.
"""

import torch
import triton
import triton.language as tl

from comparison import specialised

VERSION = triton.__version__
LOG2_E = 1.4426950408889634

# Four warps, of which the pass makes twelve; with eight it leaves the kernel as it is.
CONFIGS = [triton.Config({"BLOCK_M": 128, "BLOCK_N": n}, num_warps=4, num_stages=stages)
           for n, stages in ((128, 2), (64, 2), (64, 3), (64, 4))]


@triton.autotune(configs=CONFIGS, key=["seq", "DIM"])
@triton.jit
def _attend(q_base, k_base, v_base, o_base, seq, heads, kv_heads, scale, DIM: tl.constexpr,
            BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    tile = tl.num_programs(0) - 1 - tl.program_id(0)  # the longest rows of tiles first
    batch = (tl.program_id(1) // heads).to(tl.int64)
    head = tl.program_id(1) % heads
    kv_head = head // (heads // kv_heads)
    at = (batch * seq * heads + head) * DIM
    kv_at = (batch * seq * kv_heads + kv_head) * DIM
    q_tiles = tl.make_tensor_descriptor(q_base + at, [seq, DIM], [heads * DIM, 1], [BLOCK_M, DIM])
    o_tiles = tl.make_tensor_descriptor(o_base + at, [seq, DIM], [heads * DIM, 1], [BLOCK_M, DIM])
    k_tiles = tl.make_tensor_descriptor(k_base + kv_at, [seq, DIM], [kv_heads * DIM, 1], [BLOCK_N, DIM])
    v_tiles = tl.make_tensor_descriptor(v_base + kv_at, [seq, DIM], [kv_heads * DIM, 1], [BLOCK_N, DIM])
    begin = tile * BLOCK_M
    rows = begin + tl.arange(0, BLOCK_M)
    acc = tl.zeros([BLOCK_M, DIM], dtype=tl.float32)
    row_max = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    row_sum = tl.zeros([BLOCK_M], dtype=tl.float32)
    q = q_tiles.load([begin, 0])
    for start in tl.range(0, begin + BLOCK_M, BLOCK_N, warp_specialize=True):
        scores = tl.dot(q, k_tiles.load([start, 0]).T)
        keys = start + tl.arange(0, BLOCK_N)
        scores = tl.where(rows[:, None] >= keys[None, :], scores * scale, float("-inf"))
        new_max = tl.maximum(row_max, tl.max(scores, 1))
        p = tl.exp2(scores - new_max[:, None])
        shrink = tl.exp2(row_max - new_max)
        part = tl.sum(p, 1)
        acc = acc * shrink[:, None]
        v = v_tiles.load([start, 0])
        acc = tl.dot(p.to(v.dtype), v, acc)
        row_sum = row_sum * shrink + part
        row_max = new_max
    o_tiles.store([begin, 0], (acc / row_sum[:, None]).to(o_base.dtype.element_ty))


def _scratch(size, alignment, stream):
    """Memory for the descriptors that a launch makes."""
    return torch.empty(size, dtype=torch.int8, device="cuda")


def attend(q, k, v):
    batch, seq, heads, dim = q.shape
    if seq % 128 != 0 or not (q.is_contiguous() and k.is_contiguous() and v.is_contiguous()):
        raise ValueError("the Triton kernel takes contiguous tensors, S a multiple of 128")
    triton.set_allocator(_scratch)
    out = torch.empty_like(q)

    def grid(meta):
        return (seq // meta["BLOCK_M"], batch * heads)

    specialised.require(
        _attend[grid](q, k, v, out, seq, heads, k.shape[2], LOG2_E / dim**0.5, DIM=dim))
    return out


def setting():
    """The configurations that tuning chose, by size."""
    return "; ".join(f"S={key[0]}: {config}" for key, config in _attend.cache.items())
