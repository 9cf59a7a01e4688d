#!/usr/bin/env bash
# Makes a virtual environment of Python with what a file of requirements names, and installs Debian packages by the commands
# they bring. Harmless to run again. Says in one line what stops it.
#
#     deploy/python.sh FOLDER REQUIREMENTS [COMMAND ...]
set -euo pipefail

fail() {
    echo "python.sh: $*" >&2
    exit 1
}

[ $# -ge 2 ] || fail "which folder, and which file of requirements?"
folder=$1 requirements=$2
shift 2
log=$(mktemp)
trap 'rm -f "$log"' EXIT

missing=""
for command in "$@"; do
    command -v "$command" >/dev/null || missing="$missing $command"
done
# Debian's Python cannot make virtual environments without this package.
python3 -c 'import ensurepip' 2>/dev/null || missing="$missing python3-venv"
if [ -n "$missing" ]; then
    [ "$(id -u)" = 0 ] || fail "missing, and only root can install:$missing"
    command -v apt-get >/dev/null || fail "no apt-get here; install what corresponds to:$missing"
    echo "installing:$missing"
    apt-get update >"$log" 2>&1 || true # a stale list may still do
    # shellcheck disable=SC2086 # a list of words
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing >"$log" 2>&1 ||
        fail "cannot install$missing: $(tail -n 1 "$log")"
fi

# One that was left half made, or whose Python has gone since, is made anew.
if ! "$folder/bin/python" -m pip --version >"$log" 2>&1; then
    mkdir -p "$folder"
    python3 -m venv --clear "$folder" >"$log" 2>&1 || fail "cannot make $folder: $(tail -n 1 "$log")"
fi
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r "$requirements" >"$log" 2>&1 ||
    fail "cannot install what $requirements names: $(tail -n 1 "$log")"
