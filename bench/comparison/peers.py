"""Attention implementations to compare with, through PyTorch.

In: nothing but the installed packages. Out: FINDERS: name -> function that gives a Peer, or raises
ImportError with the reason. A peer that cannot be had is reported, never replaced by another.
"""

import torch
import torch.nn.functional as functional


class Peer:
    """A named implementation; `attend(q, k, v)` takes and gives [B, S, H, D]."""

    def __init__(self, name, version, attend, conversion="none", setting=lambda: ""):
        self.name, self.version, self.attend = name, version, attend
        self.conversion = conversion  # of the layout, and whether its cost is in the figures
        self.setting = setting        # what tuning chose, once launched

    def prepare(self, q, k, v):
        return lambda: self.attend(q, k, v)


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
                0, (batch + 1) * seq, seq, dtype=torch.int32, device=q.device)
        flat = [x.reshape(batch * seq, x.shape[2], dim) for x in (q, k, v)]
        out = flash_attn_varlen_func(
            *flat, max_seqlen_q=seq, cu_seqlens_q=starts[batch, seq], max_seqlen_k=seq,
            cu_seqlens_k=starts[batch, seq], causal=True, fa_version=3)
        return _first(out).reshape(batch, seq, heads, dim)

    return Peer("fa3", "vllm_flash_attn, fa_version=3", attend)


def find_fa3():
    """The first FlashAttention-3 that imports; ImportError naming every try otherwise."""
    reasons = []
    for name in ("fa3_fwd_interface", "fa3_fwd", "flash_attn_interface",
                 "flash_attn_3.flash_attn_interface"):
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


def _sdpa(name, version, backend):
    """PyTorch's own attention with one implementation and no other to fall back on.

    It takes [B, H, S, D]; transposed views say the same without a copy.
    """
    from torch.nn.attention import sdpa_kernel

    def attend(q, k, v):
        with sdpa_kernel(backend):
            out = functional.scaled_dot_product_attention(
                q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True)
        return out.transpose(1, 2)

    return Peer(name, version, attend, conversion="transposed views, no copy")


def find_cudnn():
    if not torch.backends.cudnn.is_available():
        raise ImportError("PyTorch was built without cuDNN")
    from torch.nn.attention import SDPBackend

    return _sdpa("cudnn", f"cuDNN {torch.backends.cudnn.version()} by torch {torch.__version__}",
                 SDPBackend.CUDNN_ATTENTION)


def find_fa2():
    from torch.nn.attention import SDPBackend

    if not torch.backends.cuda.is_flash_attention_available():
        raise ImportError("PyTorch was built without FlashAttention-2")
    return _sdpa("fa2", f"FlashAttention-2 by torch {torch.__version__}", SDPBackend.FLASH_ATTENTION)


def find_triton():
    from comparison import triton_attention

    return Peer("triton", f"triton {triton_attention.VERSION}", triton_attention.attend,
                setting=triton_attention.setting)


FINDERS = {"fa3": find_fa3, "cudnn": find_cudnn, "fa2": find_fa2, "triton": find_triton}


def available(names):
    """({name: Peer}, {name: why not})."""
    found, missing = {}, {}
    for name in names:
        try:
            found[name] = FINDERS[name]()
        except ImportError as e:
            missing[name] = str(e)
    return found, missing
