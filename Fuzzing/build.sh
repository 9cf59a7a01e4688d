#!/usr/bin/env bash
# Builds the fuzz targets, optimised and with all checks on, and says where they are: build.sh bytes | values.
#
# Bytes with Address Sanitizer, because the codec works with pointers; values without, because they do not come near any, and
# with all of the program, which takes a quarter of an hour the first time.
set -euo pipefail
cd "$(dirname "$0")/.."
kind=$1
export SKYNET_FUZZ=$kind
options=(-c release -Xswiftc -enable-testing --scratch-path ".build/fuzz-$kind" --product Fuzz)
if [ "$kind" = bytes ]; then options+=(--sanitize address); fi
log=.build/fuzz-$kind.log
mkdir -p .build
swift build "${options[@]}" >"$log" 2>&1 || {
    grep -E 'error' "$log" >&2 || tail -n 20 "$log" >&2
    exit 1
}
echo "$(swift build "${options[@]}" --show-bin-path)/Fuzz"
