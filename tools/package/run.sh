#!/usr/bin/env bash
# The comparison of bench/, which finds its kernels in this folder.
exec "$(dirname "$0")/bench/run.sh" "$@"
