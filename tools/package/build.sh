#!/usr/bin/env bash
# Builds the attention kernels of this folder with the CUDA toolkit; `./build.sh --help` tells the rest.
# In: generated/*.cu, kernels/, runtime/include/. Out: build/<kernel> and build/<kernel>-nvcc.log, the
# report of ptxas. A kernel whose report shows spills, a stack or serialised MMAs fails the build.
set -euo pipefail
started_in=$PWD
cd "$(dirname "$0")"

usage() {
  cat <<'TEXT'
usage: ./build.sh [options]
  --backends LIST  kernels to build, of those in kernels.txt (v1,v2,v4,v3,v5,v5l)
  --arch-check     only check that nvcc makes code for sm_90a, and look for a card that runs it
  --regenerate     make the CUDA text again, in build/generated, and build that; needs choreo
  --choreo PATH    the compiler for --regenerate (choreo)
environment: CHOREO_NVCC (the nvcc to use), CUDA_HOME (the toolkit to find it in)
exit status: 0 built, 1 failed, 2 wrong usage
TEXT
}

fail() {
  echo "build.sh: $1" >&2
  exit "${2:-1}"
}

find_nvcc() {
  # The order in which choreo looks for it.
  if [[ -n ${CHOREO_NVCC:-} ]]; then
    command -v "$CHOREO_NVCC" || fail "\`CHOREO_NVCC\` is \`$CHOREO_NVCC\`, which is no program"
  elif [[ -n ${CUDA_HOME:-} && -x $CUDA_HOME/bin/nvcc ]]; then
    echo "$CUDA_HOME/bin/nvcc"
  elif ! command -v nvcc; then
    [[ -x /usr/local/cuda/bin/nvcc ]] ||
      fail "nvcc not found: install the CUDA toolkit, or set \`CHOREO_NVCC\` or \`CUDA_HOME\`"
    echo /usr/local/cuda/bin/nvcc
  fi
}

nvcc_flags=(-std=c++20 -O3 -gencode arch=compute_90a,code=sm_90a -lineinfo -Xptxas -v)

arch_check() {
  local log=build/arch-check-nvcc.log cards
  "$nvcc" --version | sed -n 's/^Cuda compilation tools, /nvcc: /p'
  echo '__global__ void nothing() {}' >build/arch-check.cu
  "$nvcc" "${nvcc_flags[@]}" -cubin -o build/arch-check.cubin build/arch-check.cu >"$log" 2>&1 ||
    fail "$nvcc makes no C++20 code for sm_90a (see $log): CUDA 12 with a host compiler for C++20 is needed"
  rm -f build/arch-check.cu build/arch-check.cubin "$log"
  echo "nvcc: makes code for sm_90a"
  if ! cards=$(nvidia-smi --query-gpu=name,compute_cap --format=csv,noheader 2>/dev/null); then
    echo "card: none seen; the kernels can be built here, not run"
  elif grep -q ', 9\.0$' <<<"$cards"; then
    echo "card: $(grep -m 1 ', 9\.0$' <<<"$cards")"
  else
    fail "no card of compute capability 9.0 among: ${cards//$'\n'/; }"
  fi
}

# Prints what the report says of each kernel; fails if a kernel spills, has a stack or serialised MMAs.
judge() {
  awk -v name="$1" '
    /C75[0-9][0-9]/ { bad = bad "\n  " $0 }
    /bytes stack frame/ && !/ 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads/ { bad = bad "\n  " $0 }
    /Used [0-9]+ registers/ { match($0, /Used [0-9]+/); used = used " " substr($0, RSTART + 5, RLENGTH - 5) }
    END {
      if (bad != "") { print "build.sh: " name ": ptxas reports" bad > "/dev/stderr"; exit 1 }
      print name ": registers" used ", no stack, no spills"
    }' "$2"
}

build() {  # kernel text folder
  local kernel=$1 text=$2 log=build/$1-nvcc.log status=0
  local command=("$nvcc" "${nvcc_flags[@]}" -Iruntime/include "-I$3" -o "build/$kernel.new" "$text")
  rm -f "build/$kernel"
  echo "${command[*]}" | tee "$log"
  "${command[@]}" >>"$log" 2>&1 || status=$?  # ptxas reports on either stream
  if [[ $status -ne 0 ]]; then
    grep -v '^ptxas info' "$log" >&2 || true
    fail "$kernel: nvcc failed with exit status $status; its output is in $log"
  fi
  judge "$kernel" "$log" || { rm -f "build/$kernel.new"; exit 1; }
  mv "build/$kernel.new" "build/$kernel"
}

regenerate() {  # source text macros...
  local source=$1 text=$2 options=() macro
  shift 2
  for macro in "$@"; do options+=(-D "$macro"); done
  mkdir -p build/generated
  "$choreo" compile "$source" "${options[@]}" -o "$text" || fail "choreo could not compile $source"
}

backends='' arch_check=false regenerate=false choreo=choreo
while [[ $# -gt 0 ]]; do
  case $1 in
    --arch-check) arch_check=true ;;
    --regenerate) regenerate=true ;;
    --backends | --choreo)
      [[ $# -ge 2 ]] || fail "$1 needs a value" 2
      if [[ $1 == --backends ]]; then backends=$2; else choreo=$2; fi
      shift
      ;;
    -h | --help) usage; exit 0 ;;
    *) fail "unknown option \`$1\`; --help lists them" 2 ;;
  esac
  shift
done

known=$(sed -n 's/^\([^# ][^ ]*\) .*/\1/p' kernels.txt | paste -sd,)
IFS=, read -ra wanted <<<"${backends:-$known}"
for backend in "${wanted[@]}"; do
  [[ -n $backend && ,$known, == *,$backend,* ]] || fail "--backends: \`$backend\` is none of $known" 2
done
nvcc=$(find_nvcc) || exit
mkdir -p build
if $arch_check; then
  arch_check
  exit
fi
if [[ $choreo == */* && $choreo != /* ]]; then choreo=$started_in/$choreo; fi
if $regenerate && ! command -v "$choreo" >/dev/null; then
  fail "--regenerate: \`$choreo\` is no program; give the compiler with --choreo PATH" 2
fi

jobs=()
for backend in "${wanted[@]}"; do
  read -r _ source macros <<<"$(grep "^$backend " kernels.txt)"
  kernel=$(basename "$source" .co)
  text=generated/$kernel.cu
  if $regenerate; then
    text=build/generated/$kernel.cu
    # shellcheck disable=SC2086 — macros are words
    regenerate "$source" "$text" $macros
  fi
  build "$kernel" "$text" "$(dirname "$source")" &
  jobs+=($!)
done
status=0
for job in "${jobs[@]}"; do wait "$job" || status=1; done
exit $status
