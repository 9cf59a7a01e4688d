#!/usr/bin/env bash
# Installs the programs that catalogues are compared with and read by: SExtractor and fitsverify as Debian's packages, and
# into a virtual environment, .build/peers, astropy, regions and SEP's own Python. Harmless to run again.
set -euo pipefail
cd "$(dirname "$0")"

fail() {
    echo "peers: $*" >&2
    exit 1
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
missing=""
command -v source-extractor >/dev/null || missing="source-extractor"
command -v fitsverify >/dev/null || missing="$missing fitsverify"
# Debian's Python cannot make virtual environments without this package.
python3 -c 'import ensurepip' 2>/dev/null || missing="$missing python3-venv"
if [ -n "$missing" ]; then
    [ "$(id -u)" = 0 ] || fail "missing, and only root can install: $missing"
    echo "installing: $missing"
    apt-get update >"$log" 2>&1 || true # a stale list may still do
    # shellcheck disable=SC2086 # a list of words
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing >"$log" 2>&1 ||
        fail "cannot install $missing: $(tail -n 1 "$log")"
fi

folder=../../.build/peers
# One that was left half made, or whose Python has gone since, is made anew.
if ! "$folder/bin/python" -m pip --version >"$log" 2>&1; then
    python3 -m venv --clear "$folder" >"$log" 2>&1 || fail "cannot make $PWD/$folder: $(tail -n 1 "$log")"
fi
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r requirements.txt >"$log" 2>&1 ||
    fail "cannot install the Python packages: $(tail -n 1 "$log")"
