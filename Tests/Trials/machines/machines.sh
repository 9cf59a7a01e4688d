#!/usr/bin/env bash
# Debian machines in containers, with SkyNet's package on them; what is done with them: machines.py.
#
#     Tests/Trials/machines/machines.sh [--machines N] [--suites NAME,...] [--package FILE] [--keep]        make machines
set -euo pipefail
cd "$(dirname "$0")/../../.."
deploy/setup.sh --machines
mkdir -p .build
exec 9>.build/machines.lock
flock -n 9 || { echo "machines: another run is under way" >&2; exit 2; }
exec python3 -B Tests/Trials/machines/machines.py "$@"
