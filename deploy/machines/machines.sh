#!/usr/bin/env bash
# Debian machines in containers, with SkyNet's package on them; what is done with them: machines.py.
#
#     deploy/machines/machines.sh [--machines N] [--package FILE] [--keep]        make machines
set -euo pipefail
cd "$(dirname "$0")/../.."
deploy/setup.sh --machines
exec python3 -B deploy/machines/machines.py "$@"
