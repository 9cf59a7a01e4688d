#!/usr/bin/env bash
# Builds the fuzz targets and runs one after the other: fuzz.sh -runs=N | -max_total_time=SECONDS [TARGET...]
# What it learns stays in .build/fuzz/corpus; the start of it is in Fuzzing/Corpus. A finding ends it.
set -euo pipefail
cd "$(dirname "$0")/.."
limit=$1
shift
[ $# -gt 0 ] || set -- frames handshake decoding encoding calls beacon

fuzz=$(Fuzzing/build.sh)
scratch=.build/fuzz
mkdir -p $scratch/findings
# A trap must end the process at once: Swift's backtracer would wait for libFuzzer's own signal handlers for ever.
export SWIFT_BACKTRACE=enable=no
export ASAN_OPTIONS=quarantine_size_mb=8:malloc_context_size=1:detect_leaks=0

for target in "$@"; do
    mkdir -p "$scratch/corpus/$target"
    log=$scratch/$target.log
    # Beacons have a limit of 512 bytes, to be gone beyond; elsewhere short inputs reach as much and are faster.
    case $target in
        beacon) length=600 ;;
        encoding) length=96 ;;
        *) length=256 ;;
    esac
    if ! "$fuzz" --target="$target" "$limit" -max_len="$length" -print_funcs=0 -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=64 \
        -print_final_stats=1 -artifact_prefix="$scratch/findings/$target-" \
        "$scratch/corpus/$target" "Fuzzing/Corpus/$target" >"$log" 2>&1; then
        grep -E 'does not hold|Fatal error|ERROR:|Test unit written' "$log" >&2 || tail -n 5 "$log" >&2
        echo "fuzz: a finding in $target; $log has the rest" >&2
        exit 1
    fi
    awk -v target="$target" '
        /number_of_executed_units/ { runs = $2 }
        /average_exec_per_sec/ { rate = $2 }
        /peak_rss_mb/ { peak = $2 }
        END { printf "%-10s %10d runs without a finding, %d per second, at most %d MiB\n", target, runs, rate, peak }
    ' "$log"
done
