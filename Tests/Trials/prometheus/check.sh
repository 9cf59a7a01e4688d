#!/usr/bin/env bash
# Checks what is in deploy/prometheus against a live cluster: two nodes are started, a small job runs, and what they tell at
# /metrics is held against Prometheus's conventions, the rules and the dashboard. The rules' tests run, too. Exits
# non-zero if anything is wrong, and leaves no process behind.
#
# Usage: Tests/Trials/prometheus/check.sh [SKYNODE]
#
# promtool comes from the path, or from Debian's package, which is taken apart and not installed.
set -euo pipefail
skynode=${1:+$(realpath -m "$1")}
cd "$(dirname "$0")/../../.."

shipped=deploy/prometheus
cache=.build/promtool
folder=$(mktemp -d)
logs=$folder
. deploy/nodes.sh
http=()
secret=a-token-of-this-check

# Sets `promtool`. The package is of 19 MB; it is kept in .build for the next time.
find_promtool() {
    promtool=$(command -v promtool || true)
    [ -z "$promtool" ] || return 0
    promtool=$PWD/$cache/promtool
    [ ! -x "$promtool" ] || return 0
    command -v apt-get >/dev/null || fail "no promtool on the path, and no apt-get to have it from"
    echo "== promtool from Debian's package prometheus"
    (cd "$folder" && apt-get download -qq prometheus 2>"$folder/apt.log") \
        || fail "cannot download the package prometheus (apt-get update?): $(tail -n 1 "$folder/apt.log")"
    dpkg -x "$folder"/prometheus_*.deb "$folder/package"
    mkdir -p "$cache"
    # Under another name first, so that a script that is interrupted leaves no half of it.
    cp "$folder/package/usr/bin/promtool" "$promtool.$$"
    mv "$promtool.$$" "$promtool"
}

# Starts two nodes, so that there are links. Sets `address` to where the first one takes commands, and `http` to where
# both answer. The second wants a token, as nodes do that Prometheus reads from elsewhere.
start_nodes() {
    local number token port
    (umask 077 && echo "$secret" >"$folder/token")
    for number in 1 2; do
        token=()
        [ $number = 1 ] || token=(--http-token "$folder/token")
        setsid "$skynode" serve --name "node$number" --listen 127.0.0.1:0 --slots 1 --multicast "$group" \
            --data "$folder/data$number" --http 127.0.0.1:0 --log-level info \
            ${token[@]+"${token[@]}"} >"$folder/node$number.out" 2>"$folder/node$number.log" &
        nodes+=($!)
    done
    for number in 1 2; do
        listens "node$number" "${nodes[$((number - 1))]}"
        port=$(http_port_of "node$number")
        http+=("http://127.0.0.1:$port")
    done
    address=$(address_of node1)
    for _ in $(seq 100); do
        [ "$("$skynode" nodes --node "$address" --format json | wc -l)" = 2 ] && return 0
        sleep 0.1
    done
    fail "the nodes did not find each other by multicast on lo"
}

# Has both ways to be refused counted: 403 for a change where no token is set, 401 for a question without it.
be_refused() {
    local status
    status=$(curl -sS -o /dev/null -w '%{http_code}' -X DELETE "${http[0]}/v1/jobs/0000000000000000")
    status+=" $(curl -sS -o /dev/null -w '%{http_code}' "${http[1]}/metrics")"
    [ "$status" = "403 401" ] || fail "requests without a token were answered with $status"
}

# Prometheus reads files that are beside its configuration, and the example names some that an operator has to make.
check_configuration() {
    mkdir "$folder/etc"
    cp $shipped/prometheus.yml $shipped/skynode.rules.yml "$folder/etc"
    echo "$secret" >"$folder/etc/skynode.token"
    "$promtool" check config "$folder/etc/prometheus.yml"
}

[ -n "$skynode" ] || skynode=.build/release/skynode
[ -x "$skynode" ] || fail "$skynode is no program; build it (make release), or name another"
for tool in python3 curl; do command -v $tool >/dev/null || fail "needs $tool"; done
find_promtool

echo "== rules and configuration"
"$promtool" check rules $shipped/skynode.rules.yml
check_configuration
"$promtool" test rules $shipped/skynode.rules.test.yml

echo "== two nodes and a job"
start_nodes
# Every fourth task fails once, so that both outcomes are counted.
"$skynode" simulate --tasks 12 --duration 50ms --fail-every 4 --node "$address" >"$folder/job" 2>&1 \
    || fail "the job failed: $(tail -n 1 "$folder/job")"
be_refused
# Pings, which are measured, come when a link has been silent for a while.
for _ in $(seq 50); do
    curl -sSf -o "$folder/metrics1" "${http[0]}/metrics"
    grep -q '^skynode_clock_offset_seconds{' "$folder/metrics1" \
        && grep -q '^skynode_transport_round_trip_seconds_count ' "$folder/metrics1" && break
    sleep 0.2
done
curl -sSf -o "$folder/metrics2" -H "Authorization: Bearer $secret" "${http[1]}/metrics"

echo "== metrics"
for number in 1 2; do
    "$promtool" check metrics <"$folder/metrics$number" || fail "the metrics are not as Prometheus wants them"
done
python3 -B Tests/Trials/prometheus/check.py --metrics "$folder/metrics1" "$folder/metrics2" \
    --rules $shipped/skynode.rules.yml --tests $shipped/skynode.rules.test.yml --dashboard $shipped/dashboard.json \
    --expressions "$folder/dashboard.rules.yml"
# The dashboard's expressions as if they were rules: promtool looks at nothing else.
"$promtool" check rules "$folder/dashboard.rules.yml" >"$folder/rules.log" 2>&1 \
    || fail "an expression of dashboard.json is wrong: $(cat "$folder/rules.log")"

stop_nodes
echo "prometheus: all is well"
