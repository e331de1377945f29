# status.sh N COMMAND…: succeeds if COMMAND ends with exit status N and says something unless N is 0.
wanted=$1
shift
said=$("$@" 2>&1 </dev/null)
status=$?
if [ "$status" != "$wanted" ]; then
  echo "exit status $status, not $wanted: $*"
  echo "$said"
  exit 1
fi
if [ "$wanted" != 0 ] && [ -z "$said" ]; then
  echo "no message: $*"
  exit 1
fi
