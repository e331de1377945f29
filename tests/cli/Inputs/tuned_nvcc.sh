#!/bin/sh
# Stands for an nvcc: reports on one kernel and makes a program of tuned_program.sh. A candidate's
# figures depend on its THREADS alone; 32 threads spill. Counts its calls in $TUNED/calls. TUNED_VERSION: the
# version it says it is.
if [ "$1" = --version ]; then
  echo "Cuda compilation tools, release ${TUNED_VERSION:-13.0}"
  exit
fi
here=$(dirname "$0")
all="$*"
while [ "$1" != -o ]; do shift; done
product=$2
source=$3
value() { sed -n "s/^#define $1 \([^ ]*\).*/\1/p" "$source" | head -n 1; }
threads=$(value THREADS)
unroll=$(value UNROLL)
spilled=0
[ "${threads:-128}" = 32 ] && spilled=64
cat >&2 <<REPORT
ptxas info    : Compiling entry function '_Z5scalePf' for 'sm_90a'
ptxas info    : Function properties for _Z5scalePf
    $spilled bytes stack frame, $spilled bytes spill stores, $spilled bytes spill loads
ptxas info    : Used ${threads:-128} registers
REPORT
echo "nvcc" >> "$TUNED/calls"
{
  echo '#!/bin/sh'
  echo "THREADS=${threads:-128} UNROLL=${unroll:-1}"
  cat "$here/tuned_program.sh"
} > "$product"
chmod +x "$product"
