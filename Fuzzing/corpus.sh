#!/usr/bin/env bash
# Writes Fuzzing/Corpus anew: seeds from real encodings, and of all that `make fuzz` has learned here the short inputs
# that reach something which no other reaches. corpus.sh [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/.."
. Fuzzing/targets.sh
[ $# -gt 0 ] || set -- "${byte_targets[@]}" "${value_targets[@]}"
export SWIFT_BACKTRACE=enable=no
declare -A programs
for target in "$@"; do
    kind=$(kind_of "$target")
    [ -n "${programs[$kind]:-}" ] || programs[$kind]=$(Fuzzing/build.sh "$kind")
    fuzz=${programs[$kind]}
    seeds=.build/fuzz/seeds/$target
    learned=.build/fuzz/corpus/$target
    kept=Fuzzing/Corpus/$target
    mkdir -p "$learned"
    rm -rf "$kept" "$seeds"
    mkdir -p "$kept"
    "$fuzz" --target="$target" --seeds="$seeds"
    if [ "$kind" = bytes ]; then
        "$fuzz" --target="$target" -set_cover_merge=1 -max_len=256 "$kept" "$seeds" "$learned" 2>/dev/null
    else
        # All of the program's edges would be a megabyte of inputs: the seeds reach most of them.
        cp "$seeds"/* "$kept"
    fi
    echo "$target: $(find "$kept" -type f | wc -l) inputs, $(find "$kept" -type f -exec cat {} + | wc -c) bytes"
done
