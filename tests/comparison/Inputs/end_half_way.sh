# Begins a run of slow stand-ins below $1 and sends it signal $2 after its second sample. Out: $1/log,
# $1/status.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh" "$1"
SLOW_S=0.3 $run --rounds 50 --backends v1,v3 >"$1/log" 2>&1 &
process=$!
for _ in $(seq 400); do
  [ "$(grep -c TFLOPS "$1/log")" -lt 2 ] || break
  sleep 0.1
done
kill -"$2" $process
wait $process
echo $? >"$1/status"
