# Sourced by the scripts of this folder: steps under a timeout, each one row of a table.
# In: root, out (exists), bin, budget (seconds), skip (",a,b,"), choreo (a path or empty). Out: $out/log.txt,
# steps.csv, build.txt, gpu_state.csv; `failed` is 1 once a step failed.
log=$out/log.txt steps=$out/steps.csv
: >"$log"
echo "step,status,seconds,detail" >"$steps"
work=$(mktemp -d)
monitor=''
trap 'rm -rf "$work"; [ -z "$monitor" ] || kill "$monitor" 2>/dev/null' EXIT
failed=0

left() { echo $((budget - SECONDS)); }

record() {  # step status seconds detail
  echo "\"$1\",$2,$3,\"${4//\"/\'}\"" >>"$steps"
  printf '%-46s %-8s %4ss  %s\n' "$1" "$2" "$3" "$4"
  [ "$2" = ok ] || [ "$2" = skipped ] || failed=1
}

# Runs a command under a timeout, logs it, leaves its output in $work/last and its status in $status.
run() {  # seconds command...
  local limit=$1 begin=$SECONDS
  shift
  [ "$limit" -le "$(left)" ] || limit=$(left)
  [ "$limit" -ge 1 ] || limit=1
  echo "\$ $*" >>"$log"
  timeout -k 5 "$limit" "$@" >"$work/last" 2>&1
  status=$?
  took=$((SECONDS - begin))
  cat "$work/last" >>"$log"
  echo "[exit status $status, ${took}s]" >>"$log"
  [ $status -ne 124 ] || echo "timed out after ${limit}s" >>"$work/last"
}

last_line() { tail -n 1 "$work/last" | cut -c1-140; }

# What is worth a table row of the output of a step that succeeded.
detail() {
  grep -hE '^ +(verify|repeat|streams) |ERROR SUMMARY' "$work/last" | tail -n 2 |
    sed -E 's/=+ //; s/^ +[a-z]+ +//; s/ \([0-9]+ elements\)//; s/ at \[[^]]*\]//g' | paste -sd ';' |
    cut -c1-160
}

step() {  # name seconds command...: fine if the command exits with 0
  local name=$1
  shift
  run "$@"
  local text
  text=$(detail)
  if [ $status -eq 0 ]; then record "$name" ok $took "${text:-$(last_line)}"; else
    record "$name" FAILED $took "exit $status: $(grep -m1 -i 'error\|FAILED' "$work/last" | cut -c1-140)"
  fi
}

# The command must fail with status 1 and one message, which holds the pattern.
expect_error() {  # name pattern command...
  local name=$1 pattern=$2
  shift 2
  run 30 "$@"
  local errors
  errors=$(grep -c 'error' "$work/last")
  if [ $status -eq 1 ] && [ "$errors" = 1 ] && grep -q -e "$pattern" "$work/last"; then
    record "$name" ok $took "$(grep -m1 error "$work/last" | cut -c1-140)"
  else
    record "$name" FAILED $took "exit $status, $errors error lines: $(last_line)"
  fi
}

skipped() { [[ $skip == *,$1,* ]]; }

build_choreo() {
  [ -z "$choreo" ] || return 0
  if command -v choreo >/dev/null; then choreo=$(command -v choreo); return; fi
  local preset
  for preset in "$root"/build/*/bin/choreo; do
    [ ! -x "$preset" ] || { choreo=$preset; return; }
  done
  step "build choreo" 400 sh -c "cmake -S '$root' -B '$root/build/gpu' -DCMAKE_BUILD_TYPE=Release &&
    cmake --build '$root/build/gpu' -j $(nproc)"
  choreo=$root/build/gpu/bin/choreo
}

# What ptxas said of each kernel, as kept beside the binaries: nothing serialised, no stack, no spill.
check_ptxas() {
  local report
  : >"$out/build.txt"
  for report in "$bin"/*-nvcc.log; do
    [ ! -f "$report" ] || { echo "== ${report##*/}"; cat "$report"; } >>"$out/build.txt"
  done
  if grep -qE 'C75[0-9][0-9]|[1-9][0-9]* bytes (stack frame|spill)' "$out/build.txt"; then
    record "ptxas report" FAILED 0 "$(grep -m1 -E 'C75[0-9][0-9]|[1-9][0-9]* bytes (stack|spill)' \
      "$out/build.txt" | cut -c1-140)"
  elif grep -q 'bytes stack frame' "$out/build.txt"; then
    record "ptxas report" ok 0 "no C75xx, no stack, no spill; $(grep -oE 'Used [0-9]+ registers' \
      "$out/build.txt" | sort | uniq -c | tr -s ' \n' ' ')"
  else
    record "ptxas report" skipped 0 "no *-nvcc.log beside the binaries"
  fi
}

# Ends the script where there is no sm_90 card; else says what the machine is and watches it.
need_device() {
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1)
  if [ "$capability" != 9.0 ]; then
    echo "skipped: no sm_90 device (compute capability: ${capability:-none})"
    exit 77
  fi
  {
    date -u +%FT%TZ
    nvidia-smi --query-gpu=name,driver_version,power.limit,clocks.max.sm,temperature.gpu --format=csv
    nvcc --version 2>/dev/null | tail -n 2
    (cd "$bin" && sha256sum -- *)
  } >>"$log" 2>&1
  nvidia-smi --query-gpu=timestamp,clocks.sm,power.draw,temperature.gpu,utilization.gpu \
    --format=csv -lms 500 >"$out/gpu_state.csv" 2>/dev/null &
  monitor=$!
}

# The table of steps, and the exit.
summary() {
  echo
  echo "$(($(wc -l <"$steps") - 1)) steps, $(grep -c ',FAILED,' "$steps") failed, ${SECONDS}s"
  grep ',FAILED,' "$steps"
  [ ! -f "$out/summary.csv" ] || column -s, -t "$out/summary.csv" 2>/dev/null || cat "$out/summary.csv"
  exit $failed
}
