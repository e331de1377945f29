"""Causal attention in TileLang, tiles of 128 by 128 in two stages: a peer for the comparison.

In: q, k, v as [B, S, H, D] of 16-bit elements, S a multiple of 128. Out: o likewise. TileLang gives the
loads to a producer warp group by itself, and compiles one kernel a shape.
"""

import functools

import tilelang
import tilelang.language as T
import torch

VERSION = tilelang.__version__
LOG2_E = 1.4426950408889634
TILE, STAGES, THREADS = 128, 2, 256  # threads that compute; those that load are added
ELEMENTS = {torch.bfloat16: "bfloat16", torch.float16: "float16"}
TARGET = {"kind": "cuda", "arch": "sm_90a"}


def program(batch, heads, kv_heads, seq, dim, element):
    """The kernel of one shape, not compiled."""
    scale, group, tiles = LOG2_E / dim**0.5, heads // kv_heads, seq // TILE

    @T.prim_func
    def attend(q: T.Tensor((batch, seq, heads, dim), element),
               k: T.Tensor((batch, seq, kv_heads, dim), element),
               v: T.Tensor((batch, seq, kv_heads, dim), element),
               o: T.Tensor((batch, seq, heads, dim), element)):
        with T.Kernel(tiles, heads, batch, threads=THREADS) as (place, head, b):
            q_tile = T.alloc_shared((TILE, dim), element)
            k_tile = T.alloc_shared((TILE, dim), element)
            v_tile = T.alloc_shared((TILE, dim), element)
            o_tile = T.alloc_shared((TILE, dim), element)
            scores = T.alloc_fragment((TILE, TILE), "float")
            weights = T.alloc_fragment((TILE, TILE), element)
            acc = T.alloc_fragment((TILE, dim), "float")
            row_max = T.alloc_fragment((TILE,), "float")
            before = T.alloc_fragment((TILE,), "float")
            shrink = T.alloc_fragment((TILE,), "float")
            part = T.alloc_fragment((TILE,), "float")
            row_sum = T.alloc_fragment((TILE,), "float")

            last = tiles - 1 - place  # the longest rows of tiles first
            T.copy(q[b, last * TILE:(last + 1) * TILE, head, :], q_tile)
            T.fill(acc, 0)
            T.fill(row_sum, 0)
            T.fill(row_max, -T.infinity("float"))
            for step in T.Pipelined(last + 1, num_stages=STAGES):
                T.copy(k[b, step * TILE:(step + 1) * TILE, head // group, :], k_tile)
                for i, j in T.Parallel(TILE, TILE):
                    scores[i, j] = T.if_then_else(last * TILE + i >= step * TILE + j, 0,
                                                  -T.infinity("float"))
                T.gemm(q_tile, k_tile, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(v[b, step * TILE:(step + 1) * TILE, head // group, :], v_tile)
                T.copy(row_max, before)
                T.reduce_max(scores, row_max, dim=1, clear=False)
                for i in T.Parallel(TILE):
                    shrink[i] = T.exp2((before[i] - row_max[i]) * scale)
                for i, j in T.Parallel(TILE, TILE):
                    scores[i, j] = T.exp2(scores[i, j] * scale - row_max[i] * scale)
                T.reduce_sum(scores, part, dim=1)
                for i in T.Parallel(TILE):
                    row_sum[i] = row_sum[i] * shrink[i] + part[i]
                for i, j in T.Parallel(TILE, dim):
                    acc[i, j] *= shrink[i]
                T.copy(scores, weights)
                T.gemm(weights, v_tile, acc, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(TILE, dim):
                acc[i, j] /= row_sum[i]
            T.copy(acc, o_tile)
            T.copy(o_tile, o[b, last * TILE:(last + 1) * TILE, head, :])

    return attend


@functools.lru_cache(maxsize=None)
def compiled(*shape):
    return tilelang.compile(program(*shape), target=TARGET,
                            pass_configs={tilelang.PassConfigKey.TL_ENABLE_FAST_MATH: True})


def attend(q, k, v):
    batch, seq, heads, dim = q.shape
    if seq % TILE != 0 or not (q.is_contiguous() and k.is_contiguous() and v.is_contiguous()):
        raise ValueError("the TileLang kernel takes contiguous tensors, S a multiple of 128")
    out = torch.empty_like(q)
    compiled(batch, heads, k.shape[2], seq, dim, ELEMENTS[q.dtype])(q, k, v, out)
    return out
