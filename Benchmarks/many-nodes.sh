#!/usr/bin/env bash
# Many nodes as processes of one machine: how soon they all know each other, and what they need while they idle.
#
#     Benchmarks/many-nodes.sh [NODES [SECONDS]]     100 nodes, 60 s; make many-nodes
#
# Fails where a node does not list all others, or one has lost another meanwhile.
set -euo pipefail
cd "$(dirname "$0")/.."

nodes=${1:-100}
seconds=${2:-60}
program=${PROGRAM:-.build/release/skynode}
[ -x "$program" ] || { echo "no program at $program; make release builds it" >&2; exit 2; }

folder=$(mktemp -d /tmp/skynet-many-XXXXXX)
pids=()
end() {
    kill -KILL "${pids[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$folder"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

"$program" key new >"$folder/key" 2>/dev/null
# A group of its own beside other clusters of this machine.
port=$((20000 + RANDOM % 10000))

now() { date +%s%3N; }
began=$(now)
for ((number = 1; number <= nodes; number++)); do
    "$program" serve --name "n$number" --listen 127.0.0.1:0 --slots 1 --cluster-key "$folder/key" \
        --data "$folder/data$number" --multicast "239.255.83.75:$port" --log-level info >"$folder/n$number.out" 2>"$folder/n$number.log" </dev/null &
    pids+=($!)
done
started=$(now)
echo "$nodes nodes started within $(((started - began))) ms"

# Processor time of the nodes so far, in clock ticks.
ticks() {
    local pid sum=0 stat
    for pid in "${pids[@]}"; do
        stat=$(<"/proc/$pid/stat") || { echo "a node has ended" >&2; exit 1; }
        # shellcheck disable=SC2086 # fields
        set -- ${stat##*) }
        sum=$((sum + ${12} + ${13}))
    done
    echo $sum
}
hertz=$(getconf CLK_TCK)

sleep 30
settled=$(ticks)
echo "processor time until 30 s after the last start: $(awk "BEGIN { printf \"%.1f\", $settled / $hertz }") s"
before=$settled
sleep "$seconds"
after=$(ticks)
idle=$(awk "BEGIN { printf \"%.3f\", ($after - $before) / $hertz / $seconds }")
echo "idle, over $seconds s: $idle of a core, all nodes together"

# Resident memory, and the share of it that is the node's own: pages of the program are shared by all.
for pid in "${pids[@]}"; do
    awk '/^Rss:/ { rss = $2 } /^Pss:/ { pss = $2 } /^Private_Dirty:/ { own = $2 } END { print rss, pss, own }' \
        "/proc/$pid/smaps_rollup"
done | awk '
    { rss += $1; pss += $2; own += $3; if ($1 > most) most = $1 }
    END {
        printf "memory of a node: resident %.1f MB (at most %.1f), of that its own share %.1f MB, written %.1f MB\n",
            rss / NR / 1024, most / 1024, pss / NR / 1024, own / NR / 1024
    }'

# What each node lists, and since when: its latest joiner joined that long ago.
latest=0
for ((number = 1; number <= nodes; number++)); do
    address=$(sed -n 's/^skynode .* listening on //p' "$folder/n$number.out")
    asked=$(now)
    "$program" nodes --node "$address" --cluster-key "$folder/key" --no-multicast --format json >"$folder/list"
    count=$(wc -l <"$folder/list")
    [ "$count" -eq "$nodes" ] || { echo "n$number lists $count of $nodes nodes" >&2; exit 1; }
    youngest=$(sed -n '/"found":"self"/d; s/.*"ageSeconds":\([0-9.e-]*\).*/\1/p' "$folder/list" | sort -g | head -n 1)
    joined=$(awk "BEGIN { printf \"%d\", $asked - $started - $youngest * 1000 }")
    [ "$joined" -le "$latest" ] || latest=$joined
done
echo "all know all $latest ms after the last start"
lost=$(cat "$folder"/n*.log | grep -c "lost" || true)
echo "lines about lost nodes: $lost"
[ "$lost" -eq 0 ]
