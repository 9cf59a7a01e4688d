#!/usr/bin/env bash
# Starts three nodes on this machine, lets them find each other, scans an image over them, shows what came of it,
# and stops them. Exits non-zero if anything in that chain failed, and leaves no process behind.
#
# Usage: deploy/demo/demo.sh [IMAGE]
set -euo pipefail
cd "$(dirname "$0")/../.."

image=${1:-}
output=demo-output
skynode=.build/release/skynode
logs=$(mktemp -d)
. deploy/nodes.sh

[ -x "$skynode" ] || fail "no release build; run make demo"
[ -z "$image" ] || [ -r "$image" ] || fail "cannot read $image"

echo "== three nodes"
for number in 1 2 3; do
    # In a session of its own, so that Ctrl-C reaches the command first and the nodes through `finish`.
    setsid "$skynode" serve --name "node$number" --listen 127.0.0.1:0 --slots 2 --multicast "$group" \
        --data "$logs/data$number" \
        >"$logs/node$number.out" 2>"$logs/node$number.log" &
    nodes+=($!)
done
for number in 1 2 3; do
    listens "node$number" "${nodes[$((number - 1))]}"
    head -n 1 "$logs/node$number.out"
done
address=$(address_of node1)

for _ in $(seq 100); do
    known=$("$skynode" nodes --node "$address" --format json | wc -l)
    [ "$known" = 3 ] && break
    sleep 0.1
done
[ "$known" = 3 ] || fail "the nodes did not find each other by multicast on lo"
"$skynode" nodes --node "$address"

mkdir -p "$output"
arguments=()
if [ -z "$image" ]; then
    echo "== a synthetic night sky"
    image=$output/sky.fits
    "$skynode" synthesize "$image" --width 2048 --height 2048 --seed 7
    arguments=(--truth "$output/sky_truth.csv" --gain 1.5 --zero-point 29.445 --sector 512)
else
    arguments=(--sector 256)
fi

echo "== the scan (the first try of sector 1 is made to fail)"
"$skynode" scan "$image" --node "$address" -o "$output" --fail-sector 1 "${arguments[@]}" | tee "$logs/summary"
grep -q ' 1 retried, 0 failed' "$logs/summary" || fail "the summary does not tell of the one retry"
while read -r file; do [ -s "$file" ] || fail "$file is missing or empty"; done < <(sed -n 's/^wrote //p' "$logs/summary")
[ "$(grep -c '^wrote ' "$logs/summary")" = 6 ] || fail "six files were expected"

echo "== stopping the nodes"
pids=("${nodes[@]}")
stop_nodes
for pid in "${pids[@]}"; do kill -0 "$pid" 2>/dev/null && fail "process $pid is still there"; done
echo "done; see $output"
