#!/usr/bin/env python3
"""Attention implementations to compare with: FlashAttention-3 and cuDNN through PyTorch.

In: nothing but the installed packages. Out: `available()` maps names to Peer objects whose `prepare`
returns a launcher over [B, S, H, D] tensors. A peer that cannot be imported or run is reported with
its reason, never replaced by another. Run alone, it verifies every peer at the given shapes.
"""

import argparse
import json
import sys

import torch
import torch.nn.functional as functional
from torch.nn.attention import SDPBackend, sdpa_kernel

ABS_TOLERANCE, REL_TOLERANCE, ROW_TOLERANCE = 0.05, 0.1, 0.02


def make_inputs(batch, heads, seq, dim, dtype, seed=42):
    """Q, K ~ U[-2, 2], V ~ U[-1, 1], as [B, S, H, D]."""
    generator = torch.Generator(device="cuda").manual_seed(seed)

    def uniform(limit):
        x = torch.rand(batch, seq, heads, dim, device="cuda", generator=generator)
        return (x.mul_(2 * limit).sub_(limit)).to(dtype)

    return uniform(2.0), uniform(2.0), uniform(1.0)


class Peer:
    """A named implementation; `attend(q, k, v)` returns O as [B, S, H, D]."""

    def __init__(self, name, version, attend):
        self.name, self.version, self.attend = name, version, attend

    def prepare(self, q, k, v):
        def launch():
            return self.attend(q, k, v)

        return launch


def _first(result):
    return result[0] if isinstance(result, (tuple, list)) else result


def _fa3_from(module_name, module):
    def attend(q, k, v):
        return _first(module.flash_attn_func(q, k, v, causal=True))

    return Peer("fa3", f"{module_name} {getattr(module, '__version__', '')}".strip(), attend)


def _fa3_from_vllm():
    try:
        from vllm.vllm_flash_attn import flash_attn_varlen_func
    except ImportError:
        from vllm_flash_attn import flash_attn_varlen_func
    starts = {}

    def attend(q, k, v):
        batch, seq, heads, dim = q.shape
        if (batch, seq) not in starts:
            starts[batch, seq] = torch.arange(
                0, (batch + 1) * seq, seq, dtype=torch.int32, device=q.device
            )
        flat = [x.reshape(batch * seq, x.shape[2], dim) for x in (q, k, v)]
        out = flash_attn_varlen_func(
            *flat, max_seqlen_q=seq, cu_seqlens_q=starts[batch, seq], max_seqlen_k=seq,
            cu_seqlens_k=starts[batch, seq], causal=True, fa_version=3,
        )
        return _first(out).reshape(batch, seq, heads, dim)

    return Peer("fa3", "vllm_flash_attn, fa_version=3", attend)


def find_fa3():
    """The first FlashAttention-3 that imports; ImportError naming every try otherwise."""
    reasons = []
    for name in ("fa3_fwd_interface", "fa3_fwd", "flash_attn_interface", "flash_attn_3.flash_attn_interface"):
        try:
            module = __import__(name, fromlist=["flash_attn_func"])
            if hasattr(module, "flash_attn_func"):
                return _fa3_from(name, module)
            reasons.append(f"{name}: no flash_attn_func")
        except (ImportError, OSError, RuntimeError) as e:
            reasons.append(f"{name}: {e}")
    try:
        return _fa3_from_vllm()
    except (ImportError, OSError, RuntimeError) as e:
        reasons.append(f"vllm_flash_attn: {e}")
    raise ImportError("; ".join(reasons))


def find_cudnn():
    if not torch.backends.cudnn.is_available():
        raise ImportError("PyTorch was built without cuDNN")

    def attend(q, k, v):
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            out = functional.scaled_dot_product_attention(
                q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True
            )
        return out.transpose(1, 2)

    return Peer("cudnn", f"cuDNN {torch.backends.cudnn.version()} by torch {torch.__version__}", attend)


FINDERS = {"fa3": find_fa3, "cudnn": find_cudnn}


def available(names):
    """({name: Peer}, {name: why not})."""
    peers, missing = {}, {}
    for name in names:
        try:
            peers[name] = FINDERS[name]()
        except ImportError as e:
            missing[name] = str(e)
    return peers, missing


def choose_rows(seq, count=16):
    """Ends of the sequence, first and last rows of tiles, and some in between; the same every time."""
    rows = {0, seq - 1, min(63, seq - 1), min(64, seq - 1), min(127, seq - 1), min(128, seq - 1)}
    step = 0x9E3779B1
    value = 1
    while len(rows) < min(count, seq):
        value = (value + step) % (1 << 32)
        rows.add(value * seq >> 32)
    return sorted(rows)


def verify(out, q, k, v):
    """Compares whole rows of every batch and head with an explicit FP32 reference without TF32."""
    torch.backends.cuda.matmul.allow_tf32 = False
    batch, seq, heads, dim = q.shape
    if not bool(torch.isfinite(out).all()):
        return {"ok": False, "why": "output not finite"}
    rows = choose_rows(seq)
    index = torch.tensor(rows, device=q.device)
    mask = torch.arange(seq, device=q.device)[None, :] > index[:, None]
    beyond, max_error, max_row = 0, 0.0, 0.0
    for b in range(batch):
        chosen = q[b, index].transpose(0, 1).float()
        scores = chosen @ k[b].permute(1, 2, 0).float() / dim**0.5
        weights = torch.softmax(scores.masked_fill(mask, float("-inf")), dim=-1)
        want = weights @ v[b].transpose(0, 1).float()
        error = (out[b, index].transpose(0, 1).float() - want).abs()
        beyond += int((error > ABS_TOLERANCE + REL_TOLERANCE * want.abs()).sum())
        max_error = max(max_error, float(error.max()))
        max_row = max(max_row, float((error.norm(dim=-1) / want.norm(dim=-1)).max()))
    return {
        "ok": beyond == 0 and max_row < ROW_TOLERANCE,
        "rows": batch * heads * len(rows),
        "beyond": beyond,
        "max_error": max_error,
        "max_row_rel_l2": max_row,
    }


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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", default="fa3,cudnn")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--heads", type=int, default=32)
    parser.add_argument("--seq", default="4096")
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--element", choices=("bf16", "f16"), default="bf16")
    args = parser.parse_args()
    peers, missing = available(args.peers.split(","))
    for name, why in missing.items():
        print(f"{name}: not available: {why}")
    dtype = torch.bfloat16 if args.element == "bf16" else torch.float16
    failed = False
    for seq in (int(s) for s in args.seq.split(",")):
        q, k, v = make_inputs(args.batch, args.heads, seq, args.dim, dtype)
        for peer in peers.values():
            result = verify(peer.prepare(q, k, v)(), q, k, v)
            failed |= not result["ok"]
            print(f"{peer.name} ({peer.version}) S={seq}: {json.dumps(result)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
