#!/usr/bin/env bash
# A rolling upgrade in the middle of two jobs: three nodes of an older build become nodes of this one, one after the
# other (drain, stop, start), the one that coordinates last. Nothing may be lost, and the catalogue must be the one that
# an undisturbed scan makes. The older build is made from the last commit that spoke protocol 2 only.
#
# Usage: Tests/Trials/upgrade/upgrade.sh [OLDER-SKYNODE]    without it, it is built in .build/upgrade (ten minutes)
set -euo pipefail
cd "$(dirname "$0")/../../.."

older_commit=$(git log --format=%H --grep='^Protocol version 3: ' -1)^
# So many that the scan goes on until the last node has left.
frames=48
older=${1:-}
newer=.build/release/skynode
work=$(mktemp -d)
logs=$work
. deploy/nodes.sh
base=$((RANDOM % 20000 + 30000))

build_older() {
    local tree=.build/upgrade/source
    older_commit=$(git rev-parse "$older_commit") || fail "this checkout has no commit from before protocol 3"
    older=.build/upgrade/build/release/skynode
    if [ "$(cat .build/upgrade/commit 2>/dev/null)" = "$older_commit" ] && [ -x "$older" ]; then return; fi
    echo "== building $older_commit"
    rm -rf "$tree"
    mkdir -p "$tree"
    git archive "$older_commit" | tar -x -C "$tree"
    swift build --package-path "$tree" --scratch-path .build/upgrade/build -c release --product skynode
    echo "$older_commit" >.build/upgrade/commit
}

address() { echo "127.0.0.1:$((base + $1))"; }

# start NUMBER PROGRAM: a node with its own folder, which outlives the program.
start() {
    local number=$1 program=$2
    setsid "$program" serve --name "node$number" --listen "$(address "$number")" --slots 2 --multicast "$group" \
        --data "$work/data$number" --stop-grace 20s >>"$work/node$number.out" 2>>"$work/node$number.log" &
    nodes[number]=$!
}

# The lines of the list of nodes that a condition in Python holds for, asked of a node.
count() {
    "$newer" nodes --node "$(address "$1")" --format json 2>/dev/null \
        | python3 -c 'import json, sys; print(sum(bool(eval(sys.argv[1], json.loads(line))) for line in sys.stdin))' "$2" \
        || true
}

# await SECONDS WHAT NODE CONDITION COUNT
await() {
    local tries=$(($1 * 10))
    while [ "$(count "$3" "$4")" != "$5" ]; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || fail "$2 in $1 s; of node$3: $("$newer" nodes --node "$(address "$3")" --format json)"
        sleep 0.1
    done
}

job_state() { "$newer" jobs show "$1" --node "$(address 1)" --format json | python3 -c '
import json, sys
job = json.loads(sys.stdin.readline())
print(job["state"], job["completed"], job["failed"])'; }

upgrade() {
    local number=$1 asked=1 status=0
    [ "$number" = 1 ] && asked=2
    local before
    kill -0 "$scan" 2>/dev/null || fail "the scan was over before node$number left"
    before=$(job_state "$simulation")
    "$newer" nodes drain "node$number" --node "$(address "$asked")"
    kill -TERM "${nodes[$number]}"
    wait "${nodes[$number]}" || status=$?
    [ $status = 0 ] || fail "node$number stopped with status $status"
    start "$number" "$newer"
    await 20 "node$number was not back" "$asked" 'state == "alive"' 3
    echo "node$number is new; the job when it left: $before"
}

[ -n "$older" ] || build_older
[ -x "$older" ] || fail "no $older"
[ -x "$newer" ] || fail "no release build; run make upgrade-trial"
echo "older: $("$older" --version), of protocol 2 only; newer: $("$newer" version | head -2 | paste -sd' ' | tr -s ' ')"

echo "== an undisturbed scan, by the newer program alone"
for seed in $(seq $frames); do
    if [ "$seed" -le 12 ]; then
        "$newer" synthesize "$work/sky$seed.fits" --width 3000 --height 3000 --seed "$seed" >/dev/null
    else
        ln "$work/sky$((seed - 12)).fits" "$work/sky$seed.fits"
    fi
done
"$newer" scan "$work"/sky*.fits --sector 256 --slots 2 --no-multicast --no-cache -o "$work/alone" >/dev/null

echo "== three nodes of the older build, and two jobs"
for number in 1 2 3; do start "$number" "$older"; done
await 20 "the nodes did not find each other" 1 'state == "alive"' 3
simulation=$("$older" simulate --tasks 400 --duration 300ms --node "$(address 1)" --detach)
simulation=${simulation##* }
"$newer" scan "$work"/sky*.fits --sector 256 --no-cache --node "$(address 1)" -o "$work/upgraded" \
    >"$work/scan.out" 2>"$work/scan.log" &
scan=$!

echo "== one after the other"
for number in 3 2 1; do upgrade "$number"; done

status=0
wait $scan || status=$?
[ $status = 0 ] || fail "the scan ended with $status"
for seed in $(seq $frames); do
    for kind in csv reg; do
        cmp "$work/alone/sky$seed.$kind" "$work/upgraded/sky$seed.$kind" || fail "a catalogue differs"
    done
done
echo "$frames scans have the catalogues of the undisturbed ones"
"$newer" jobs watch "$simulation" --node "$(address 1)" >"$work/watch.out" || fail "the job ended with $?"
state=$(job_state "$simulation")
echo "the job at the end: $state"
[ "$state" = "done 400 0" ] || fail "something was lost"

for number in 1 2 3; do
    kill -TERM "${nodes[$number]}"
    wait "${nodes[$number]}" || fail "node$number did not stop in order"
done
nodes=()
echo "nothing was lost"
