# Sets up stand-ins for the card, the kernels and PyTorch below $1; sourced by the tests of bench/run.sh.
# Out: $run, the command line that all of them share.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
rm -rf "$1"
mkdir -p "$1/bin" "$1/path"
cp "$here/nvidia-smi" "$1/path"
for kernel in v1_manual_baseline v2_manual_s2_1p2c_tma v4_nonpersistent_fa v3_fa3_overlap v5_wide_lazy; do
  cp "$here/stand_in_kernel" "$1/bin/$kernel"
done
export PATH=$1/path:$PATH
run="$here/../../../bench/run.sh --skip-build --build-dir $1/bin --python $here/stand_in_python --gap-s 0 --out $1/out"
