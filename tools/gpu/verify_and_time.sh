#!/usr/bin/env bash
# Verifies the attention kernels on an sm_90 card and times them against FlashAttention-3 and cuDNN.
# In: a clone with choreo built (or built here), nvcc, PyTorch for the peers. Out, in the --out folder:
# log.txt, results.jsonl (raw rows), summary.csv, steps.csv, build.txt (nvcc and ptxas), gpu_state.csv.
# Every step runs under a timeout and ends in one row of the table printed last.
# Exit status: 0 all steps fine, 1 a step failed, 2 wrong usage, 77 skipped (no sm_90 device).
set -u -o pipefail

usage() {
  cat <<'TEXT'
usage: tools/gpu/verify_and_time.sh --out DIR [options]
  --out DIR        results; made if missing
  --kernels A,B    kernels of kernels/attention (v1_manual_baseline)
  --choreo PATH    compiler to use (built under build/gpu with cmake when missing)
  --bin DIR        kernel binaries, built when missing (OUT/../gpu-bin); may be prebuilt elsewhere
  --build-only     build the binaries and stop; needs no card
  --wheels DIR     wheels unpacked beside the installed Python packages (a FlashAttention-3 wheel, say)
  --peers A,B      fa3,cudnn; empty for none
  --rounds N       alternations (3)
  --budget SECONDS whole run (480); timing gets what is left and stops cleanly
  --skip LIST      steps to leave out: matrix,repeat,sanitizer,errors,timing
TEXT
}

root=$(cd "$(dirname "$0")/../.." && pwd)
out='' kernels=v1_manual_baseline choreo='' bin='' build_only=0 wheels='' peers=fa3,cudnn rounds=3
budget=480 skip=,
while [ $# -gt 0 ]; do
  case $1 in
    --build-only) build_only=1; shift; continue ;;
    -h | --help) usage; exit 0 ;;
    --out | --kernels | --choreo | --bin | --wheels | --peers | --rounds | --budget | --skip)
      [ $# -ge 2 ] || { echo "verify_and_time: $1 needs a value" >&2; exit 2; } ;;
    *) echo "verify_and_time: unknown option \`$1\`" >&2; usage >&2; exit 2 ;;
  esac
  case $1 in
    --out) out=$2 ;; --kernels) kernels=$2 ;; --choreo) choreo=$2 ;; --bin) bin=$2 ;;
    --wheels) wheels=$2 ;; --peers) peers=$2 ;; --rounds) rounds=$2 ;; --budget) budget=$2 ;;
    --skip) skip=,$2, ;;
  esac
  shift 2
done
[ -n "$out" ] || { echo "verify_and_time: --out is required" >&2; exit 2; }
mkdir -p "$out" || exit 2
out=$(cd "$out" && pwd)
bin=${bin:-$(dirname "$out")/gpu-bin}
mkdir -p "$bin"
bin=$(cd "$bin" && pwd)
. "$root/tools/gpu/steps.sh"
IFS=, read -ra kernel_list <<<"$kernels"

build_kernels() {
  local kernel element dim name
  for kernel in "${kernel_list[@]}"; do
    for element in bf16 f16; do
      for dim in 64 128; do
        name=$kernel-$element-d$dim
        [ ! -x "$bin/$name" ] || continue
        build_choreo
        step "build $name" 120 "$choreo" build "$root/kernels/attention/$kernel.co" \
          -D "ELEM=$element" -D "DIM=$dim" -o "$bin/$name"
      done
    done
  done
}

matrix() {
  local kernel variant binary seq
  for kernel in "${kernel_list[@]}"; do
    for variant in bf16-d128 f16-d128 bf16-d64 f16-d64; do
      binary=$bin/$kernel-$variant
      for seq in 4096 8192 16384; do
        step "$kernel $variant 4x32x$seq" 60 "$binary" --batch 4 --heads 32 --seq $seq \
          --warmup 0 --repeat 1 --rounds 1
      done
      step "$kernel $variant 1x1x128" 30 env CHOREO_DISABLE_TIMING=1 "$binary" --batch 1 --heads 1 \
        --seq 128
      step "$kernel $variant 3x5x640" 30 env CHOREO_DISABLE_TIMING=1 "$binary" --batch 3 --heads 5 \
        --seq 640
      step "$kernel $variant 2x3x384, other inputs" 30 env CHOREO_DISABLE_TIMING=1 "$binary" \
        --batch 2 --heads 3 --seq 384 --seed 7
    done
  done
}

repeat() {
  local kernel
  for kernel in "${kernel_list[@]}"; do
    step "$kernel 200 launches bitwise, 4x32x2048" 90 env CHOREO_DISABLE_TIMING=1 \
      "$bin/$kernel-bf16-d128" --batch 4 --heads 32 --seq 2048 --check-repeat 200
    step "$kernel 200 launches bitwise, 3x5x640" 30 env CHOREO_DISABLE_TIMING=1 \
      "$bin/$kernel-f16-d64" --batch 3 --heads 5 --seq 640 --check-repeat 200
  done
}

sanitizer() {
  local kernel tool
  if ! command -v compute-sanitizer >/dev/null; then
    record "compute-sanitizer" skipped 0 "not installed"
    return
  fi
  for kernel in "${kernel_list[@]}"; do
    for tool in memcheck synccheck; do
      step "$kernel $tool 1x2x256" 60 env CHOREO_DISABLE_TIMING=1 compute-sanitizer --tool $tool \
        --error-exitcode 9 "$bin/$kernel-bf16-d128" --batch 1 --heads 2 --seq 256
      step "$kernel $tool 1x1x384 d64" 60 env CHOREO_DISABLE_TIMING=1 compute-sanitizer --tool $tool \
        --error-exitcode 9 "$bin/$kernel-f16-d64" --batch 1 --heads 1 --seq 384
    done
  done
}

errors() {
  local kernel binary
  for kernel in "${kernel_list[@]}"; do
    binary=$bin/$kernel-bf16-d128
    expect_error "$kernel S=100" "S must be" env CHOREO_DISABLE_TIMING=1 "$binary" --batch 1 --heads 1 \
      --seq 100
    expect_error "$kernel misaligned Q" "align" env CHOREO_DISABLE_TIMING=1 "$binary" --batch 1 \
      --heads 1 --seq 128 --offset 1
    expect_error "$kernel 4 heads, 2 KV heads" "H_KV" env CHOREO_DISABLE_TIMING=1 "$binary" \
      --batch 1 --heads 4 --kv-heads 2 --seq 128
    run 30 env CHOREO_DISABLE_TIMING=1 "$binary" --batch 1 --heads 1 --seq 0
    if [ $status -eq 0 ]; then record "$kernel S=0" ok $took "$(last_line)"; else
      record "$kernel S=0" FAILED $took "exit $status: $(last_line)"
    fi
    run 30 env CUDA_VISIBLE_DEVICES= CHOREO_DISABLE_TIMING=1 "$binary" --seq 128
    if [ $status -eq 77 ] && [ "$(grep -c . "$work/last")" = 1 ]; then
      record "$kernel no device" ok $took "$(last_line)"
    else
      record "$kernel no device" FAILED $took "exit $status: $(last_line)"
    fi
  done
}

timing() {
  local kernel arguments=() limit
  for kernel in "${kernel_list[@]}"; do
    arguments+=(--kernel "$kernel=$bin/$kernel-bf16-d128")
  done
  if [ -n "$wheels" ]; then
    mkdir -p "$work/site"
    for wheel in "$wheels"/*.whl; do python3 -m zipfile -e "$wheel" "$work/site"; done
    export PYTHONPATH=$work/site${PYTHONPATH:+:$PYTHONPATH}
  fi
  limit=$(($(left) - 15))
  if [ "$limit" -lt 30 ]; then
    record "timing" FAILED 0 "no time left in the budget of ${budget}s"
    return
  fi
  run "$limit" python3 "$root/tools/gpu/alternate.py" --out "$out" --rounds "$rounds" \
    --peers "$peers" --deadline-s $((limit - 20)) "${arguments[@]}"
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
