#!/usr/bin/env bash
# The book's headline: twenty tasks of one second on one, two and five nodes of four slots, all on this machine.
set -euo pipefail
cd "$(dirname "$0")/../.."

skynode=.build/release/skynode
[ -x "$skynode" ] || { echo "headline: no release build; run make headline" >&2; exit 1; }
logs=$(mktemp -d)
nodes=()
finish() {
    local status=$?
    trap - EXIT INT TERM
    for pid in ${nodes[@]+"${nodes[@]}"}; do kill -TERM "$pid" 2>/dev/null || true; done
    wait
    rm -rf "$logs"
    exit $status
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

for count in 1 2 5; do
    group="239.255.84.$((RANDOM % 200 + 20)):$((RANDOM % 20000 + 30000))"
    nodes=()
    for number in $(seq $count); do
        "$skynode" serve --name "node$number" --listen 127.0.0.1:0 --slots 4 --multicast "$group" \
            --data "$logs/data$count.$number" >"$logs/$number" &
        nodes+=($!)
    done
    for number in $(seq $count); do until grep -q listening "$logs/$number"; do sleep 0.05; done; done
    address=$(sed -n 's/.* listening on //p' "$logs/1")
    until [ "$("$skynode" nodes --node "$address" --format json | wc -l)" = $count ]; do sleep 0.05; done
    printf '%s node(s) of 4 slots: ' $count
    "$skynode" simulate --tasks 20 --duration 1s --node "$address" | head -n 1
    kill -TERM "${nodes[@]}"
    wait
done
nodes=()
