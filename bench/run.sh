#!/usr/bin/env bash
# Compares the attention kernels with other implementations on one card; `bench/run.sh --help`.
# The work is done in the Python package beside this file.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PYTHONPATH=$here${PYTHONPATH:+:$PYTHONPATH} exec python3 -m comparison "$@"
