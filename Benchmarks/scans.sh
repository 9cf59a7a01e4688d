#!/usr/bin/env bash
# What a scan takes beside SExtractor and Python's sep. The first run installs these. What is taken and told: Benchmarks/scans.py.
#
#     Benchmarks/scans.sh [--rounds N] [--frames N] [--check]     make scan-benchmark OPTIONS="..."
set -euo pipefail
cd "$(dirname "$0")/.."

program=${PROGRAM:-$PWD/.build/release/skynode}
[ -x "$program" ] || { echo "no program at $program; make release builds it" >&2; exit 2; }
deploy/python.sh .build/peers Tests/Peers/requirements.txt source-extractor >&2
PROGRAM=$program exec .build/peers/bin/python -B Benchmarks/scans.py "$@"
