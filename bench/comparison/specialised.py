"""Whether Triton specialised a kernel's warps. In: a compiled kernel. Out: nothing, or NotSpecialised.

On Hopper a kernel written for one warp group becomes three when it is specialised: one that loads, two that
compute. The compiler then writes the 12 warps over the 4 that were asked for, into the kernel's metadata,
and the launch takes 384 threads from there. A kernel that was not specialised runs and is right, so only
this number tells them apart.
"""

WARPS = 12


class NotSpecialised(RuntimeError):
    """It would be timed under a name that it does not deserve."""


def require(compiled):
    warps = getattr(getattr(compiled, "metadata", None), "num_warps", None)
    if warps != WARPS:
        raise NotSpecialised(f"Triton did not specialise the warps: the compiled kernel has "
                             f"{warps or 'an unknown number of'} warps, not {WARPS}")
