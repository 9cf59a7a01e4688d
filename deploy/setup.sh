#!/usr/bin/env bash
# Makes this machine ready to build SkyNet: checks for Swift and installs the Debian packages that are missing.
# Harmless to run again. Says in one line what stops it.
#
#     deploy/setup.sh          what the build needs
#     deploy/setup.sh --package   what the Debian package is made with
#     deploy/setup.sh --machines  what Tests/Trials/machines needs
#     deploy/setup.sh --lab    what Tests/Trials/lab needs; without root nothing, because the lab is of no use then
set -euo pipefail

fail() {
    echo "skynet: $*" >&2
    exit 1
}

command -v swift >/dev/null 2>&1 ||
    fail "no Swift here; install the 6.3 toolchain for Debian 12 from https://www.swift.org/install/linux and put it on the PATH"
version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' | head -n 1)
case "$version" in
    6.[2-9] | 6.[1-9][0-9] | [7-9].*) ;;
    *) fail "Swift ${version:-of unknown version} is too old; 6.3 is what this is built and tested with" ;;
esac

packages="libcfitsio-dev wcslib-dev liberfa-dev libsep-dev libdeflate-dev libturbojpeg0-dev libpng-dev zlib1g-dev libsqlite3-dev libssl-dev pkg-config"
if [ "${1-}" = --lab ]; then
    [ "$(id -u)" = 0 ] || exit 0
    packages="iproute2 nftables procps util-linux"
fi
[ "${1-}" = --package ] && packages="$packages debhelper dpkg-dev fakeroot lintian python3"
[ "${1-}" = --machines ] && packages="debootstrap systemd-container iproute2 nftables util-linux procps"
missing=""
for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
[ -z "$missing" ] && exit 0

command -v apt-get >/dev/null 2>&1 || fail "no apt-get here; install what corresponds to:$missing"
root=""
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null 2>&1 || fail "missing packages, and neither root nor sudo to install them:$missing"
    root="sudo"
fi
echo "installing:$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
$root apt-get update >"$log" 2>&1 || true # a stale list may still do
# shellcheck disable=SC2086 # a list of words
if ! $root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing >"$log" 2>&1; then
    tail -n 3 "$log" >&2
    fail "cannot install:$missing; is there a network?"
fi
