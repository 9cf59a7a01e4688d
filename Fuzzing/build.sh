#!/usr/bin/env bash
# Builds the fuzz targets, optimised and with all checks on, and says where they are.
set -euo pipefail
cd "$(dirname "$0")/.."
export SKYNET_FUZZ=1
options=(-c release --sanitize address -Xswiftc -enable-testing --scratch-path .build/fuzz --product Fuzz)
log=.build/fuzz-build.log
mkdir -p .build
swift build "${options[@]}" >"$log" 2>&1 || {
    grep -E 'error' "$log" >&2 || tail -n 20 "$log" >&2
    exit 1
}
echo "$(swift build "${options[@]}" --show-bin-path)/Fuzz"
