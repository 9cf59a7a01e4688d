#!/usr/bin/env bash
# Holds a running node against docs/openapi.yaml: schemathesis makes up requests, right ones and wrong ones, and looks whether the
# answers are those that the document promises. The node must be the same one, and well, at the end.
#
# Usage: Tests/API/check.sh [OPTION OF SCHEMATHESIS ...]    make api-check
set -euo pipefail
cd "$(dirname "$0")/../.."

skynode=${SKYNODE:-$PWD/.build/release/skynode}
logs=$(mktemp -d)
. deploy/nodes.sh
secret=a-token-of-this-check

[ -x "$skynode" ] || fail "no program at $skynode; run make release, or set SKYNODE"
deploy/python.sh .build/api Tests/API/requirements.txt

(umask 077 && echo $secret >"$logs/token")
# What is submitted runs here, too.
setsid "$skynode" serve --listen 127.0.0.1:0 --slots 2 --no-multicast --data "$logs/data" --http 127.0.0.1:0 \
    --http-token "$logs/token" --log-level info >"$logs/node.out" 2>"$logs/node.log" &
nodes+=($!)
listens node "${nodes[0]}"
port=$(http_port_of node)
url=http://127.0.0.1:$port

# A job that has ended, so that there is something to ask for.
"$skynode" simulate --tasks 3 --duration 10ms --node "$(address_of node)" >"$logs/job"

# The node takes 100 requests a second, and says so to whoever asks more often. Left out is the phase of links between requests,
# which follows jobs to their ends and takes very long: OPTIONS="--phases stateful". In the folder that goes, because
# schemathesis keeps notes where it runs.
here=$PWD
cd "$logs"
"$here/.build/api/bin/schemathesis" run "$here/docs/openapi.yaml" --url "$url" \
    --header "Authorization: Bearer $secret" --checks all --rate-limit 90/s --seed 1 --phases coverage,fuzzing "$@" \
    || fail "the document and the node differ"

kill -0 "${nodes[0]}" 2>/dev/null || fail "the node has ended"
[ "$(curl -sS -o /dev/null -w '%{http_code}' "$url/healthz")" = 200 ] || fail "the node is not well"
if grep -E ' (warning|error|critical) ' "$logs/node.log"; then fail "the node complains"; fi
echo "api: all is well"
