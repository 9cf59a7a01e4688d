#!/usr/bin/env bash
# Checks the manifests of deploy/kubernetes: against Kubernetes' own schemas, and against the program and its documents. No
# cluster is needed, and no network once the schemas are installed.
#
#     Tests/Trials/kubernetes/check.sh
#
# SKYNODE says which program; default: the release build's.
set -euo pipefail
cd "$(dirname "$0")/../../.."

fail() {
    echo "kubernetes: $*" >&2
    exit 1
}

skynode=${SKYNODE:-.build/release/skynode}
[ -x "$skynode" ] || fail "no program at $skynode; run make release, or set SKYNODE"
deploy/python.sh .build/kubernetes Tests/Trials/kubernetes/requirements.txt
exec .build/kubernetes/bin/python -B Tests/Trials/kubernetes/check.py "$skynode"
