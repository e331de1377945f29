"""Inputs, verification and timing of attention peers, in PyTorch.

In: shapes, a launcher. Out: tensors [B, S, H, D], a verdict, milliseconds. Must hold: the reference is
explicit attention in FP32 with TF32 off, over rows of every batch and head.
"""

import math

import torch

from comparison.rows import choose_rows, rows_for

ELEMENTS = {"bf16": torch.bfloat16, "f16": torch.float16}
TOLERANCES = {"absolute": 0.05, "relative": 0.1, "row_relative_l2": 0.02}
LIMITS = {"q": 2.0, "k": 2.0, "v": 1.0}


def device():
    return "cuda" if torch.cuda.is_available() else "cpu"


def versions():
    found = {"torch": torch.__version__, "torch_cuda": torch.version.cuda}
    if torch.backends.cudnn.is_available():
        found["cudnn"] = torch.backends.cudnn.version()
    return found


def wait():
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def free():
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def make_inputs(batch, heads, seq, dim, dtype, seed=42, kv_heads=None, limits=None):
    """Q, K, V uniform within `limits`, as [B, S, H, D]."""
    limits = limits or LIMITS
    generator = torch.Generator(device=device()).manual_seed(seed)

    def uniform(n, limit):
        x = torch.rand(batch, seq, n, dim, device=device(), generator=generator)
        return x.mul_(2 * limit).sub_(limit).to(dtype)

    kv_heads = kv_heads or heads
    return uniform(heads, limits["q"]), uniform(kv_heads, limits["k"]), uniform(kv_heads, limits["v"])


def poisoned_launch(launch, like, tries=3):
    """(output, whether it lies where NaN was written before the launch).

    A peer allocates its own output. Freed blocks of its size are full of NaN, and PyTorch's allocator
    hands them out again, so that an element that is not written stays NaN.
    """
    out, kept = None, []
    for _ in range(tries):
        poison = [torch.full_like(like, math.nan) for _ in range(6)]  # a launch may need some itself
        places = {x.data_ptr() for x in poison}
        del poison
        out = launch()
        wait()
        if out.data_ptr() in places:
            return out, True
        kept.append(out)
    return out, False


def verify(out, q, k, v, tolerances=None):
    """Compares whole rows of every batch and head with explicit FP32 attention without TF32."""
    tolerances = tolerances or TOLERANCES
    torch.backends.cuda.matmul.allow_tf32 = False
    batch, seq, heads, dim = q.shape
    if out.shape != q.shape:
        return {"ok": False, "why": f"output of shape {tuple(out.shape)}, not {tuple(q.shape)}"}
    bad = int((~torch.isfinite(out)).sum())
    if bad:
        return {"ok": False, "why": f"{bad} output elements not written or not finite"}
    rows = choose_rows(seq, rows_for(batch, heads, dim))
    index = torch.tensor(rows, device=q.device)
    mask = torch.arange(seq, device=q.device)[None, :] > index[:, None]
    beyond, max_error, max_row, group = 0, 0.0, 0.0, heads // k.shape[2]
    for b in range(batch):
        keys = k[b].repeat_interleave(group, dim=1).permute(1, 2, 0).float()
        values = v[b].repeat_interleave(group, dim=1).transpose(0, 1).float()
        scores = q[b, index].transpose(0, 1).float() @ keys / dim**0.5
        want = torch.softmax(scores.masked_fill(mask, float("-inf")), dim=-1) @ values
        error = (out[b, index].transpose(0, 1).float() - want).abs()
        limit = tolerances["absolute"] + tolerances["relative"] * want.abs()
        beyond += int((error > limit).sum())
        max_error = max(max_error, float(error.max()))
        max_row = max(max_row, float((error.norm(dim=-1) / want.norm(dim=-1)).max()))
    result = {"ok": beyond == 0 and max_row < tolerances["row_relative_l2"],
              "rows": batch * heads * len(rows), "elements": batch * heads * len(rows) * dim,
              "beyond": beyond, "max_error": max_error, "max_row_rel_l2": max_row}
    if not result["ok"]:
        result["why"] = (f"{beyond} elements beyond {tolerances['absolute']} + {tolerances['relative']} * "
                         f"|reference|, largest error {max_error:.3g}, largest row relative L2 {max_row:.3g}")
    return result


def capture(launch):
    """(replay, output) of one launch in a CUDA graph. It was launched before, so that it is compiled."""
    wait()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = launch()
    return graph.replay, out


def layout_ms(q, k, v, repeat=10):
    """What copies of q, k, v as [B, H, S, D], and of the output back from there, take."""
    out = q.transpose(1, 2).contiguous()

    def copies():
        for x in (q, k, v, out):
            x.transpose(1, 2).contiguous()

    return time_ms(copies, 2, repeat)


def time_ms(launch, warmup, repeat):
    """Milliseconds a launch, by events around `repeat` launches back to back."""
    torch.cuda.synchronize()
    for _ in range(warmup):
        launch()
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(repeat):
        launch()
    stop.record()
    stop.synchronize()
    return start.elapsed_time(stop) / repeat
