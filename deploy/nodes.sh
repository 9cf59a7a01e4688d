# For scripts that run nodes on this machine: sourced, not run. The script sets `logs`, a folder of its own which goes at the
# end, and adds to `nodes` the process of each node that it starts; each writes to a .log in the folder, which is shown if
# the script fails.
#
#     logs=$(mktemp -d)
#     . deploy/nodes.sh

nodes=()

fail() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# A group of the script's own, so that its nodes neither find nor disturb a cluster that runs already.
group="239.255.83.$((RANDOM % 200 + 20)):$((RANDOM % 20000 + 30000))"

# listens NAME PID: waits until the node of that process, which writes to NAME.out and NAME.log, listens.
listens() {
    local _
    for _ in $(seq 100); do
        if grep -q listening "$logs/$1.out"; then return; fi
        kill -0 "$2" 2>/dev/null || fail "$1 did not start"
        sleep 0.1
    done
    fail "$1 does not listen"
}

# The address for commands of a node that listens.
address_of() { sed -n 's/.* listening on //p' "$logs/$1.out"; }

# The port of HTTP of a node that was started with `--http 127.0.0.1:0 --log-level info`: it is in the log.
http_port_of() {
    local _
    for _ in $(seq 100); do
        if grep -q ' http$' "$logs/$1.log"; then break; fi
        sleep 0.1
    done
    sed -n 's/.* address=.*:\([0-9]*\) .* http$/\1/p' "$logs/$1.log" | grep . || fail "$1 does not answer HTTP"
}

# Stops the nodes, in order first and by force after five seconds. Their workers end with them.
stop_nodes() {
    local pid
    for pid in ${nodes[@]+"${nodes[@]}"}; do kill -TERM "$pid" 2>/dev/null || true; done
    for pid in ${nodes[@]+"${nodes[@]}"}; do
        for _ in $(seq 50); do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.1
        done
        kill -KILL "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    nodes=()
}

finish() {
    local status=$? log
    trap - EXIT INT TERM
    stop_nodes
    if [ $status -ne 0 ]; then
        for log in "$logs"/*.log; do [ -s "$log" ] && sed "s|^|  $(basename "$log" .log): |" "$log" >&2; done
    fi
    rm -rf "$logs"
    exit $status
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
