# The rest of a program that speaks like the harness; THREADS and UNROLL are set before. Counts its runs in
# $TUNED/calls. TUNED_WRONG: THREADS of a program that is wrong; TUNED_NO_DEVICE: there is no card;
# TUNED_SAME: all are equally fast; TUNED_END: the number of a timed run before which the caller is ended.
while [ $# -gt 0 ]; do
  case $1 in
    --json) json=$2; shift ;;
    --size) size=$2; shift ;;
    --no-verify) timed=1 ;;
  esac
  shift
done
if [ -n "$TUNED_NO_DEVICE" ]; then
  echo "error: no CUDA device (skipped: no sm_90 device)" >&2
  exit 77
fi
if [ -z "$timed" ]; then
  echo "verify" >> "$TUNED/calls"
  if [ "$TUNED_WRONG" = "$THREADS" ]; then
    echo '{"row": "verify", "device": "card", "ok": false}' > "$json"
    echo "verify FAILED: 7 elements are wrong"
    exit 1
  fi
  echo '{"row": "verify", "device": "card", "ok": true}' > "$json"
  exit 0
fi
echo "time THREADS=$THREADS UNROLL=$UNROLL size=$size" >> "$TUNED/calls"
if [ -n "$TUNED_END" ] && [ "$(grep -c time "$TUNED/calls")" = "$TUNED_END" ]; then
  kill -TERM $PPID
fi
ms=0.2000
if [ -z "$TUNED_SAME" ]; then
  [ "$THREADS" = 64 ] && [ "$UNROLL" = 2 ] && ms=0.1600
  [ "$THREADS" = 64 ] && [ "$UNROLL" = 1 ] && ms=0.2500
fi
echo "{\"row\": \"timing\", \"device\": \"card\", \"ms\": $ms}" > "$json"
