#!/bin/sh
# Stands for an nvcc whose ptxas finds fault with three kernels; writes the output all the same.
cat >&2 <<'REPORT'
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to a call in the function '_Z1aPf'
ptxas info    : Compiling entry function '_Z1bPf' for 'sm_90a'
ptxas info    : Function properties for _Z1bPf
    8 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 255 registers
ptxas info    : Compiling entry function '_Z1cPf' for 'sm_90a'
ptxas info    : Function properties for _Z1cPf
    512 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers
REPORT
while [ "$1" != -o ]; do shift; done
echo product > "$2"
