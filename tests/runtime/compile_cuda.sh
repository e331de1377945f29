#!/usr/bin/env bash
# Compiles every runtime header for sm_90a, in C++17 and C++20, and reads the ptxas report.
#   compile_cuda.sh SOURCE_DIR WORK_DIR [NVCC]
# Exit status 0: all assembled, no stack, no spills, no C75xx line. 77: skipped, nvcc is missing.
set -euo pipefail

source_dir=$1
work_dir=$2
nvcc=${3:-nvcc}
if ! command -v "$nvcc" > /dev/null; then
  echo "skipped: nvcc not found, the runtime headers were not compiled for sm_90a"
  exit 77
fi
include=$source_dir/runtime/include
mkdir -p "$work_dir"

# One kernel a shape and element type: A and B in both orders, A from registers.
{
  for ((n = 8; n <= 256; n += 8)); do
    echo "#include \"choreo/ptx/wgmma/m64n${n}k16.h\""
    for type in bf16 f16; do
      cat << KERNEL
__global__ void __launch_bounds__(128, 1)
wgmma_${n}_${type}(float* out, uint64_t a, uint64_t b, uint32_t p, int scale_d) {
  namespace ptx = choreo::ptx;
  float d[$((n / 2))];
  choreo::fill(d, 0.0f);
  uint32_t r[4] = {p, p + 1, p + 2, p + 3};  // distinct: copies of one would be made at the MMA
  ptx::tie(d);
  ptx::tie(r);
  ptx::wgmma_fence();
  ptx::wgmma_m64n${n}k16_f32_${type}<0, 0>(d, a, b, scale_d);
  ptx::wgmma_m64n${n}k16_f32_${type}<1, 1>(d, a + 2, b + 2, 1);
  ptx::wgmma_m64n${n}k16_f32_${type}_rs<0>(d, r[0], r[1], r[2], r[3], b, 1);
  ptx::wgmma_m64n${n}k16_f32_${type}_rs<1>(d, r[0], r[1], r[2], r[3], b + 2, 1);
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>();
  ptx::tie(d);
  for (int i = 0; i < $((n / 2)); ++i) out[i * 128 + threadIdx.x] = d[i];
}
KERNEL
    done
  done
} > "$work_dir/wgmma_shapes.h"

compile() {  # compile C++ standard, shapes header directory
  "$nvcc" -std=c++"$1" -O3 -gencode arch=compute_90a,code=sm_90a -Xptxas -v \
    -Werror all-warnings -I "$include" -I "$2" "$source_dir/tests/runtime/compile_cuda.cu" \
    -o "$work_dir/compile_cuda_$1" > "$work_dir/nvcc_$1.log" 2>&1 || {
    cat "$work_dir/nvcc_$1.log"
    exit 1
  }
  if grep -E 'C75[0-9][0-9]' "$work_dir/nvcc_$1.log"; then exit 1; fi
  if grep 'bytes stack frame' "$work_dir/nvcc_$1.log" |
    grep -v '0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads'; then exit 1; fi
}

compile 17 "$work_dir"
# The shapes do not depend on the standard: the second compile leaves them out.
mkdir -p "$work_dir/no_shapes"
: > "$work_dir/no_shapes/wgmma_shapes.h"
compile 20 "$work_dir/no_shapes"
kernels=$(grep -c 'Compiling entry function' "$work_dir/nvcc_17.log")
if [[ $kernels -ne 66 ]]; then
  echo "expected 66 kernels (64 WGMMA shapes and types, 2 others), ptxas saw $kernels"
  exit 1
fi

# The host part without nvcc: a plain C++ program may use Buffer and Stream.
cuda_include=$(dirname "$(dirname "$(readlink -f "$(command -v "$nvcc")")")")/include
if [[ -f $cuda_include/cuda_runtime_api.h ]]; then
  echo '#include "choreo/runtime.h"' |
    "${CXX:-c++}" -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I "$include" \
      -isystem "$cuda_include" -x c++ -
fi

# 0: launched on an sm_90 device. 3: one clear error, because there is no device.
rc=0
"$work_dir/compile_cuda_17" || rc=$?
case $rc in
  0) echo "ok: $kernels kernels assembled, launched on the device" ;;
  3) echo "ok: $kernels kernels assembled; no CUDA device, the launch was refused as it should" ;;
  *) echo "compile_cuda_17 ended with $rc"; exit 1 ;;
esac
