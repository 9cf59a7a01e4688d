#!/usr/bin/env bash
# A network of hosts on this machine, each in a network namespace of its own with its own addresses, on one bridge, and a
# node on each. Commands come from standard input, one a line; "help" lists them. Needs root.
#
#     Tests/Trials/lab/lab.sh [--hosts N] [--program skynode] [--slots N] [--watch] [--files FOLDER] [-- OPTIONS OF serve]
#
# All of it lives in namespaces of this process: nothing crosses into the machine's own network, and the kernel takes
# everything away with the process, however it ends.
set -euo pipefail

say() { echo "lab: $*" >&2; }
# Exit code 77: this machine does not allow it. Tests take that for a reason to skip.
impossible() {
    say "$*"
    exit 77
}

if [ "${1-}" != --inside ]; then
    [ "$(id -u)" = 0 ] || impossible "needs root, to make network namespaces"
    for tool in unshare setpriv ip nft tc; do
        command -v $tool >/dev/null 2>&1 || impossible "needs $tool (apt install util-linux iproute2 nftables)"
    done
    unshare --mount --net --pid --fork true 2>/dev/null || impossible "network namespaces are not allowed here"
    # Folders of labs that were killed.
    for old in /tmp/skynet-lab-*/pid; do
        [ ! -e "$old" ] || kill -0 "$(<"$old")" 2>/dev/null || rm -rf "${old%/pid}"
    done
    folder=$(mktemp -d /tmp/skynet-lab-XXXXXX)
    echo $$ >"$folder/pid"
    # unshare itself ignores SIGTERM; and a signal kept from it by its end must not leave the rest behind.
    setpriv --pdeathsig KILL unshare --mount --net --pid --fork --kill-child=SIGKILL --mount-proc \
        -- "$0" --inside "$folder" "$@" <&0 &
    child=$!
    trap 'kill -KILL $child 2>/dev/null || true; wait $child 2>/dev/null || true; rm -rf "$folder"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    wait $child
    exit 0
fi
folder=$2
shift 2

hosts=3
program=$(dirname "$0")/../../../.build/release/skynode
slots=2
watch=
files=
while [ $# -gt 0 ]; do
    case $1 in
        --hosts) hosts=$2; shift ;;
        --program) program=$2; shift ;;
        --slots) slots=$2; shift ;;
        --watch) watch=yes ;;
        # A folder that only h1 has; the others find it empty.
        --files) files=$(realpath "$2"); shift ;;
        --) shift; break ;;
        *) say "unknown option $1"; exit 2 ;;
    esac
    shift
done
options=("$@")
[[ $hosts =~ ^[0-9]+$ ]] && [ "$hosts" -ge 1 ] && [ "$hosts" -le 250 ] || { say "--hosts takes 1 to 250"; exit 2; }
[ -x "$program" ] || { say "no program at $program; make release builds it"; exit 2; }
program=$(realpath "$program")

mkdir -p /run/netns
mount -t tmpfs tmpfs /run/netns
ip link set lo up
ip link add lab type bridge mcast_snooping 0
ip link set lab up

key=$folder/cluster.key
[ -e "$key" ] || "$program" key new >"$key" 2>/dev/null
chmod 600 "$key"

last=0
declare -A node=()

in_host() {
    local host=$1
    shift
    ip netns exec "$host" "$@"
}

# Makes a host without a node.
make_host() {
    last=$((last + 1))
    local host=h$last
    ip netns add "$host"
    # Addresses are usable at once: nobody else has them.
    in_host "$host" sysctl -qw net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0 2>/dev/null || true
    ip link add "v$last" type veth peer name eth0 address "$(hardware_address $last)" netns "$host"
    ip link set "v$last" master lab up
    ip -n "$host" link set lo up
    ip -n "$host" addr add "10.83.0.$last/24" dev eth0
    ip -n "$host" link set eth0 up
    # Beacons leave by the interface they name, but a route to the group is what other tools look for.
    ip -n "$host" route add 224.0.0.0/4 dev eth0
}

hardware_address() { printf '02:00:0a:53:00:%02x' "$1"; }

# The kernel keeps 1,024 addresses of neighbours at most, those of all hosts together. What it is told does not count.
introduce() {
    local host other
    [ $last -gt 30 ] || return 0
    for ((host = 1; host <= last; host++)); do
        for ((other = 1; other <= last; other++)); do
            [ $other = $host ] || printf 'neigh replace 10.83.0.%d lladdr 02:00:0a:53:00:%02x dev eth0 nud permanent\n' $other $other
        done | ip -n "h$host" -batch -
    done
}

check() {
    local host
    for host in "$@"; do
        [[ $host =~ ^h[0-9]+$ ]] && [ "${host#h}" -ge 1 ] && [ "${host#h}" -le $last ] || {
            echo "error: there is no host $host"
            return 1
        }
    done
}

start() {
    local host=$1
    shift
    local seen=()
    # shellcheck disable=SC2016 # for the other shell
    [ -z "$files" ] || [ "$host" = h1 ] ||
        seen=(unshare --mount sh -c 'mount -t tmpfs tmpfs "$0" && exec "$@"' "$files")
    # Not by a function, so that the process is the node itself.
    ip netns exec "$host" "${seen[@]}" "$program" serve --name "$host" --listen 0.0.0.0:7420 --cluster-key "$key" --slots "$slots" --data "$folder/$host" \
        "${options[@]}" "$@" >>"$folder/$host.log" 2>&1 </dev/null &
    node[$host]=$!
    disown $!
}

# A line for every change that the host's node sees, with the host's name before it.
watch_host() {
    local host=$1
    (
        # Until the node takes connections.
        while ! in_host "$host" "$program" nodes --node 127.0.0.1:7420 --cluster-key "$key" --watch --format json \
            2>/dev/null </dev/null; do sleep 0.05; done | while IFS= read -r line; do echo "$host $line"; done
    ) &
    disown $!
}

signal() {
    local name=$1 host
    shift
    for host in "$@"; do
        [ -n "${node[$host]-}" ] || { echo "error: no node runs on $host"; return 1; }
        kill -"$name" "${node[$host]}" 2>/dev/null || { echo "error: the node of $host has ended"; return 1; }
        # Workers stop with their node, as a machine would with all that is on it.
        [ "$name" != STOP ] && [ "$name" != CONT ] || pkill -"$name" -P "${node[$host]}" 2>/dev/null || true
    done
}

# Adds a rule to a host's own firewall; heal takes all of them away.
rule() {
    local host=$1 chain=$2
    shift 2
    in_host "$host" nft -f - <<-RULES
	table inet lab {
	    chain in { type filter hook input priority 0; }
	    chain out { type filter hook output priority 0; }
	}
	add rule inet lab $chain $*
	RULES
}

heal() {
    local host
    for host in "$@"; do
        in_host "$host" nft flush ruleset
        in_host "$host" tc qdisc del dev eth0 root 2>/dev/null || true
        ip -n "$host" link set eth0 up
    done
}

address() { echo "10.83.0.${1#h}"; }

# From "h1 h2 / h3": no packet crosses the slash.
split() {
    local left=() right=() side=left word a b
    for word in "$@"; do
        if [ "$word" = / ]; then side=right; elif [ $side = left ]; then left+=("$word"); else right+=("$word"); fi
    done
    check "${left[@]}" "${right[@]}" || return 1
    for a in "${left[@]}"; do for b in "${right[@]}"; do
        rule "$a" in ip saddr "$(address "$b")" drop
        rule "$b" in ip saddr "$(address "$a")" drop
    done; done
    # Over IPv6 there are beacons only.
    for a in "${left[@]}" "${right[@]}"; do rule "$a" in meta nfproto ipv6 drop; done
}

help_text() {
    cat <<'HELP'
hosts                      lists them, with their addresses and nodes
add [N]                    makes N more hosts (1) and starts a node on each
start H... [-- OPTIONS]    starts a node where none runs, with further options of serve
stop H... | kill H...      ends a node by SIGTERM, or by SIGKILL
freeze H... | thaw H...    SIGSTOP and SIGCONT
cut H...                   takes the host off the network
drop PERCENT H...          loses that share of what comes in, at random
split H... / H...          keeps the two groups apart
nomulticast H...           lets no multicast in or out
rate RATE H...             limits what goes out, as in "rate 10mbit h1"
down H... | up H...        takes the interface down, and up again
heal [H...]                takes all of that back (all hosts)
nodes H                    what the host's node lists
watch H...                 shows every change that its node sees, as it happens
run H COMMAND...           runs a command on the host; skynode is in its PATH
spawn H COMMAND...         the same, and does not wait; each line it prints comes as "H> LINE"
log H                      what its node has logged
help, quit
HELP
}

run_command() {
    local verb=$1 host percent rate count
    shift
    case $verb in
        hosts)
            for ((count = 1; count <= last; count++)); do
                host=h$count
                if [ -n "${node[$host]-}" ] && kill -0 "${node[$host]}" 2>/dev/null; then
                    echo "$host $(address $host) ${node[$host]}"
                else
                    echo "$host $(address $host) -"
                fi
            done
            ;;
        add)
            for ((count = 0; count < ${1:-1}; count++)); do
                [ $last -lt 250 ] || { echo "error: 250 hosts are the most"; return; }
                make_host
                introduce
                start h$last
                [ -z "$watch" ] || watch_host h$last
            done
            ;;
        start)
            local starting=()
            while [ $# -gt 0 ] && [ "$1" != -- ]; do starting+=("$1"); shift; done
            check "${starting[@]}" || return 0
            for host in "${starting[@]}"; do start "$host" "${@:2}"; done
            ;;
        stop) check "$@" || return 0; signal TERM "$@" || return 0 ;;
        kill) check "$@" || return 0; signal KILL "$@" || return 0 ;;
        freeze) check "$@" || return 0; signal STOP "$@" || return 0 ;;
        thaw) check "$@" || return 0; signal CONT "$@" || return 0 ;;
        cut) check "$@" || return 0; for host in "$@"; do rule "$host" in iifname eth0 drop; rule "$host" out oifname eth0 drop; done ;;
        drop)
            percent=${1-}
            shift || true
            [[ $percent =~ ^[0-9]+$ ]] && [ "$percent" -le 100 ] || { echo "error: drop takes a percentage first"; return; }
            check "$@" || return 0
            for host in "$@"; do rule "$host" in iifname eth0 numgen random mod 100 "<" "$percent" drop; done
            ;;
        split) split "$@" || return 0 ;;
        nomulticast)
            check "$@" || return 0
            for host in "$@"; do
                rule "$host" in iifname eth0 ip daddr 224.0.0.0/4 drop
                rule "$host" out oifname eth0 ip daddr 224.0.0.0/4 drop
                # Neighbours find each other by multicast, too; that must go on.
                rule "$host" in iifname eth0 ip6 daddr ff00::/8 meta l4proto udp drop
                rule "$host" out oifname eth0 ip6 daddr ff00::/8 meta l4proto udp drop
            done
            ;;
        rate)
            rate=${1-}
            shift || true
            check "$@" || return 0
            for host in "$@"; do
                in_host "$host" tc qdisc replace dev eth0 root tbf rate "$rate" burst 64kb latency 300ms ||
                    { echo "error: no rate: $rate"; return; }
            done
            ;;
        down) check "$@" || return 0; for host in "$@"; do ip -n "$host" link set eth0 down; done ;;
        up) check "$@" || return 0; for host in "$@"; do ip -n "$host" link set eth0 up; done ;;
        heal)
            check "$@" || return 0
            # shellcheck disable=SC2046 # a list of words
            [ $# -gt 0 ] || set -- $(seq -f 'h%g' 1 $last)
            heal "$@"
            ;;
        nodes)
            check "${1-}" || return 0
            in_host "$1" "$program" nodes --node 127.0.0.1:7420 --cluster-key "$key" "${@:2}" </dev/null ||
                { echo "error: exit code $?"; return; }
            ;;
        watch) check "$@" || return 0; for host in "$@"; do watch_host "$host"; done ;;
        run)
            host=${1-}
            check "$host" || return 0
            shift
            # Relative to the caller's folder, as if the host shared the machine's disk; it does.
            PATH=$(dirname "$program"):$PATH SKYNODE_CLUSTER_KEY=$key in_host "$host" "$@" </dev/null ||
                { echo "error: exit code $?"; return; }
            ;;
        spawn)
            host=${1-}
            check "$host" || return 0
            shift
            (PATH=$(dirname "$program"):$PATH SKYNODE_CLUSTER_KEY=$key in_host "$host" "$@" </dev/null 2>&1 || true) |
                while IFS= read -r line; do echo "$host> $line"; done &
            disown $!
            ;;
        log) check "${1-}" || return 0; cat "$folder/$1.log" ;;
        help) help_text ;;
        *) echo "error: no such command: $verb (help lists them)" ; return ;;
    esac
    # Milliseconds since 1970 at which it began, for whoever measures what follows.
    [ -t 0 ] || echo "ok $began"
}

run_command_words() {
    began=$(date +%s%3N)
    run_command "$@"
}

for ((number = 0; number < hosts; number++)); do make_host; done
introduce
began=$(date +%s%3N)
for ((number = 1; number <= hosts; number++)); do start h$number; done
if [ -n "$watch" ]; then for ((number = 1; number <= hosts; number++)); do watch_host h$number; done; fi
if [ -t 0 ]; then
    echo "$hosts hosts, h1 to h$hosts; help lists the commands, Ctrl-D ends it all"
else
    echo "ready $began"
fi
while { [ ! -t 0 ] || printf 'lab> '; } && IFS= read -r line; do
    # shellcheck disable=SC2086 # words are what is wanted
    set -f && set -- $line && set +f
    [ $# -gt 0 ] || continue
    [ "$1" != quit ] || break
    run_command_words "$@"
done
