#!/usr/bin/env bash
# Runs the tests that are built, with these options of `swift test`, and repeats at the end what failed: in two thousand
# lines it is easily overlooked.
set -uo pipefail
cd "$(dirname "$0")/.."

# No key that lies in its usual place on this machine takes part.
export SKYNODE_CLUSTER_KEY=
log=$(mktemp)
trap 'rm -f "$log"' EXIT
SWIFT_BACKTRACE=enable=no ${SWIFT:-swift} test --skip-build "$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
if [ "$status" -ne 0 ]; then
    # On standard error, which is short: it is what is left where only the end of a run is kept.
    {
        echo "failed:"
        grep -E 'recorded an issue|^error:|: error:' "$log" || tail -20 "$log"
    } >&2
fi
exit "$status"
