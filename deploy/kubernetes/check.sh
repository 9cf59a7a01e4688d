#!/usr/bin/env bash
# Checks the manifests of this folder: against Kubernetes' own schemas, and against the program and its documents. No
# cluster is needed, and no network once the schemas are installed.
#
#     deploy/kubernetes/check.sh
#
# SKYNODE says which program; default: the release build's.
set -euo pipefail
cd "$(dirname "$0")/../.."

fail() {
    echo "kubernetes: $*" >&2
    exit 1
}

skynode=${SKYNODE:-.build/release/skynode}
[ -x "$skynode" ] || fail "no program at $skynode; run make release, or set SKYNODE"
deploy/python.sh .build/kubernetes deploy/kubernetes/requirements.txt
exec .build/kubernetes/bin/python -B deploy/kubernetes/check.py "$skynode"
