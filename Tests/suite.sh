#!/usr/bin/env bash
# Runs all tests that are built, in the parts that do not disturb each other. Ends with the first part that fails.
#
#     Tests/suite.sh [--all]     --all runs the others, too, and fails at the end
set -uo pipefail
cd "$(dirname "$0")/.."

goes_on=${1-}
status=0
# Suites that simulate, and do nothing but compute.
computing='SimulationTests|HistoryTests'
# Suites of nodes and replicas in the tests' own process, that have to answer each other within seconds.
answering='HandOverTests|DamagedCopyTests'
part() {
    if ! Tests/run.sh "$@"; then
        [ "$goes_on" = --all ] || exit 1
        status=1
    fi
}
# A few at a time: begun all at once, each would wait for all others, and what has to happen within a minute would not.
part --experimental-maximum-parallelization-width $((2 * $(nproc))) --skip '^ClusterTests\.' --skip "$computing|$answering"
# They keep every core busy for a minute: beside them, what has to happen within seconds would not.
part --filter "$computing"
# Whole processes, with times that matter: apart from the others, and two at a time, because most of them wait most of the time.
part --experimental-maximum-parallelization-width 2 --filter "^ClusterTests\.|$answering"
exit $status
