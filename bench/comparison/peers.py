"""Attention implementations to compare with, through PyTorch.

In: nothing but the installed packages. Out: FINDERS: name -> function that gives a Peer, or raises
ImportError with the reason. A peer that cannot be had is reported, never replaced by another.
"""

import torch
import torch.nn.functional as functional


class Peer:
    """A named implementation; `attend(q, k, v)` takes and gives [B, S, H, D]."""

    layout, conversion = "BSHD", "none"  # its own, and what it takes to come there from [B, S, H, D]

    def __init__(self, name, version, attend, setting=lambda: ""):
        self.name, self.version, self.attend = name, version, attend
        self.setting = setting  # what tuning chose, once launched

    def prepare(self, q, k, v):
        return lambda: self.attend(q, k, v)


class TransposedPeer(Peer):
    """One whose `attend` takes and gives [B, H, S, D].

    A transposed view says that without a copy, if the implementation takes any strides. With `copied` it
    gets tensors that lie in memory as it has them itself, and each launch makes these and brings the
    output back, as in a program that could not use views.
    """

    layout = "BHSD"

    def __init__(self, *of, copied=False):
        super().__init__(*of)
        self.copied = copied

    @property
    def conversion(self):
        return "copies, counted" if self.copied else "transposed views, no copy"

    def prepare(self, q, k, v):
        def launch():
            return self.attend(*(x.transpose(1, 2) for x in (q, k, v))).transpose(1, 2)

        def launch_with_copies():
            return self.attend(*(x.transpose(1, 2).contiguous() for x in (q, k, v))) \
                .transpose(1, 2).contiguous()

        return launch_with_copies if self.copied else launch


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
    """PyTorch's own attention with one implementation and no other to fall back on."""
    from torch.nn.attention import sdpa_kernel

    def attend(q, k, v):
        with sdpa_kernel(backend):
            return functional.scaled_dot_product_attention(
                q, k, v, is_causal=True, enable_gqa=q.shape[1] != k.shape[1])

    return TransposedPeer(name, version, attend)


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


def find_triton_ws():
    from comparison import triton_ws_attention

    return Peer("triton_ws", f"triton {triton_ws_attention.VERSION}, warps specialised",
                triton_ws_attention.attend, setting=triton_ws_attention.setting)


def find_tilelang():
    from comparison import tilelang_attention

    return Peer("tilelang", f"tilelang {tilelang_attention.VERSION}", tilelang_attention.attend)


FINDERS = {"fa3": find_fa3, "cudnn": find_cudnn, "fa2": find_fa2, "tilelang": find_tilelang,
           "triton": find_triton, "triton_ws": find_triton_ws}


def available(names):
    """({name: Peer}, {name: why not})."""
    found, missing = {}, {}
    for name in names:
        try:
            found[name] = FINDERS[name]()
        except ImportError as e:
            missing[name] = str(e)
    return found, missing
