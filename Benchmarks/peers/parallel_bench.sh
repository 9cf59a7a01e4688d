#!/usr/bin/env bash
# GNU parallel and xargs on this machine, eight jobs at a time. A task is a shell that writes its number, after sleeping
# where it has a length. Neither has a daemon: the latency of one task is that of starting the program for it.
#
#     Benchmarks/peers/parallel_bench.sh [--tasks N] [--single N] [--seconds-tasks N] [--lengths 0,0.001,0.01,0.1]
#                                        [--length-seconds N]
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=options.sh
. "$(dirname "$0")/options.sh"
options "$@"
export LC_ALL=C

fail() {
    echo "peers: $*" >&2
    exit 1
}

command -v parallel >/dev/null || fail "GNU parallel is not here; Benchmarks/peers/setup.sh installs it"
slots=8

folder=$(mktemp -d /tmp/peers-XXXXXX)
running=""
end() {
    # The whole group: xargs leaves its jobs alone when it is ended. parallel ends its own.
    [ -z "$running" ] || { kill -TERM -- "-$running" 2>/dev/null && wait "$running" || true; }
    rm -rf "$folder"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
set -m # jobs get groups of their own

# Nothing of the user's own settings, and the plainest shell for the jobs.
export PARALLEL_HOME="$folder" PARALLEL_SHELL=/bin/sh

# Has the peer do so many tasks of so many seconds; sets took, in microseconds.
run() {
    local count=$1 sleep="" command began
    [[ $2 =~ [1-9] ]] && sleep="sleep $2; "
    case $peer in
        parallel) command=(parallel --plain --will-cite "-j$slots" "${sleep}echo {}") ;;
        xargs) command=(xargs "-P$slots" -n1 sh -c "${sleep}echo \$0") ;;
    esac
    seq "$count" >"$folder/numbers"
    began=${EPOCHREALTIME/./}
    "${command[@]}" <"$folder/numbers" >"$folder/results" &
    running=$!
    wait "$running" || fail "$peer failed"
    took=$((${EPOCHREALTIME/./} - began))
    running=""
    sort -n "$folder/results" | cmp -s - "$folder/numbers" || fail "$count tasks of $2 s did not give their results"
}

# throughput COUNT [LENGTH]: reports what took says about such tasks.
throughput() {
    awk -v head="$head" -v tasks="$1" -v length_="${2-}" -v took="$took" 'BEGIN {
        field = length_ == "" ? "" : sprintf("\"task_seconds\":%s,", length_)
        printf "%s\"measure\":\"throughput\",%s\"tasks\":%d,\"seconds\":%.4f,\"per_second\":%.1f}\n",
            head, field, tasks, took / 1e6, tasks / took * 1e6
    }'
}

for peer in parallel xargs; do
    version=$("$peer" --version | sed -n '1s/.* //p')
    head="{\"peer\":\"$peer\",\"version\":\"$version\","
    run 50 0 # a warm-up

    for ((number = 0; number < single; number++)); do
        run 1 0
        echo "$took"
    done >"$folder/latencies"
    sort -n "$folder/latencies" | awk -v head="$head" '
        function percentile(percent,    rank) {
            rank = NR * percent / 100
            return took[rank == int(rank) ? rank : int(rank) + 1] / 1000
        }
        { took[NR] = $1 }
        END {
            printf "%s\"measure\":\"latency\",\"tasks\":%d,\"p50_ms\":%.3f,\"p99_ms\":%.3f}\n",
                head, NR, percentile(50), percentile(99)
        }'

    run "$tasks" 0
    throughput "$tasks"

    empty=$took
    for length in ${lengths//,/ }; do
        # As if nothing were started while tasks sleep: the time is an upper estimate.
        count=$(awk "BEGIN { count = int($length_seconds / ($empty / 1e6 / $tasks + $length / $slots))
            print count < $slots ? $slots : count }")
        run "$count" "$length"
        throughput "$count" "$length"
    done

    run "$seconds_tasks" 1
    awk -v head="$head" -v tasks="$seconds_tasks" -v took="$took" 'BEGIN {
        printf "%s\"measure\":\"makespan\",\"tasks\":%d,\"task_seconds\":1.0,\"seconds\":%.4f}\n",
            head, tasks, took / 1e6
    }'
done
