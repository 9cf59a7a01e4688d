#!/usr/bin/env bash
# Tries skynode.sbatch on a Slurm of its own: slurmctld, three slurmd on three hosts and munged, all on this machine.
#
#     sudo Tests/Trials/slurm/try.sh [PROGRAM]
#
# A host is a network namespace on a bridge, with a name, an address and a /tmp of its own, so that Slurm needs not be
# built for several slurmd on one machine. All of it lives in namespaces of this process, as in Tests/Trials/lab:
# nothing crosses into the machine's own network, its Slurm, if it has one, is not touched, and the kernel takes every
# process away with this one, however it ends. Takes four and a half minutes. Exit code 77: this machine does not allow it.
set -euo pipefail

say() { echo "try: $*"; }
fail() {
    echo "try: $*" >&2
    exit 1
}
impossible() {
    echo "try: $*" >&2
    exit 77
}

# Debian's packages, where programs are missing. Their services are not started: this has its own.
install_missing() {
    local missing=() pair policy=/usr/sbin/policy-rc.d
    for pair in slurmctld:slurmctld slurmd:slurmd sbatch:slurm-client munged:munge ip:iproute2; do
        command -v "${pair%%:*}" >/dev/null 2>&1 || missing+=("${pair#*:}")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    command -v apt-get >/dev/null 2>&1 || impossible "needs ${missing[*]}, and this is not a Debian"
    say "installing ${missing[*]}"
    if [ ! -e $policy ]; then
        trap 'rm -f /usr/sbin/policy-rc.d' EXIT
        printf '#!/bin/sh\nexit 101\n' >$policy
        chmod 755 $policy
    fi
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${missing[@]}" >/dev/null
    if [ -n "$(trap -p EXIT)" ]; then
        rm -f $policy
        trap - EXIT
    fi
}

if [ "${1-}" != --inside ]; then
    [ "$(id -u)" = 0 ] || impossible "needs root, for namespaces and slurmd"
    root=$(dirname "$0")/../../..
    program=${1:-$root/.build/release/skynode}
    script=$root/deploy/slurm/skynode.sbatch
    [ -x "$program" ] || fail "no program at $program; make release builds it"
    unshare --mount --net --pid --uts --fork true 2>/dev/null || impossible "namespaces are not allowed here"
    install_missing
    # Folders of runs that were killed.
    for old in /var/tmp/skynode-slurm-*/pid; do
        [ ! -e "$old" ] || kill -0 "$(<"$old")" 2>/dev/null || rm -rf "${old%/pid}"
    done
    # Not below /tmp, of which every host has its own.
    folder=$(mktemp -d /var/tmp/skynode-slurm-XXXXXX)
    echo $$ >"$folder/pid"
    setpriv --pdeathsig KILL unshare --mount --net --pid --uts --fork --kill-child=SIGKILL --mount-proc \
        -- "$0" --inside "$folder" "$(realpath "$program")" "$(realpath "$script")" </dev/null &
    child=$!
    trap 'kill -KILL $child 2>/dev/null || true; wait $child 2>/dev/null || true; rm -rf "$folder"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    wait $child
    exit 0
fi
# The folder it was called in may be hidden on the hosts.
cd /
folder=$2
program=$folder/skynode
hosts=(n1 n2 n3)
kill_wait=15

# Users' part: what all hosts have under one path, as home directories are.
home=$folder/home
user=65534
chmod 711 "$folder"
install -d -o $user -g $user "$home"
install -m 755 "$3" "$program"
install -m 644 "$4" "$home/skynode.sbatch"
export SLURM_CONF=$folder/slurm.conf

user_prefix=(setpriv --reuid="$user" --regid="$user" --clear-groups env HOME="$home" SKYNET_PROGRAM="$program")
as_user() { "${user_prefix[@]}" "$@"; }

make_network() {
    local number=0 host
    hostname head
    mkdir -p /run/netns
    mount -t tmpfs tmpfs /run/netns
    ip link set lo up
    ip link add slurm type bridge
    ip addr add 10.84.0.254/24 dev slurm
    ip link set slurm up
    printf '127.0.0.1 localhost\n10.84.0.254 head\n' >"$folder/hosts"
    for host in "${hosts[@]}"; do
        number=$((number + 1))
        ip netns add "$host"
        ip link add "v$number" type veth peer name eth0 netns "$host"
        ip link set "v$number" master slurm up
        ip -n "$host" link set lo up
        ip -n "$host" addr add "10.84.0.$number/24" dev eth0
        ip -n "$host" link set eth0 up
        # As Debian's installer has it: a host's own name is an address of loopback. Slurm knows better.
        printf '127.0.0.1 localhost\n127.0.1.1 %s\n10.84.0.254 head\n' "$host" >"$folder/hosts.$host"
        echo "10.84.0.$number $host" >>"$folder/hosts"
    done
    for host in "${hosts[@]}"; do grep ' n[0-9]$' "$folder/hosts" | grep -v " $host$" >>"$folder/hosts.$host"; done
    mount --bind "$folder/hosts" /etc/hosts
}

configure() {
    local number
    mkdir "$folder/state" "$folder/cgroup" "$folder/munge"
    # A key for this purpose; munged insists on modes.
    head -c 128 /dev/urandom >"$folder/munge/key"
    chmod 400 "$folder/munge/key"
    # slurmd asks for control groups even where it is to use none. An empty folder will do.
    mount -t tmpfs tmpfs "$folder/cgroup"
    printf 'CgroupPlugin=cgroup/v1\nCgroupMountpoint=%s\n' "$folder/cgroup" >"$folder/cgroup.conf"
    cat >"$SLURM_CONF" <<-CONF
	ClusterName=try
	SlurmctldHost=head(10.84.0.254)
	SlurmUser=root
	SlurmdUser=root
	AuthType=auth/munge
	AuthInfo=socket=$folder/munge/socket
	CredType=cred/munge
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	JobAcctGatherType=jobacct_gather/none
	AccountingStorageType=accounting_storage/none
	MpiDefault=none
	SelectType=select/cons_tres
	SelectTypeParameters=CR_Core
	SlurmdParameters=config_overrides
	SchedulerParameters=bf_interval=1,sched_min_interval=100000,batch_sched_delay=0
	KillWait=$kill_wait
	MinJobAge=300
	SlurmctldPidFile=$folder/slurmctld.pid
	SlurmctldLogFile=$folder/slurmctld.log
	StateSaveLocation=$folder/state
	SlurmdPidFile=$folder/%n/slurmd.pid
	SlurmdSpoolDir=$folder/%n
	SlurmdLogFile=$folder/%n/slurmd.log
	CONF
    for number in 1 2 3; do echo "NodeName=n$number NodeAddr=10.84.0.$number CPUs=2" >>"$SLURM_CONF"; done
    echo "PartitionName=all Nodes=n[1-3] Default=YES MaxTime=UNLIMITED" >>"$SLURM_CONF"
}

start_daemons() {
    local host
    munged --foreground --key-file "$folder/munge/key" --socket "$folder/munge/socket" \
        --pid-file "$folder/munge/pid" --log-file "$folder/munge/log" --seed-file "$folder/munge/seed" \
        >"$folder/munge/out" 2>&1 &
    slurmctld -D >"$folder/slurmctld.out" 2>&1 &
    for host in "${hosts[@]}"; do
        mkdir "$folder/$host"
        # shellcheck disable=SC2016 # for the other shell
        nsenter --net="/run/netns/$host" unshare --uts --mount sh -c '
            hostname "$1" && mount --bind "$2" /etc/hosts && mount -t tmpfs -o mode=1777 tmpfs /tmp && exec slurmd -D' \
            sh "$host" "$folder/hosts.$host" >"$folder/$host/out" 2>&1 &
        slurmd[$host]=$!
    done
    for _ in $(seq 300); do
        [ "$(sinfo --noheader --states=idle --format=%D 2>/dev/null)" = ${#hosts[@]} ] && return 0
        sleep 0.1
    done
    fail "Slurm does not start: $(grep -h error "$folder"/*/slurmd.log "$folder/slurmctld.log" | tail -n 1)"
}

# Submits the script with OPTIONS -- ARGUMENTS; the job's number is in $job.
submit() {
    local options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    job=$(cd "$home" && as_user sbatch --parsable --nodes=3 --cpus-per-task=2 "${options[@]}" skynode.sbatch "$@")
    output=$home/skynode-$job.out
    logs=$home/skynode-$job
}

field() { scontrol show job "$job" --oneliner | tr ' ' '\n' | sed -n "s/^$1=//p" | head -n 1; }

# Until the job is over and its processes are gone: SECONDS at most.
await_end() {
    local state
    for _ in $(seq $(($1 * 10))); do
        state=$(squeue --noheader --job="$job" --states=all --format=%T)
        case $state in COMPLETED | FAILED | CANCELLED | TIMEOUT | NODE_FAIL | PREEMPTED) return 0 ;; esac
        sleep 0.1
    done
    fail "job $job is still $(field JobState) after $1 s"
}

await_nodes() {
    for _ in $(seq 400); do
        grep -q 'nodes on n\[1-3\]: ' "$output" 2>/dev/null && return 0
        sleep 0.1
    done
    fail "job $job has no three nodes"
}

client() { as_user "$program" "$@" --node "$(<"$logs/address")" --cluster-key "$logs/cluster.key"; }

# Milliseconds since 1970.
now() { date +%s%3N; }

# After each job: every node said how it ended, and nothing of the job is on any host.
check_ends() {
    local host log=${1:-.log}
    for host in "${hosts[@]}"; do
        grep -q "$host: the node ended with exit code 0, .* after it was told to" "$logs/$host$log" ||
            fail "the node of $host did not end in order: $(tail -n 1 "$logs/$host$log")"
        [ -z "$(nsenter --target="${slurmd[$host]}" --mount ls /tmp)" ] || fail "something is left in /tmp of $host"
        ! pgrep -f "$program serve --name $host " >/dev/null || fail "a node is left on $host"
    done
    [ ! -e "$logs/cluster.key" ] || fail "the key is still there"
}

# Prints the last lines of the nodes' logs.
tell_ends() { tail -q -n 1 "$logs"/n?"${1-.log}" | sed 's/^skynode.sbatch: /  /'; }

scan_with_command() {
    local host
    echo "== a job with a command: a scan over all nodes"
    (cd "$home" && as_user "$program" synthesize sky.fits --width 4096 --height 4096 --seed 7 >/dev/null)
    submit -- scan sky.fits --sector 512 -o results --truth sky_truth.csv
    await_end 120
    [ "$(field ExitCode)" = 0:0 ] || fail "it ended with $(field ExitCode): $(tail -n 1 "$output")"
    sed -n '/sources in/,/^  n3/p' "$output"
    [ -s "$home/results/sky.csv" ] || fail "there is no catalogue"
    for host in "${hosts[@]}"; do
        grep -Eq "^  $host +[1-9]" "$output" || fail "no task ran on $host"
    done
    check_ends
    tell_ends
    say "job $job took $(field RunTime), of which $(wc -l <"$home/results/sky.csv") lines of catalogue came"
}

image_of_one_host() {
    echo "== an image that only the first host has"
    nsenter --target="${slurmd[n1]}" --mount mkdir /tmp/images
    nsenter --target="${slurmd[n1]}" --mount cp "$home/sky.fits" /tmp/images/
    submit -- scan /tmp/images/sky.fits --sector 512 -o results-one --no-picture
    await_end 120
    nsenter --target="${slurmd[n1]}" --mount rm -r /tmp/images
    [ "$(field ExitCode)" = 0:0 ] || fail "it ended with $(field ExitCode): $(tail -n 1 "$output")"
    sed -n '/sectors scanned/,/^  n3/p' "$output"
    cmp "$home/results/sky.csv" "$home/results-one/sky.csv" || fail "it has another catalogue"
    check_ends
    say "the same catalogue"
}

# What a requeued job has of it, if it is told to.
results_are_kept() {
    local try
    echo "== the same scan in two jobs, with a folder that stays (SKYNODE_DATA)"
    export SKYNODE_DATA=$home/kept
    for try in 1 2; do
        submit -- scan sky.fits --sector 512 -o "results-kept-$try" --no-picture
        await_end 60
        [ "$(field ExitCode)" = 0:0 ] || fail "it ended with $(field ExitCode): $(tail -n 1 "$output")"
        check_ends
        sed -n '2,$p' "$output"
    done
    unset SKYNODE_DATA
    grep -q '^  earlier results  64$' "$output" || fail "the second job did not take the first one's results"
    cmp "$home/results-kept-1/sky.csv" "$home/results-kept-2/sky.csv" || fail "it has another catalogue"
}

failing_command() {
    echo "== a command that fails"
    submit -- scan missing.fits
    await_end 60
    [ "$(field ExitCode)" = 2:0 ] || fail "it ended with $(field ExitCode), not with 2"
    check_ends
    say "its exit code is the job's: $(field ExitCode)"
}

faults() {
    local line
    echo "== faults are one line"
    job=$(cd "$home" && as_user env SKYNET_PROGRAM=/nowhere/skynode sbatch --parsable --nodes=3 skynode.sbatch)
    output=$home/skynode-$job.out
    await_end 30
    line=$(<"$output")
    say "$line"
    [ "$line" = "skynode.sbatch: there is no program /nowhere/skynode on n1" ] || fail "that is not what was expected"
    job=$(cd "$home" && as_user env SKYNODE_SLOTS=none sbatch --parsable --nodes=3 skynode.sbatch)
    output=$home/skynode-$job.out
    await_end 30
    line=$(<"$output")
    say "$line"
    [ "$(wc -l <"$output")" = 1 ] || fail "that is not one line"
}

# A job of nodes only, with work of two seconds a task from outside for longer than it lives.
start_with_work() {
    submit "$@" --
    await_nodes
    [ "$(stat --format=%a "$logs/cluster.key")" = 600 ] || fail "others can read the key"
    client simulate --tasks 1000 --duration 2s --detach >/dev/null
    sleep 3
    client nodes | sed 's/^/  /'
    [ "$(client nodes --format json | grep -c '"running":2,')" = 3 ] || fail "not all slots have work"
}

# Cancels the job and waits for its end. Sets `took`, in milliseconds.
cancel() {
    local began
    began=$(now)
    as_user scancel "$job"
    await_end $((kill_wait + 10))
    took=$(($(now) - began))
    check_ends
    tell_ends
    [ $took -lt $((kill_wait * 1000)) ] || fail "it took $took ms, more than KillWait"
}

cancelled() {
    local took
    echo "== cancelled (scancel) with tasks running"
    start_with_work
    cancel
    grep -q 'stopping; what runs may go on for a while' "$logs/n2.log" || fail "n2 had nothing to drain"
    say "$(field JobState), after $took ms (KillWait is $kill_wait s)"
}

stopped_in_order() {
    local began took
    echo "== stopped in order (scancel --batch --signal=TERM) with tasks running"
    start_with_work
    began=$(now)
    as_user scancel --batch --signal=TERM "$job"
    await_end $((2 * kill_wait))
    took=$(($(now) - began))
    check_ends
    tell_ends
    [ "$(field ExitCode)" = 0:0 ] || fail "it ended with $(field ExitCode): $(tail -n 1 "$output")"
    say "$(field JobState), after $took ms"
}

# A large scan as the job's command, of which some is done.
start_with_scan() {
    [ -e "$home/large.fits" ] ||
        (cd "$home" && as_user "$program" synthesize large.fits --width 8192 --height 8192 --seed 8 >/dev/null)
    submit -- scan large.fits --sector 512 -o "$1" --no-picture --verbose --keep-partial
    await_nodes
    for _ in $(seq 300); do
        [ "$(grep -c 'Completed: sector' "$output")" -ge 8 ] && return 0
        sleep 0.1
    done
    fail "the scan of job $job does not begin"
}

# With scans, whose workers are processes: in order, no worker is killed.
stopped_in_a_scan() {
    local killed
    echo "== stopped in order in the middle of a scan"
    start_with_scan results-stopped
    as_user scancel --batch --signal=TERM "$job"
    await_end 60
    check_ends
    tell_ends
    killed=$(grep -c 'killed by signal' "$output") || true
    say "exit code $(field ExitCode), $killed workers killed, $(grep -c 'Completed: sector' "$output") sectors done"
    [ "$(field ExitCode)" = 130:0 ] || fail "130 was expected"
    [ "$killed" = 0 ] || fail "workers were killed"
    [ -s "$home/results-stopped/large.csv" ] || fail "what was done was not written"
}

# By scancel, Slurm sends workers SIGTERM too, which they do not mind, and the first node at once.
cancelled_in_a_scan() {
    local took
    echo "== cancelled (scancel) in the middle of a scan"
    start_with_scan results-cancelled
    cancel
    grep '^skynode: ' "$output" | tail -n 1 | sed 's/^/  /'
    say "$(field JobState), after $took ms; $(grep -c 'killed by signal' "$output" || true) workers killed;" \
        "written: $(find "$home/results-cancelled" -type f -printf '%f ' 2>/dev/null || true)"
}

a_node_dies() {
    echo "== a node dies in the middle of a command"
    submit -- simulate --tasks 40 --duration 500ms
    await_nodes
    sleep 1.5
    # Of this process namespace, which has no others.
    pkill -KILL -f "^$program serve --name n3 " || fail "there is no node on n3"
    await_end 60
    [ "$(field ExitCode)" = 0:0 ] || fail "it ended with $(field ExitCode): $(tail -n 1 "$output")"
    tell_ends
    say "$(grep ' of 40 ' "$output" | tail -n 1)"
    grep -q 'n3: the node ended by itself, with exit code 137' "$logs/n3.log" || fail "n3 says something else"
}

requeued() {
    echo "== requeued in the middle, as by preemption"
    submit -- simulate --tasks 30 --duration 1s
    await_nodes
    sleep 2
    scontrol requeue "$job"
    # Slurm begins it again when it has forgotten the first try, and two minutes have passed; not with this.
    for _ in $(seq 600); do
        [ "$(field JobState)" != PENDING ] || scontrol update jobid="$job" starttime=now 2>/dev/null || true
        [ -e "$logs/n3.1.log" ] && break
        sleep 0.5
    done
    await_end 120
    [ "$(field ExitCode)" = 0:0 ] || fail "it ended with $(field ExitCode): $(tail -n 1 "$output")"
    check_ends
    check_ends .1.log
    tell_ends .1.log
    say "the second try: $(grep ' of 30 ' "$output" | tail -n 1); logs: $(cd "$logs" && echo *)"
}

time_limit() {
    local ends limit
    echo "== a job that reaches its time limit (three minutes), with tasks running"
    start_with_work --time=3
    limit=$(date -d "$(field EndTime)" +%s)
    await_end 240
    ends=$(date -d "$(field EndTime)" +%s)
    check_ends
    tell_ends
    [ "$(field ExitCode)" = 0:0 ] || fail "it ended with $(field ExitCode): $(tail -n 1 "$output")"
    say "$(field JobState), $((limit - ends)) s before the limit"
    [ "$ends" -le "$limit" ] || fail "it outlived its limit"
}

# Where a cluster's users leave out the signal before the limit: Slurm's own comes at the limit, to every process.
time_limit_without_warning() {
    local limit
    echo "== the same (one minute), without the signal before"
    start_with_work --time=1 --signal=CONT@1
    limit=$(date -d "$(field EndTime)" +%s)
    await_end 180
    check_ends
    tell_ends
    say "$(field JobState), all gone $(($(date +%s) - limit)) s after the limit (Slurm looks every 30 s)"
    [ "$(field JobState)" = TIMEOUT ] || fail "it should have been ended by its limit"
}

# As a part of a cluster that goes on without it.
joined_to_a_cluster() {
    local dome address
    echo "== nodes that join a cluster that is there already, with its key; jobs kept in a folder"
    as_user "$program" key new --output "$home/own.key" >/dev/null
    # Not by the function, so that the process is the node itself.
    "${user_prefix[@]}" "$program" serve --name dome --listen 10.84.0.254:0 --no-multicast --http none --slots 1 \
        --data "$home/dome" --cluster-key "$home/own.key" >"$home/dome.out" 2>&1 &
    dome=$!
    until address=$(sed -n 's/.* listening on //p' "$home/dome.out") && [ -n "$address" ]; do sleep 0.1; done
    export SKYNODE_JOIN=$address SKYNODE_CLUSTER_KEY=own.key SKYNODE_DATA=$home/jobs SKYNET_PORT=7777
    submit -- nodes
    unset SKYNODE_JOIN SKYNODE_CLUSTER_KEY SKYNODE_DATA SKYNET_PORT
    await_end 60
    sed 's/^/  /' "$output"
    [ "$(grep -Ec '^(dome|n[123]) .*alive' "$output")" = 4 ] || fail "four nodes were expected"
    [ "$(grep -c '^n[123] .*:7777 ' "$output")" = 3 ] || fail "not all have the port that was asked for"
    check_ends
    [ -s "$home/own.key" ] || fail "the key was deleted"
    [ "$(cd "$home/jobs" && echo n?)" = "n1 n2 n3" ] || fail "the folders of jobs are not there"
    kill -TERM $dome
    wait $dome || fail "the node of the cluster ended with exit code $?"
}

one_host() {
    echo "== one host, all of it"
    job=$(cd "$home" && as_user sbatch --parsable --nodes=1 --exclusive skynode.sbatch nodes --format json)
    output=$home/skynode-$job.out
    await_end 30
    grep -q '"slots":2,' "$output" || fail "a node of two slots was expected: $(<"$output")"
    say "$(grep -o '"slots":2' "$output"), exit code $(field ExitCode)"
}

declare -A slurmd=()
job=
output=
logs=

# What led to it, where something failed.
explain() {
    local status=$?
    [ $status = 0 ] && return
    [ -z "$job" ] || { scontrol show job "$job" | sed 's/^/  /' >&2; tail -n 20 "$output" "$logs"/*.log >&2; } || true
    tail -n 5 "$folder"/slurmctld.log "$folder"/n?/slurmd.log >&2 || true
}
trap explain EXIT

began=$SECONDS
make_network
configure
start_daemons
say "$(slurmd -V): $(sinfo --noheader --format='%D hosts, %N, %c CPUs each')"
# Some of them by name, for whoever works on this: TRY_ONLY="cancelled requeued".
parts=${TRY_ONLY:-scan_with_command image_of_one_host results_are_kept failing_command faults cancelled
    stopped_in_order stopped_in_a_scan cancelled_in_a_scan a_node_dies requeued joined_to_a_cluster one_host
    time_limit time_limit_without_warning}
for part in $parts; do $part; done
say "all is well, after $((SECONDS - began)) s"
