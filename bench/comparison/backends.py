"""Everything that can be compared, in one table: the name of --backends, and what it stands for."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Backend:
    name: str      # on the command line, in file names and result rows
    label: str     # in plots and tables
    kernel: str    # file stem of an own kernel; empty: a peer
    seen: bool     # it ran on a card as it stands here
    needs: str = ""  # of a peer: file of bench/peers/ with the pinned packages
    usual: bool = True  # compared where --backends is left out
    interpreter: str = "--python"  # the option that tells the interpreter of a peer

    @property
    def is_peer(self):
        return not self.kernel

    def install_line(self, python):
        return f"{python} -m pip install -r bench/peers/{self.needs}"


TABLE = {b.name: b for b in (
    Backend("v1", "v1 sequential", "v1_manual_baseline", True),
    Backend("v2", "v2 TMA pipeline", "v2_manual_s2_1p2c_tma", True),
    Backend("v4", "v4 futures", "v4_nonpersistent_fa", True),
    Backend("v3", "v3 persistent", "v3_fa3_overlap", True),
    Backend("v5", "v5 wide tiles", "v5_wide_lazy", True),
    Backend("v5l", "v5 by length", "v5_by_length", False, usual=False),
    Backend("fa3", "FlashAttention-3", "", True, "fa3.txt"),
    Backend("cudnn", "cuDNN SDPA", "", True, "pytorch.txt"),
    Backend("fa2", "FlashAttention-2", "", False, "pytorch.txt", usual=False),
    Backend("tilelang", "TileLang", "", True, "tilelang.txt", usual=False),
    Backend("triton", "Triton", "", True, "pytorch.txt"),
    Backend("triton_ws", "Triton, warps specialised", "", False, "triton_ws.txt", usual=False,
            interpreter="--ws-python"),
)}

USUAL = [b.name for b in TABLE.values() if b.usual]

REFERENCE = "fa3"  # ratios are to it, and it is measured first and last of each round
