#!/usr/bin/env bash
# Builds the image and tries it in two ways: three containers as podman runs them, and three as Kubernetes runs the pods
# of deploy/kubernetes. They have to find each other, scan an image, lose one of them, drain, and go on with their jobs
# in new containers. As root; a minute or two.
#
#     Tests/Trials/container/try.sh [--package FILE] [--base IMAGE]
#
# Without --base, the image to start from is made by debootstrap: no registry is asked. Images, volumes and network are
# below a folder of /tmp and in namespaces of their own: the machine's podman sees nothing of them, and they are gone at
# the end, also after Ctrl-C.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
image=localhost/skynode:try

fail() {
    echo "container: $*" >&2
    exit 1
}

podman() { command podman "${storage[@]}" "$@"; }

run() {
    podman run "${limits[@]}" --cgroups "$groups" --log-driver k8s-file "$@"
}

# A node as docs/OPERATING.md has it: nothing can be written but its volume and /tmp, and it has no capability.
start() {
    local name=$1
    shift
    run --detach --name "$name" --hostname "$name" --network sky --network-alias skynode \
        --read-only --cap-drop ALL --security-opt no-new-privileges --volume "$name:/var/lib/skynode" \
        --secret skynode-key,target=/etc/skynode/cluster.key,uid=17420,mode=0400 \
        $image serve --config /etc/skynode/skynode.yaml --slots 2 "$@" >/dev/null
}

# A node as the kubelet starts it: the files of ConfigMap and Secrets behind symbolic links, root's and readable by the
# group; a volume that is root's with a folder in it; nothing else that can be written but a small /tmp.
pod() {
    local name=$1 volume=$work/volumes/$1
    if [ ! -d "$volume" ]; then
        mkdir -p "$volume/lost+found"
        chown root:17420 "$volume"
        chmod 2770 "$volume"
    fi
    run --detach --name "$name" --hostname "$name" --network sky --network-alias skynode --user 17420:17420 \
        --read-only --read-only-tmpfs=false --tmpfs /tmp:size=64m,mode=1777 --cap-drop ALL \
        --security-opt no-new-privileges --volume "$work/configuration:/etc/skynode:ro" \
        --volume "$volume:/var/lib/skynode" --volume "$work/images:/images" \
        $image serve --config /etc/skynode/skynode.yaml >/dev/null
}

# What the projected volume of deploy/kubernetes/skynode.yaml holds.
configuration() {
    local folder=$work/configuration/..2026_01_01
    mkdir -p "$folder" "$work/images"
    chmod 1777 "$work/images"
    sed -n '/^  skynode.yaml: |/,/^---/ s/^    //p' "$root/deploy/kubernetes/skynode.yaml" >"$folder/skynode.yaml"
    grep -q '^join: ' "$folder/skynode.yaml" || fail "no configuration in deploy/kubernetes/skynode.yaml"
    cp "$work/cluster.key" "$folder/"
    echo "$token" >"$folder/http-token"
    chown root:17420 "$folder"/*
    chmod 0440 "$folder"/*
    ln -s ..2026_01_01 "$work/configuration/..data"
    for file in skynode.yaml cluster.key http-token; do ln -s "..data/$file" "$work/configuration/$file"; done
}

listed() { podman exec "$1" skynode nodes --format json 2>/dev/null | grep -c . || true; }

expect_nodes() {
    local name=$1 wanted=$2
    for _ in $(seq 400); do
        [ "$(listed "$name")" = "$wanted" ] && return
        sleep 0.1
    done
    podman exec "$name" skynode nodes >&2 || true
    podman logs "$name" >&2 || true
    fail "$name lists $(listed "$name") nodes, not $wanted"
}

# scan NODE NAME OPTIONS: the catalogue's lines, without the header, which tells of times and nodes.
scan() {
    local node=$1 name=$2
    podman exec "$node" skynode scan "$sky" -o "$(dirname "$sky")/$name" --sector 256 --no-cache \
        >"$work/$name.txt" 2>&1 || fail "the scan ended with $?: $(cat "$work/$name.txt")"
    podman exec "$node" cat "$(dirname "$sky")/$name/sky.csv" | grep -v '^#' >"$work/$name.csv"
    [ "$(wc -l <"$work/$name.csv")" -gt 100 ] || fail "the scan found $(wc -l <"$work/$name.csv") sources"
    echo "== $(sed -n '/ sources in /p; / scanned, /p; /^  sky/p' "$work/$name.txt" | tr -s ' \n' ' ')"
}

synthesize() {
    sky=$2
    podman exec "$1" skynode synthesize "$sky" --width 2048 --height 2048 --seed 7 >/dev/null
}

# Tasks that last longer than any grace. Each node has some as soon as one says that it has.
busy() {
    job=$(podman exec "$1" skynode simulate --tasks 40 --duration 60s --detach)
    for _ in $(seq 100); do
        [ "$(podman exec "$1" skynode nodes --format json | grep -c '"running":[1-9]' || true)" -ge 3 ] && return
        sleep 0.1
    done
    podman exec "$1" skynode nodes --format json >&2
    fail "the nodes have no tasks"
}

# Status of a request to a pod from the bridge's own address, which is what the kubelet's are.
status() {
    local address
    address=$(podman inspect --format '{{.NetworkSettings.Networks.sky.IPAddress}}' "$1")
    shift
    python3 -c '
import sys, urllib.error, urllib.request
request = urllib.request.Request(sys.argv[1], headers=dict(header.split(": ") for header in sys.argv[2:]))
try: print(urllib.request.urlopen(request, timeout=6).status)
except urllib.error.HTTPError as error: print(error.code)
except OSError: print(0)' "http://$address:7422$1" "${@:2}"
}

expect_status() {
    local wanted=$1
    shift
    local got
    got=$(status "$@")
    [ "$got" = "$wanted" ] || fail "$1 answers $2 with $got, not $wanted"
}

expect_exit() {
    local code
    code=$(podman inspect --format '{{.State.ExitCode}}' "$1")
    [ "$code" = 0 ] || fail "$1 ended with $code"
}

# podman stop, which kills after as many seconds as $2 says; how many it took.
stop() {
    local began=$EPOCHREALTIME
    podman stop --time "$2" "$1" >/dev/null
    expect_exit "$1"
    awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }'
}

containers() {
    # Two find each other by multicast; the third looks up the name that all have.
    start sky1
    start sky2
    start sky3 --no-multicast --join skynode:7420
    expect_nodes sky1 3
    podman exec sky1 skynode nodes
    podman exec sky1 sh -c ': >/usr/x' 2>/dev/null && fail "the root can be written"
    synthesize sky1 /tmp/sky.fits
    scan sky1 first
    busy sky1
    echo "== podman stop of a node with tasks: $(stop sky3 10) s"
    podman kill --signal KILL sky2 >/dev/null
    expect_nodes sky1 1
    podman exec sky1 skynode jobs cancel "$job" >/dev/null
    scan sky1 second
    cmp "$work/first.csv" "$work/second.csv" || fail "another catalogue"
    echo "== the same catalogue with two nodes less"

    # What is kept is kept by the volume, not by the container.
    podman rm --force --time 10 sky1 sky2 sky3 >/dev/null
    start sky1
    expect_nodes sky1 1
    jobs=$(podman exec sky1 skynode jobs --format json | grep -c .)
    [ "$jobs" = 3 ] || fail "a new container on the old volume has $jobs jobs, not 3"
    left=$(podman exec sky1 sh -c 'cat /proc/[0-9]*/stat' 2>/dev/null | grep -c ') Z ' || true)
    [ "$left" = 0 ] || fail "$left processes that nobody waits for"
    podman rm --force --time 10 sky1 >/dev/null
}

pods() {
    configuration
    # The first finds nobody behind the name but itself, and looks again.
    pod skynode-0
    expect_nodes skynode-0 1
    pod skynode-1
    pod skynode-2
    expect_nodes skynode-0 3
    podman exec skynode-0 skynode nodes
    expect_status 200 skynode-0 /healthz
    expect_status 200 skynode-0 /readyz
    expect_status 401 skynode-0 /metrics
    expect_status 200 skynode-0 /metrics "Authorization: Bearer $token"
    synthesize skynode-0 /images/sky.fits
    scan skynode-0 third
    cmp "$work/first.csv" "$work/third.csv" || fail "another catalogue"
    podman exec skynode-0 skynode nodes drain skynode-2 >/dev/null
    expect_status 503 skynode-2 /readyz
    expect_status 200 skynode-2 /healthz
    podman exec skynode-0 skynode nodes resume skynode-2 >/dev/null
    expect_status 200 skynode-2 /readyz
    busy skynode-0
    echo "== a drained pod is alive and not ready; one with tasks ends within $(stop skynode-2 60) s"
    # Killed, and made again on the same volume: the job of 40 tasks is its own.
    podman rm --force --time 0 skynode-0 >/dev/null
    pod skynode-0
    expect_nodes skynode-0 2
    shown=$(podman exec skynode-0 skynode jobs show "$job") || fail "the job is gone with the pod"
    [[ $shown == *running* ]] || fail "the job does not go on: $shown"
    echo "== a pod that was killed goes on with its job"
}

# In the namespaces of this try.
inside() {
    work=$1
    read -r -a storage <<<"$2"
    storage+=(--network-config-dir "$work/networks" --events-backend none)
    token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    # crun takes limits no higher than they are here; podman asks for more.
    limits=(--ulimit "nofile=$(ulimit -Hn):$(ulimit -Hn)" --ulimit nproc=32768:32768)
    # It knows either version of control groups, not both side by side; without controllers there is nothing to limit.
    groups=enabled
    if [ -d /sys/fs/cgroup/unified ]; then
        umount -R /sys/fs/cgroup
        mount -t cgroup2 none /sys/fs/cgroup
        groups=disabled
    fi
    # Where networks' addresses are noted, whatever podman is told of other folders.
    mount -t tmpfs none /run
    ip link set lo up
    trap 'podman rm --force --all --time 0 >/dev/null 2>&1; podman network rm --force sky >/dev/null 2>&1' EXIT
    mkdir "$work/networks"
    podman network create sky >/dev/null
    run --rm --network none $image key new >"$work/cluster.key"
    # The package's own key must not be in the image: without another one the node does not start.
    ! run --rm --network none $image >"$work/keyless" 2>&1 || fail "a node starts without a key"
    grep -q 'cluster.key: no such file' "$work/keyless" || fail "$(cat "$work/keyless")"
    podman secret create skynode-key "$work/cluster.key" >/dev/null
    containers
    pods
}

if [ "${1-}" = --inside ]; then
    inside "$2" "$3"
    exit
fi

[ "$(id -u)" = 0 ] || fail "needs root"
for tool in podman buildah crun unshare ip iptables python3; do
    command -v $tool >/dev/null || fail "no $tool here; apt-get install podman buildah netavark aardvark-dns iptables"
done
work=$(mktemp -d /tmp/skynode-container.XXXXXX)
kept="--root $work/store --runroot $work/run"

finish() {
    local status=$?
    trap - EXIT INT TERM
    # Overlays that are still mounted would keep the folder.
    awk -v "work=$work/" 'index($2, work) == 1 { print $2 }' /proc/self/mounts | sort -r | xargs -r umount -l || true
    rm -rf "$work"
    exit $status
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

base=(--debootstrap)
[[ " $* " == *" --base "* ]] && base=()
STORAGE=$kept "$root/deploy/container/build.sh" ${base[@]+"${base[@]}"} "$@" --tag $image >"$work/build.log" 2>&1 || {
    tail -n 20 "$work/build.log" >&2
    fail "the image cannot be built"
}
echo "== the image is built"
unshare --net --mount --propagation private "$0" --inside "$work" \
    "$kept --tmpdir $work/libpod --cgroup-manager cgroupfs"
echo "container: all is well"
