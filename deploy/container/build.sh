#!/usr/bin/env bash
# Makes a container image of the Debian package, with podman or buildah.
#
#     deploy/container/build.sh [--package FILE] [--base IMAGE | --debootstrap] [--tag NAME]
#
# --package      the package; default: the newest of dist/ (make deb)
# --base         the image to start from; default: Debian's slim one of docker.io
# --debootstrap  instead, make that image of Debian's mirror, where no registry can be reached; as root
# --tag          the image's name; default: localhost/skynode:VERSION
#
# STORAGE, options of podman and buildah such as "--root DIR --storage-driver vfs", says where images are kept.
set -euo pipefail
cd "$(dirname "$0")/../.."

fail() {
    echo "container: $*" >&2
    exit 1
}

package="" base="" tag="" bootstrap=""
while [ $# -gt 0 ]; do
    case $1 in
        --debootstrap) bootstrap=yes && shift && continue ;;
        --package | --base | --tag) [ $# -ge 2 ] || fail "$1 takes a value" ;;
        *) fail "there is no option $1" ;;
    esac
    printf -v "${1#--}" %s "$2"
    shift 2
done
[ -z "$base" ] || [ -z "$bootstrap" ] || fail "--base or --debootstrap, not both"

# shellcheck disable=SC2012 # our own names
[ -n "$package" ] || package=$(ls -t dist/skynode_*.deb 2>/dev/null | head -n 1)
[ -n "$package" ] || fail "no package in dist; make one with: make deb"
[ -r "$package" ] || fail "cannot read $package"
version=$(dpkg-deb -f "$package" Version 2>/dev/null) || fail "$package: not a Debian package"
tag=${tag:-localhost/skynode:$version}

tool=$(command -v buildah || command -v podman) || fail "neither buildah nor podman here; apt-get install buildah"
read -r -a storage <<<"${STORAGE:-}"
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT

# apt's settings, such as a proxy, are this machine's: they are in the image that is made with this one, which is for
# tries therefore.
debootstrap_base() {
    command -v debootstrap >/dev/null || fail "no debootstrap here; apt-get install debootstrap"
    command -v podman >/dev/null || fail "no podman here, which imports what debootstrap makes"
    [ "$(id -u)" = 0 ] || fail "debootstrap needs root"
    base=localhost/skynode-base:bookworm
    # shellcheck disable=SC2015 # either way it is to be made
    podman ${storage[@]+"${storage[@]}"} image exists $base && return
    echo "container: fetching Debian 12 (once)"
    debootstrap --variant=minbase bookworm "$context/root" http://deb.debian.org/debian >"$context/log" 2>&1 ||
        fail "debootstrap: $(tail -n 1 "$context/log")"
    cp /etc/apt/apt.conf.d/* "$context/root/etc/apt/apt.conf.d/"
    rm -f "$context"/root/etc/apt/apt.conf.d/docker-* "$context"/root/var/cache/apt/archives/*.deb
    tar -C "$context/root" -cf - . | podman ${storage[@]+"${storage[@]}"} import - $base >"$context/log" 2>&1 ||
        fail "podman import: $(tail -n 1 "$context/log")"
    rm -rf "$context/root"
}
[ -z "$bootstrap" ] || debootstrap_base

mkdir "$context/image"
cp "$package" "$context/image/skynode.deb"
cp deploy/container/skynode.yaml "$context/image/"
arguments=()
[ -z "$base" ] || arguments=(--build-arg "BASE=$base")
# The host's network, for apt; and chroot, which needs fewer of the kernel's parts than a container.
"$tool" ${storage[@]+"${storage[@]}"} build --isolation chroot --network host ${arguments[@]+"${arguments[@]}"} \
    --file deploy/container/Containerfile --tag "$tag" "$context/image"
echo "$tag"
