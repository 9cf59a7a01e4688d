#!/usr/bin/env bash
# What the peers need to hand out tasks, one peer after the other: lines of JSON on standard output, and nothing else
# there. The first run installs the peers.
#
#     Benchmarks/peers/run.sh [--tasks N] [--single N] [--seconds-tasks N] [--lengths 0,0.001,0.01,0.1]
#                            [--length-seconds N]
#
# Without --tasks, each peer gets as many as suit it.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source-path=SCRIPTDIR source=options.sh
. ./options.sh
options "$@"

running=""
end() {
    [ -z "$running" ] || { kill -TERM "$running" 2>/dev/null && wait "$running" || true; }
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

./setup.sh >&2
python=../.build/peers/bin/python
for bench in "$python dask_bench.py" "$python ray_bench.py" ./parallel_bench.sh; do
    # In the background, because only a shell that waits can be told to end. Of two --lengths the latter counts.
    # shellcheck disable=SC2086 # program and argument
    $bench --lengths 0,0.001,0.01,0.1 "$@" &
    running=$!
    wait "$running"
    running=""
done
