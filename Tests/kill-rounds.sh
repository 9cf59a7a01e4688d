#!/usr/bin/env bash
# Kills nodes with SIGKILL, the coordinator's among them, while jobs run, and starts them again; says how many tasks were
# lost and how many were committed twice. Both are to be 0.
#
#     Tests/kill-rounds.sh [ROUNDS] [TASKS]
set -euo pipefail
cd "$(dirname "$0")/.."

rounds=${1:-200}
tasks=${2:-2000}
program=$PWD/.build/release/skynode
nodes=4
[ -x "$program" ] || { echo "kill-rounds: no release build; run make release" >&2; exit 1; }
folder=$(mktemp -d /tmp/skynet-kill-rounds-XXXXXX)
declare -a pid
finish() {
    status=$?
    for number in $(seq $nodes); do kill -KILL "${pid[number]}" 2>/dev/null || true; done
    [ $status -ne 0 ] && echo "kill-rounds: what the nodes said is in $folder" >&2 || rm -rf "$folder"
    exit $status
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Ports of this run's own; the first node coordinates.
base=$((21000 + RANDOM % 20000))
group="239.255.85.$((RANDOM % 200 + 20)):$((RANDOM % 20000 + 30000))"
start() {
    "$program" serve --name "n$1" --listen "127.0.0.1:$((base + $1))" --slots 4 --data "$folder/data$1" \
        --multicast "$group" >>"$folder/n$1.out" 2>>"$folder/n$1.log" </dev/null &
    pid[$1]=$!
    disown
}
jobs() { "$program" jobs "$@" --node "127.0.0.1:$((base + 1))"; }
for number in $(seq $nodes); do start "$number"; done

number_of() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"; }
lost=0 kills=0 coordinator_kills=0
for round in $(seq "$rounds"); do
    until job=$("$program" simulate --tasks "$tasks" --duration 5ms --detach --token "round $round" \
        --node "127.0.0.1:$((base + 1))" 2>/dev/null); do sleep 0.05; done
    # Two of the nodes, at any moment of the job.
    for _ in 1 2; do
        sleep "0.$((RANDOM % 4))"
        victim=$((RANDOM % nodes + 1))
        kill -KILL "${pid[victim]}"
        kills=$((kills + 1))
        [ $victim = 1 ] && coordinator_kills=$((coordinator_kills + 1))
        start $victim
    done
    for _ in $(seq 600); do
        line=$(jobs show "$job" --format json 2>/dev/null || true)
        [[ $line == *'"state":"running"'* || -z $line ]] || break
        sleep 0.1
    done
    completed=$(number_of completed <<<"$line")
    [ "${completed:-0}" = "$tasks" ] || { lost=$((lost + tasks - ${completed:-0})); echo "round $round: $line" >&2; }
    jobs delete "$job" >/dev/null
    [ $((round % 20)) = 0 ] && echo "$round rounds: $kills nodes killed, $coordinator_kills times the coordinator's"
done
twice=$(cat "$folder"/n*.log | sed -n 's/.*\] \([0-9]*\) results came twice.*/\1/p' | paste -sd+ | bc)
echo "$rounds jobs of $tasks tasks, $kills nodes killed with SIGKILL, $coordinator_kills of them the coordinator's"
echo "tasks lost: $lost"
echo "tasks committed twice: ${twice:-0}"
[ "$lost" = 0 ] && [ "${twice:-0}" = 0 ]
