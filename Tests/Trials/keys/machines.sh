#!/bin/bash
# Runs a script of the shell on machines of its own, as an operator would: ssh, scp and systemctl reach machines dome-1 and dome-2,
# each with /etc and /var/lib of its own, with the user, the configuration and the key of the package, and a node as its service.
#
#     machines.sh PROGRAM FOLDER SCRIPT     as root; FOLDER is empty, and may be removed afterwards
#
# The machines are mount namespaces with an address each on one interface. Nothing is written outside FOLDER. Text that the script writes to
# standard output is this script's.
set -eu
if [ -z "${MACHINES:-}" ]; then
    export MACHINES=$2 MACHINES_PACKAGE=$(realpath "$(dirname "$0")/../../..")
    exec unshare --net --mount --uts --pid --fork --mount-proc "$0" "$@"
fi
program=$1 script=$3
ip link set lo up
ip link add dome0 type veth peer name dome1
ip link set dome0 up
ip link set dome1 up
for number in 1 2; do ip address add 10.83.0.$number/24 dev dome0; done
mkdir -p "$MACHINES/bin" "$MACHINES/admin"
export PATH=$MACHINES/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=$MACHINES/admin
unset SKYNODE_CLUSTER_KEY SKYNODE_NODE STATE_DIRECTORY XDG_CONFIG_HOME XDG_STATE_HOME
# The service's user reads what lies in here.
chmod 755 "$MACHINES"
ln -s "$program" "$MACHINES/bin/skynode"

cat >"$MACHINES/bin/ssh" <<'END'
#!/bin/sh
machine=$1
shift
cd /
exec nsenter --mount --uts --target "$(cat "$MACHINES/$machine/pid")" sh -c "$*"
END
cat >"$MACHINES/bin/scp" <<'END'
#!/bin/sh
[ "$1" = -p ] || { echo "scp: only with -p here" >&2; exit 1; }
ssh "${3%%:*}" "cp -p '$(realpath "$2")' '${3#*:}'"
END
cat >"$MACHINES/bin/systemctl" <<'END'
#!/bin/bash
home=$MACHINES/$(hostname)
[ "$2" = skynode ] || exit 1
node=$(cat "$home/node" 2>/dev/null || true)
case $1 in
reload) kill -HUP "$node" ;;
restart)
    if [ -n "$node" ]; then
        kill -TERM "$node" || true
        while kill -0 "$node" 2>/dev/null; do sleep 0.05; done
    fi
    : >"$home/output"
    STATE_DIRECTORY=/var/lib/skynode setsid setpriv --reuid=17420 --regid=17420 --clear-groups \
        skynode serve --config /etc/skynode/skynode.yaml >"$home/output" 2>>"$home/log" </dev/null &
    echo $! >"$home/node"
    # As with Type=notify, the start has failed where the node ends before it listens.
    until grep -q listening "$home/output"; do
        kill -0 $! 2>/dev/null || { echo "skynode.service failed on $(hostname): $(tail -n 1 "$home/log")" >&2; exit 1; }
        sleep 0.05
    done
    ;;
*) exit 1 ;;
esac
END
cat >"$MACHINES/bin/journalctl" <<'END'
#!/bin/bash
# journalctl -u skynode -n NUMBER -o cat
tail -n "$4" "$MACHINES/$(hostname)/log" | cut -d' ' -f2-
END
chmod +x "$MACHINES"/bin/*

# What the package leaves on a machine.
number=0
for machine in admin dome-1 dome-2; do
    home=$MACHINES/$machine
    mkdir -p "$home/lib/skynode"
    cp -a /etc "$home/etc"
    rm -rf "$home/etc/skynode"
    echo "$machine" >"$home/etc/hostname"
    echo 'skynode:x:17420:17420::/var/lib/skynode:/usr/sbin/nologin' >>"$home/etc/passwd"
    echo 'skynode:x:17420:' >>"$home/etc/group"
    printf '127.0.0.1 localhost\n10.83.0.1 dome-1\n10.83.0.2 dome-2\n' >"$home/etc/hosts"
    if [ "$machine" != admin ]; then
        number=$((number + 1))
        install -d -m 750 -g 17420 "$home/etc/skynode"
        sed "s/^listen: .*/listen: 10.83.0.$number:7420/" "$MACHINES_PACKAGE/deploy/debian/skynode.yaml" \
            >"$home/etc/skynode/skynode.yaml"
        chgrp 17420 "$home/etc/skynode/skynode.yaml"
        chmod 640 "$home/etc/skynode/skynode.yaml"
        chown 17420:17420 "$home/lib/skynode"
        chmod 700 "$home/lib/skynode"
        unshare --mount --uts sh -c "hostname $machine && mount --bind '$home/etc' /etc && mount --bind '$home/lib' /var/lib \
            && touch '$home/ready' && exec sleep infinity" &
        echo $! >"$home/pid"
        until [ -e "$home/ready" ]; do sleep 0.02; done
    fi
done
# Three machines become a cluster when they have the same key.
skynode key new --output "$MACHINES/dome-1/etc/skynode/cluster.key" >/dev/null
chgrp 17420 "$MACHINES/dome-1/etc/skynode/cluster.key"
chmod 640 "$MACHINES/dome-1/etc/skynode/cluster.key"
cp -p "$MACHINES/dome-1/etc/skynode/cluster.key" "$MACHINES/dome-2/etc/skynode/cluster.key"
for machine in dome-1 dome-2; do ssh "$machine" systemctl restart skynode; done

# The operator's own machine, with nothing of the cluster but its names.
hostname admin
mount --bind "$MACHINES/admin/etc" /etc
cd "$MACHINES/admin"

# Waits until a machine lists both nodes. The words are those of the command that lists them.
both() {
    for _ in $(seq 600); do
        [ "$(ssh "$1" "$2 2>/dev/null" | grep -c '^dome-')" = 2 ] && return
        sleep 0.1
    done
    echo "$1 does not list both nodes: $2" >&2
    ssh "$1" "$2" >&2
    return 1
}
. "$script"
# The namespace of processes ends with this one, and the nodes with it.
