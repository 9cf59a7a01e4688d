#!/bin/sh
# Fetches the Swift packages, so that a missing network is told from a broken build. SwiftPM keeps what the packages'
# manifests say for each environment that it was run in; bash would change the environment (SHLVL, _), and `swift build`
# would have to compile all the manifests once more.
set -eu
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! swift package resolve >"$log" 2>&1; then
    grep -m 3 -i 'error' "$log" >&2 || tail -n 3 "$log" >&2
    echo "skynet: cannot fetch the Swift packages named in Package.swift; is there a network?" >&2
    exit 1
fi
