#!/usr/bin/env bash
# What jobs cost: SkyNet, Dask, Ray and GNU parallel one after the other. The first run installs the peers and what draws
# the plots. What is taken and told: Benchmarks/jobs.py.
#
#     Benchmarks/jobs.sh [--output FILE] [--plots FOLDER] [--quick] [--check]     make job-benchmark OPTIONS="..."
set -euo pipefail
cd "$(dirname "$0")/.."

program=${PROGRAM:-$PWD/.build/release/skynode}
[ -x "$program" ] || { echo "no program at $program; make release builds it" >&2; exit 2; }
Benchmarks/peers/setup.sh >&2
PROGRAM=$program exec Benchmarks/.build/peers/bin/python -B Benchmarks/jobs.py "$@"
