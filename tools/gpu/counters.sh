#!/usr/bin/env bash
# Reads the counters of one launch of each attention kernel on an sm_90 card, with Nsight Compute (ncu).
# In: kernel binaries as bench/run.sh (build/comparison) or verify_and_time.sh builds them. Out, in the --out
# folder: KERNEL.csv as ncu writes it, KERNEL.log of the program, counters.csv; a table is printed.
# The second launch of a process is read, with the clock as it is. ncu repeats it for each group of counters.
# Exit status: 0 fine, 1 a kernel's counters could not be read, 2 wrong usage, 77 skipped (no sm_90 device, no ncu).
set -u -o pipefail

usage() {
  cat <<'TEXT'
usage: tools/gpu/counters.sh --out DIR [options]
  --out DIR        results; made if missing
  --bin DIR        kernel binaries (build/comparison)
  --kernels A,B    v1,v2,v4,v3,v5
  --seq S          sequence length (8192)
  --batch N        (4)
  --heads N        (32)
  --ncu PATH       Nsight Compute (that in PATH, or of the toolkit)
  --timeout N      seconds a kernel may take (120)
TEXT
}

root=$(cd "$(dirname "$0")/../.." && pwd)
out='' bin=$root/build/comparison kernels=v1,v2,v4,v3,v5 seq=8192 batch=4 heads=32 ncu='' limit=120
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --out | --bin | --kernels | --seq | --batch | --heads | --ncu | --timeout)
      [ $# -ge 2 ] || { echo "counters: $1 needs a value" >&2; exit 2; } ;;
    *) echo "counters: unknown option \`$1\`" >&2; usage >&2; exit 2 ;;
  esac
  case $1 in
    --out) out=$2 ;; --bin) bin=$2 ;; --kernels) kernels=$2 ;; --seq) seq=$2 ;; --batch) batch=$2 ;;
    --heads) heads=$2 ;; --ncu) ncu=$2 ;; --timeout) limit=$2 ;;
  esac
  shift 2
done
[ -n "$out" ] || { echo "counters: --out is required" >&2; exit 2; }

declare -A program=([v1]=v1_manual_baseline [v2]=v2_manual_s2_1p2c_tma [v4]=v4_nonpersistent_fa
  [v3]=v3_fa3_overlap [v5]=v5_wide_lazy)
IFS=, read -ra names <<<"$kernels"
for name in "${names[@]}"; do
  [ -n "${program[$name]:-}" ] || { echo "counters: --kernels: \`$name\` is none of v1,v2,v4,v3,v5" >&2; exit 2; }
done

capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1)
if [ "$capability" != 9.0 ]; then
  echo "skipped: no sm_90 device (compute capability: ${capability:-none})"
  exit 77
fi
if [ -z "$ncu" ]; then
  ncu=$(command -v ncu || ls /usr/local/cuda/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2>/dev/null | tail -n 1)
fi
if ! command -v "${ncu:-ncu}" >/dev/null; then
  echo "skipped: no ncu (Nsight Compute); --ncu PATH names one"
  exit 77
fi
mkdir -p "$out" || exit 2

# What a line of the table is made of; tutorial 5 tells what each says.
metrics=(
  gpu__time_duration.sum
  sm__cycles_elapsed.max
  sm__cycles_elapsed.sum
  sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed
  sm__inst_executed_pipe_tensor_op_gmma.sum
  sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed
  smsp__issue_active.avg.pct_of_peak_sustained_elapsed
  smsp__inst_executed.sum
  l1tex__m_xbar2l1tex_read_bytes.sum
  lts__throughput.avg.pct_of_peak_sustained_elapsed
  lts__t_sector_hit_rate.pct
  dram__bytes.sum
)

# One launch under ncu. A counter that this version of ncu or this card does not know is left out, by name.
read_counters() {  # name binary
  local name=$1 binary=$2 wanted=("${metrics[@]}") unknown kept metric
  while [ ${#wanted[@]} -gt 0 ]; do
    LC_ALL=C timeout -k 5 "$limit" "$ncu" --clock-control none --kernel-name "regex:mha_${name}_kernel" --launch-skip 1 \
      --launch-count 1 --metrics "$(IFS=,; echo "${wanted[*]}")" --csv --print-units base \
      --log-file "$out/$name.csv" "$binary" --batch "$batch" --heads "$heads" --seq "$seq" --warmup 1 --repeat 1 \
      --rounds 1 --no-verify >"$out/$name.log" 2>&1 && grep -q '^"' "$out/$name.csv" && return 0
    unknown=$(cat "$out/$name.csv" "$out/$name.log" 2>/dev/null | grep -i 'failed to find metric')
    kept=()
    for metric in "${wanted[@]}"; do
      if [[ $unknown == *"${metric%%.*}"* ]]; then echo "$name: this ncu does not know $metric"; else kept+=("$metric"); fi
    done
    [ ${#kept[@]} -lt ${#wanted[@]} ] || return 1
    wanted=("${kept[@]}")
  done
  return 1
}

failed=0 read=()
for name in "${names[@]}"; do
  binary=$bin/${program[$name]}
  [ -x "$binary" ] || binary=$bin/${program[$name]}-bf16-d128
  if [ ! -x "$binary" ]; then
    echo "$name: no program ${program[$name]} in $bin; bench/run.sh --build-only makes them"
    failed=1
  elif read_counters "$name" "$binary"; then
    read+=("$out/$name.csv")
  else
    said=$(cat "$out/$name.csv" "$out/$name.log" 2>/dev/null | grep -m1 -iE 'error|ERR_|no kernels')
    echo "$name: ncu failed: ${said:-$(tail -n 1 "$out/$name.log")}"
    failed=1
  fi
done
if [ ${#read[@]} -gt 0 ]; then
  python3 "$root/tools/gpu/counters_table.py" --seq "$seq" --batch "$batch" --heads "$heads" --out "$out/counters.csv" \
    "${read[@]}" || failed=1
fi
exit $failed
