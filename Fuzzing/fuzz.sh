#!/usr/bin/env bash
# Builds the fuzz targets and runs them, as many at a time as there are cores: fuzz.sh -runs=N | -max_total_time=SECONDS [TARGET...]
# What it learns stays in .build/fuzz/corpus; the start of it is in Fuzzing/Corpus. A finding ends it.
set -euo pipefail
cd "$(dirname "$0")/.."
. Fuzzing/targets.sh
export limit=$1
shift
[ $# -gt 0 ] || set -- "${value_targets[@]}" "${byte_targets[@]}"

export scratch=.build/fuzz
mkdir -p $scratch/findings
# A trap must end the process at once: Swift's backtracer would wait for libFuzzer's own signal handlers for ever.
export SWIFT_BACKTRACE=enable=no
export ASAN_OPTIONS=quarantine_size_mb=8:malloc_context_size=1:detect_leaks=0

for target in "$@"; do
    kind=$(kind_of "$target")
    variable=program_$kind
    [ -z "${!variable:-}" ] || continue
    # A line of its own: `export` would hide that the build has failed.
    program=$(Fuzzing/build.sh "$kind")
    export "$variable=$program"
done

run() {
    set -euo pipefail
    . Fuzzing/targets.sh
    target=$1
    program=program_$(kind_of "$target")
    mkdir -p "$scratch/corpus/$target"
    log=$scratch/$target.log
    # shellcheck disable=SC2046
    if ! "${!program}" --target="$target" "$limit" -max_len="$(length_of "$target")" -print_funcs=0 -timeout=60 \
        -rss_limit_mb="$(memory_of "$target")" -malloc_limit_mb=64 -print_final_stats=1 $(learning_of "$target") \
        -artifact_prefix="$scratch/findings/$target-" "$scratch/corpus/$target" "Fuzzing/Corpus/$target" >"$log" 2>&1; then
        grep -E 'does not hold|Fatal error|ERROR:|Test unit written' "$log" >&2 || tail -n 5 "$log" >&2
        echo "fuzz: a finding in $target; $log has the rest" >&2
        # No other is begun.
        exit 255
    fi
    awk -v target="$target" '
        /number_of_executed_units/ { runs = $2 }
        /average_exec_per_sec/ { rate = $2 }
        /peak_rss_mb/ { peak = $2 }
        END { printf "%-11s %10d runs without a finding, %d per second, at most %d MiB\n", target, runs, rate, peak }
    ' "$log"
}
export -f run
printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} bash -c 'run {}'
