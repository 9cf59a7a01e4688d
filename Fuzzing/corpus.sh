#!/usr/bin/env bash
# Writes Fuzzing/Corpus anew: seeds from real encodings, and of all that `make fuzz` has learned here the short inputs
# that reach something which no other reaches.
set -euo pipefail
cd "$(dirname "$0")/.."
fuzz=$(Fuzzing/build.sh)
export SWIFT_BACKTRACE=enable=no
for target in frames handshake decoding encoding calls beacon; do
    seeds=.build/fuzz/seeds/$target
    learned=.build/fuzz/corpus/$target
    kept=Fuzzing/Corpus/$target
    mkdir -p "$learned"
    rm -rf "$kept" "$seeds"
    mkdir -p "$kept"
    "$fuzz" --target="$target" --seeds="$seeds"
    "$fuzz" --target="$target" -set_cover_merge=1 -max_len=256 "$kept" "$seeds" "$learned" 2>/dev/null
    echo "$target: $(find "$kept" -type f | wc -l) inputs, $(find "$kept" -type f -exec cat {} + | wc -c) bytes"
done
