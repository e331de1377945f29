#!/usr/bin/env bash
# Verifies the GEMM on an sm_90 card and times it against cuBLAS.
# In: a clone with choreo built (or built here), nvcc, PyTorch for cuBLAS. Out, in the --out folder:
# log.txt, results.jsonl (raw rows), summary.csv, steps.csv, build.txt (nvcc and ptxas), gpu_state.csv.
# Exit status: 0 all steps fine, 1 a step failed, 2 wrong usage, 77 skipped (no sm_90 device).
set -u -o pipefail

usage() {
  cat <<'TEXT'
usage: tools/gpu/gemm.sh --out DIR [options]
  --out DIR        results; made if missing
  --choreo PATH    compiler to use (built under build/gpu with cmake when missing)
  --bin DIR        kernel binaries, built when missing (OUT/../gemm-bin); may be prebuilt elsewhere
  --build-only     build the binaries and stop; needs no card
  --variants LIST  configurations to time (s3,s4n128): see variant_defines
  --shapes LIST    MxNxK,... to time (8192x8192x8192,4096x4096x4096,8192x1024x4096)
  --rounds N       alternations (3)
  --budget SECONDS whole run (300); timing gets what is left and stops cleanly
  --skip LIST      steps to leave out: matrix,repeat,sanitizer,errors,timing
TEXT
}

root=$(cd "$(dirname "$0")/../.." && pwd)
out='' choreo='' bin='' build_only=0 variants=s3,s4n128 rounds=3 budget=300 skip=,
shapes=8192x8192x8192,4096x4096x4096,8192x1024x4096
while [ $# -gt 0 ]; do
  case $1 in
    --build-only) build_only=1; shift; continue ;;
    -h | --help) usage; exit 0 ;;
    --out | --choreo | --bin | --variants | --shapes | --rounds | --budget | --skip)
      [ $# -ge 2 ] || { echo "gemm: $1 needs a value" >&2; exit 2; } ;;
    *) echo "gemm: unknown option \`$1\`" >&2; usage >&2; exit 2 ;;
  esac
  case $1 in
    --out) out=$2 ;; --choreo) choreo=$2 ;; --bin) bin=$2 ;; --variants) variants=$2 ;;
    --shapes) shapes=$2 ;; --rounds) rounds=$2 ;; --budget) budget=$2 ;; --skip) skip=,$2, ;;
  esac
  shift 2
done
[ -n "$out" ] || { echo "gemm: --out is required" >&2; exit 2; }
mkdir -p "$out" || exit 2
out=$(cd "$out" && pwd)
bin=${bin:-$(dirname "$out")/gemm-bin}
mkdir -p "$bin"
bin=$(cd "$bin" && pwd)
. "$root/tools/gpu/steps.sh"
IFS=, read -ra variant_list <<<"$variants"

# Macros of a configuration, by its name.
variant_defines() {
  case $1 in
    s3) ;;
    s2) echo -D STAGES=2 ;;
    s3g8) echo -D GROUP_M=8 ;;
    s3g32) echo -D GROUP_M=32 ;;
    s4n128) echo -D STAGES=4 -D TILE_N=128 ;;
    s6k32) echo -D STAGES=6 -D TILE_K=32 ;;
    s6n128) echo -D STAGES=6 -D TILE_N=128 ;;
    *) echo "gemm: unknown variant \`$1\`" >&2; exit 2 ;;
  esac
}

build_kernels() {
  local variant defines
  for variant in "${variant_list[@]}" f16; do
    [ ! -x "$bin/gemm_ws-$variant" ] || continue
    build_choreo
    if [ "$variant" = f16 ]; then defines='-D ELEM=f16'; else defines=$(variant_defines "$variant"); fi
    # shellcheck disable=SC2086
    step "build gemm_ws-$variant" 120 "$choreo" build "$root/kernels/gemm/gemm_ws.co" $defines \
      -o "$bin/gemm_ws-$variant"
  done
}

matrix() {
  local variant shape m n k
  for variant in "${variant_list[@]}" f16; do
    for shape in 8192x8192x8192 128x256x64 130x264x72 1x8x8 256x512x256 1000x3000x777 5000x8x4096; do
      IFS=x read -r m n k <<<"$shape"
      step "gemm_ws-$variant $shape" 60 env CHOREO_DISABLE_TIMING=1 "$bin/gemm_ws-$variant" \
        --m "$m" --n "$n" --k "$k"
    done
    step "gemm_ws-$variant, 5 CTAs, other inputs" 60 env CHOREO_DISABLE_TIMING=1 \
      "$bin/gemm_ws-$variant" --m 700 --n 904 --k 320 --ctas 5 --seed 7
  done
}

repeat() {
  local variant
  for variant in "${variant_list[@]}"; do
    step "gemm_ws-$variant 100 launches bitwise" 60 env CHOREO_DISABLE_TIMING=1 \
      "$bin/gemm_ws-$variant" --m 2000 --n 3000 --k 520 --check-repeat 100
  done
}

sanitizer() {
  local tool
  if ! command -v compute-sanitizer >/dev/null; then
    record "compute-sanitizer" skipped 0 "not installed"
    return
  fi
  for tool in memcheck synccheck; do
    step "gemm_ws $tool" 60 env CHOREO_DISABLE_TIMING=1 compute-sanitizer --tool $tool \
      --error-exitcode 9 "$bin/gemm_ws-${variant_list[0]}" --m 300 --n 600 --k 200 --ctas 4
  done
}

errors() {
  run 30 env CHOREO_DISABLE_TIMING=1 "$bin/gemm_ws-${variant_list[0]}" --m 0
  if [ $status -eq 0 ]; then record "gemm_ws M=0" ok $took "$(last_line)"; else
    record "gemm_ws M=0" FAILED $took "exit $status: $(last_line)"
  fi
}

timing() {
  local variant arguments=() limit=$(($(left) - 15))
  for variant in "${variant_list[@]}"; do
    arguments+=(--kernel "gemm_ws-$variant=$bin/gemm_ws-$variant")
  done
  if [ "$limit" -lt 30 ]; then
    record "timing" FAILED 0 "no time left in the budget of ${budget}s"
    return
  fi
  run "$limit" python3 "$root/tools/gpu/alternate_gemm.py" --out "$out" --rounds "$rounds" \
    --shapes "$shapes" --deadline-s $((limit - 20)) "${arguments[@]}"
  cat "$work/last"
  case $status in
    0) record "timing" ok $took "$rounds alternations" ;;
    3) record "timing" FAILED $took "stopped at the deadline: summary.csv holds what was measured" ;;
    *) record "timing" FAILED $took "exit $status: $(last_line)" ;;
  esac
}

build_kernels
check_ptxas
if [ $build_only = 1 ]; then exit $failed; fi
need_device
for part in matrix repeat sanitizer errors timing; do
  if skipped $part; then
    record "$part" skipped 0 "asked for"
    continue
  fi
  case $part in
    matrix) matrix ;; repeat) repeat ;; sanitizer) sanitizer ;; errors) errors ;; timing) timing ;;
  esac
done
summary
