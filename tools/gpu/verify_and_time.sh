#!/usr/bin/env bash
# Verifies the attention kernels on an sm_90 card and times them against FlashAttention-3 and cuDNN.
# In: a clone with choreo built (or built here), nvcc, PyTorch for the peers. Out, in the --out folder:
# log.txt, results.jsonl (raw rows), summary.csv, steps.csv, build.txt (nvcc and ptxas), gpu_state.csv.
# Every step runs under a timeout and ends in one row of the table printed last. Persistent kernels are
# tried with several numbers of CTAs, orders and fixed costs too; some kernels also as built otherwise.
# Exit status: 0 all steps fine, 1 a step failed, 2 wrong usage, 77 skipped (no sm_90 device).
set -u -o pipefail

usage() {
  cat <<'TEXT'
usage: tools/gpu/verify_and_time.sh --out DIR [options]
  --out DIR        results; made if missing
  --kernels A,B    kernels of kernels/attention (those of the tutorial, in its order); v5_by_length too
  --choreo PATH    compiler to use (built under build/gpu with cmake when missing)
  --bin DIR        kernel binaries, built when missing (OUT/../gpu-bin); may be prebuilt elsewhere
  --build-only     build the binaries and stop; needs no card
  --wheels DIR     wheels unpacked beside the installed Python packages (a FlashAttention-3 wheel, say)
  --peers A,B      fa3,cudnn; empty for none
  --rounds N       alternations of back-to-back launches (3)
  --burst-rounds N alternations of launches after a pause, each about a minute (1)
  --budget SECONDS whole run (480); timing gets what is left and stops cleanly
  --skip LIST      steps to leave out: matrix,persistent,variants,repeat,sanitizer,errors,timing
TEXT
}

root=$(cd "$(dirname "$0")/../.." && pwd)
kernels=v1_manual_baseline,v2_manual_s2_1p2c_tma,v4_nonpersistent_fa,v3_fa3_overlap,v5_wide_lazy
out='' choreo='' bin='' build_only=0 wheels='' peers=fa3,cudnn rounds=3 burst_rounds=1
budget=480 skip=,
while [ $# -gt 0 ]; do
  case $1 in
    --build-only) build_only=1; shift; continue ;;
    -h | --help) usage; exit 0 ;;
    --out | --kernels | --choreo | --bin | --wheels | --peers | --rounds | --burst-rounds | --budget | \
      --skip)
      [ $# -ge 2 ] || { echo "verify_and_time: $1 needs a value" >&2; exit 2; } ;;
    *) echo "verify_and_time: unknown option \`$1\`" >&2; usage >&2; exit 2 ;;
  esac
  case $1 in
    --out) out=$2 ;; --kernels) kernels=$2 ;; --choreo) choreo=$2 ;; --bin) bin=$2 ;;
    --wheels) wheels=$2 ;; --peers) peers=$2 ;; --rounds) rounds=$2 ;; --burst-rounds) burst_rounds=$2 ;;
    --budget) budget=$2 ;; --skip) skip=,$2, ;;
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

# The kernels whose CTAs take tasks from lists, those of them that run clusters of two, those whose lengths
# are multiples of 64, those that choose a shape by the length; those built with mbarriers for every event too, and those with bounded waits too.
persistent_kernels=,v3_fa3_overlap,v5_wide_lazy,v5_by_length,
pair_kernels=,v5_wide_lazy,v5_by_length,
short_kernels=,v5_wide_lazy,v5_by_length,
shaped_kernels=,v5_by_length,
mbarrier_kernels=,v2_manual_s2_1p2c_tma,v3_fa3_overlap,v5_wide_lazy,v5_by_length,
bounded_kernels=,v4_nonpersistent_fa,

among() { [[ $2 == *,$1,* ]]; }  # kernel list

build_kernel() {  # binary kernel element dim options...
  local name=$1 kernel=$2 element=$3 dim=$4
  shift 4
  [ ! -x "$bin/$name" ] || return 0
  build_choreo
  step "build $name" 120 "$choreo" build "$root/kernels/attention/$kernel.co" "$@" \
    -D "ELEM=$element" -D "DIM=$dim" -o "$bin/$name"
}

build_kernels() {
  local kernel element dim
  for kernel in "${kernel_list[@]}"; do
    for element in bf16 f16; do
      for dim in 64 128; do
        build_kernel "$kernel-$element-d$dim" "$kernel" $element $dim
      done
    done
    if skipped variants; then continue; fi
    if among "$kernel" "$mbarrier_kernels"; then
      build_kernel "$kernel-mbarriers" "$kernel" bf16 128 --mbarriers-only
    fi
    if among "$kernel" "$bounded_kernels"; then
      build_kernel "$kernel-bounded" "$kernel" bf16 128 --debug-waits=2000
    fi
  done
}

# A step that only verifies, and makes the kernel the first launch of its process.
check() {  # name seconds command...
  local name=$1 limit=$2
  shift 2
  step "$name" "$limit" env CHOREO_DISABLE_TIMING=1 "$@"
}

# Sizes are told as batch x heads x length; several lengths share a process, whose start costs more than
# the small ones. Each step of a large size also fills its inputs on the device, as the timing does.
matrix() {
  local kernel variant binary
  for kernel in "${kernel_list[@]}"; do
    for variant in bf16-d128 f16-d128 bf16-d64 f16-d64; do
      binary=$bin/$kernel-$variant
      step "$kernel $variant 4x32x4096/8192/16384" 90 "$binary" --batch 4 --heads 32 \
        --seq 4096,8192,16384 --warmup 0 --repeat 1 --rounds 1
      check "$kernel $variant 1x1x128/256/384" 30 "$binary" --batch 1 --heads 1 --seq 128,256,384
      check "$kernel $variant 3x5x640/384, other inputs" 30 "$binary" --batch 3 --heads 5 \
        --seq 640,384 --seed 7
      check "$kernel $variant 2x3x2048/640, far scores" 30 "$binary" --batch 2 --heads 3 \
        --seq 2048,640 --spread 8
      among "$kernel" "$short_kernels" || continue
      check "$kernel $variant 3x5x64/192/320/448/832" 30 "$binary" --batch 3 --heads 5 \
        --seq 64,192,320,448,832
    done
  done
}

# Fewer and more CTAs than there are SMs or tasks; both orders of the lists; other estimates of a tile.
persistent() {
  local kernel binary ctas cost ctas_a_list shape
  for kernel in "${kernel_list[@]}"; do
    among "$kernel" "$persistent_kernels" || continue
    binary=$bin/$kernel-bf16-d128
    for ctas in 78 114 132 264; do
      check "$kernel --ctas $ctas, 4x8x4096/640" 30 "$binary" --batch 4 --heads 8 --seq 4096,640 \
        --ctas $ctas
      check "$kernel --ctas $ctas, 1x3x384/128" 30 "$binary" --batch 1 --heads 3 --seq 384,128 \
        --ctas $ctas
    done
    ctas_a_list=1
    if among "$kernel" "$pair_kernels"; then ctas_a_list=2; fi
    for ctas in 1 7; do
      ctas=$((ctas * ctas_a_list))
      check "$kernel --ctas $ctas, 3x5x384/640" 30 "$binary" --batch 3 --heads 5 --seq 384,640 \
        --ctas $ctas
    done
    check "$kernel --schedule pairs, 4x8x4096/640" 30 "$binary" --batch 4 --heads 8 --seq 4096,640 \
      --schedule pairs
    for cost in 0 20; do
      check "$kernel fixed cost $cost, 4x8x4096/640" 30 CHOREO_SCHED_FIXED_COST=$cost "$binary" \
        --batch 4 --heads 8 --seq 4096,640
    done
    among "$kernel" "$shaped_kernels" || continue
    for shape in single pair; do
      check "$kernel --shape $shape, 4x8x8192/4096/640" 30 "$binary" --batch 4 --heads 8 \
        --seq 8192,4096,640 --shape $shape
      check "$kernel --shape $shape --ctas 14, 3x5x384/64" 30 "$binary" --batch 3 --heads 5 \
        --seq 384,64 --shape $shape --ctas 14
    done
  done
}

# The same kernels as built otherwise, which must not show.
variants() {
  local kernel variant binary options
  for kernel in "${kernel_list[@]}"; do
    for variant in mbarriers bounded; do
      binary=$bin/$kernel-$variant
      [ -x "$binary" ] || continue
      check "$kernel $variant 4x8x4096/640" 30 "$binary" --batch 4 --heads 8 --seq 4096,640
      options=()
      if among "$kernel" "$persistent_kernels"; then options=(--ctas 4); fi
      check "$kernel $variant 3x5x384/128" 30 "$binary" --batch 3 --heads 5 --seq 384,128 \
        "${options[@]}"
    done
  done
}

repeat() {
  local kernel
  for kernel in "${kernel_list[@]}"; do
    check "$kernel 200 launches bitwise, 2x12x2048" 60 "$bin/$kernel-bf16-d128" --batch 2 --heads 12 \
      --seq 2048 --check-repeat 200
    check "$kernel 200 launches bitwise, 3x5x640" 30 "$bin/$kernel-f16-d64" --batch 3 --heads 5 \
      --seq 640 --check-repeat 200
    check "$kernel two streams, 2x12x1024 and x640" 30 "$bin/$kernel-bf16-d128" --batch 2 --heads 12 \
      --seq 1024,640 --check-streams 100
    check "$kernel two streams, batch 3 and 1" 30 "$bin/$kernel-f16-d64" --batch 3 --heads 5 \
      --seq 384 --check-streams 100
  done
}

sanitizer() {
  local kernel tool options
  if ! command -v compute-sanitizer >/dev/null; then
    record "compute-sanitizer" skipped 0 "not installed"
    return
  fi
  for kernel in "${kernel_list[@]}"; do
    options=()
    if among "$kernel" "$persistent_kernels"; then options=(--ctas 2); fi
    for tool in memcheck synccheck; do
      check "$kernel $tool 1x2x256" 60 compute-sanitizer --tool $tool --error-exitcode 9 \
        "$bin/$kernel-bf16-d128" --batch 1 --heads 2 --seq 256 "${options[@]}"
      check "$kernel $tool 1x1x384 d64" 60 compute-sanitizer --tool $tool --error-exitcode 9 \
        "$bin/$kernel-f16-d64" --batch 1 --heads 1 --seq 384 "${options[@]}"
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
    --burst-rounds "$burst_rounds" --peers "$peers" --deadline-s $((limit - 20)) "${arguments[@]}"
  cat "$work/last"
  case $status in
    0) record "timing" ok $took "$rounds alternations, $burst_rounds of bursts" ;;
    3) record "timing" FAILED $took "stopped at the deadline: summary.csv holds what was measured" ;;
    *) record "timing" FAILED $took "exit $status: $(last_line)" ;;
  esac
}

build_kernels
check_ptxas
if [ $build_only = 1 ]; then exit $failed; fi

need_device

for part in matrix persistent variants repeat sanitizer errors timing; do
  if skipped $part; then
    record "$part" skipped 0 "asked for"
    continue
  fi
  case $part in
    matrix) matrix ;; persistent) persistent ;; variants) variants ;; repeat) repeat ;;
    sanitizer) sanitizer ;; errors) errors ;; timing) timing ;;
  esac
done

summary
