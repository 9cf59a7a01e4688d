#!/usr/bin/env bash
# Runs the whole suite again and again while every core is kept busy beside it, and says which tests failed in which round:
# what passes only on an idle machine is red by chance on somebody else's. The tests have to be built.
#
#     Tests/steady.sh [ROUNDS]
#
# BUSY says how many processes keep the cores busy: as many as there are cores if it is not given, and 0 where something
# else does it already.
set -uo pipefail
cd "$(dirname "$0")/.."

rounds=${1:-10}
[[ $rounds =~ ^[1-9][0-9]*$ ]] || { echo "steady: $rounds is no number of rounds" >&2; exit 2; }
loops=${BUSY:-$(nproc)}
[[ $loops =~ ^[0-9]+$ ]] || { echo "steady: BUSY=$loops is no number of processes" >&2; exit 2; }
folder=.build/steady
rm -rf "$folder"
mkdir -p "$folder"

busy=()
suite=
finish() {
    # Each is a group of its own, and goes with what it has started.
    for process in ${busy[@]+"${busy[@]}"} $suite; do kill -TERM -- "-$process" 2>/dev/null || true; done
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
set -m
for _ in $(seq "$loops"); do
    # None outlives this script, however that ends.
    (while kill -0 $$ 2>/dev/null; do for ((count = 0; count < 100000; count++)); do :; done; done) </dev/null &
    busy+=($!)
done

# What failed, from the log of a round: tests, and a process of tests that died.
failed() { sed -n -E '/✘ Test run /d; s/^.*✘ Test (.*) failed after .*$/\1/p; s/^error: (.*signal.*)$/\1/p' "$1" | sort -u; }

bad=0
table=""
for round in $(seq "$rounds"); do
    log=$folder/round-$round.log
    began=$SECONDS
    Tests/suite.sh --all >"$log" 2>&1 </dev/null &
    suite=$!
    wait $suite
    status=$?
    suite=
    names=$(failed "$log")
    if [ $status -ne 0 ]; then
        bad=$((bad + 1))
        [ -n "$names" ] || names="exit code $status; see $log"
        printf '%s\n' "$names" >>"$folder/failed"
    fi
    tests=$(sed -n -E 's/^.*Test run with ([0-9]+) tests?.*$/\1/p' "$log" | awk '{ sum += $1 } END { print sum + 0 }')
    line="| $round | $((SECONDS - began)) s | $tests | $(printf '%s' "${names:-none}" | paste -sd';') |"
    echo "round $round of $rounds: $line"
    table+=$line$'\n'
done
echo
echo "| round | took | tests | failed |"
echo "|---|---|---|---|"
printf '%s' "$table"
if [ $bad -ne 0 ]; then
    echo
    echo "how often each failed, of $rounds rounds ($bad with a failure; what was said is in $folder):"
    sort "$folder/failed" | uniq -c | sort -rn
fi
[ $bad -eq 0 ]
