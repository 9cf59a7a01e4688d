import Base
import SkyCore
import Transport

/// The metrics that Prometheus reads.
extension API {
    /// All metrics that are known in time. All parts are asked at the same time, and each is waited for as long as a healthy part
    /// takes. Parts that are missing are named.
    func prometheus() async -> String {
        var text = PrometheusText()
        text.add(
            "skynode_build_info", "The program and the node, as labels of 1.", "gauge",
            [(["version": SkyNetVersion.current, "node": parts.system.name], 1)])
        async let askedHealth = parts.health.value()
        async let askedJobs = parts.jobs.value()
        async let askedStorage = parts.storage.value()
        let (health, jobs, storage) = await (askedHealth, askedJobs ?? nil, askedStorage ?? nil)
        text.add(
            "skynode_part_missing", "Whether a part of the node did not answer in time, and its metrics are missing.",
            "gauge",
            series(
                "part",
                [("node", health == nil), ("jobs", jobs == nil), ("journal", storage == nil)].map { ($0, $1 ? 1 : 0) }))
        if let health {
            let gauges: [(String, String, Int)] = [
                ("skynode_slots", "Tasks that may run at once.", health.slots),
                ("skynode_tasks_running", "Tasks that run.", health.running),
                ("skynode_nodes", "Nodes in the cluster, this one among them.", health.nodes),
                ("skynode_draining", "Whether it takes no new work.", health.isReady ? 0 : 1),
                ("skynode_paused", "Whether its jobs wait because nothing can be stored.", health.isPaused ? 1 : 0),
            ]
            for (name, help, value) in gauges { text.add(name, help, "gauge", [([:], Double(value))]) }
            text.add(
                "skynode_attempts_total", "Tries of tasks that ended on this node, by how.", "counter",
                series(
                    "result",
                    [
                        ("completed", health.attempts.completed), ("fault", health.attempts.faults),
                        ("crash", health.attempts.crashes), ("bad_input", health.attempts.badInputs),
                        ("unavailable", health.attempts.unavailable),
                    ]))
            text.add(
                "skynode_tasks_total", "Tasks of the jobs that this node coordinates, by what became of them.",
                "counter",
                series(
                    "result",
                    [
                        ("completed", health.tasks.completed), ("cached", health.tasks.cached),
                        ("failed", health.tasks.failed),
                    ]))
            text.add(
                "skynode_task_retries_total", "Further tries of tasks of those jobs.", "counter",
                [([:], Double(health.tasks.retries))])
            if let copies = health.copies { add(copies, to: &text) }
        }
        text.add(
            "skynode_clock_offset_seconds", "How far another node's clock is ahead of this one's.", "gauge",
            clockOffsets().map { (["node": $0.key], $0.value) })
        let members = parts.system.members
        text.add(
            "skynode_members", "Other nodes of the cluster, by how they are.", "gauge",
            series(
                "state", NodeLine.states.map { state in (state, members.count { NodeLine.state($0) == state }) }))
        if let jobs {
            let states = Dictionary(grouping: jobs) { JobTable.state($0) }.mapValues(\.count)
            text.add(
                "skynode_jobs", "Jobs that this node coordinates or remembers, by state.", "gauge",
                series(
                    "state",
                    ["running", "paused", "done", "failed", "cancelled", "badInput"].map { state in
                        (state == "badInput" ? "bad_input" : state, states[state] ?? 0)
                    }))
        }
        if let storage {
            text.add("skynode_journal_bytes", "What jobs and results take.", "gauge", [([:], Double(storage.bytes))])
            text.add("skynode_journal_limit_bytes", "What they may take.", "gauge", [([:], Double(storage.limit))])
            text.add(
                "skynode_cache_bytes", "Earlier results among that, which answer later tasks.", "gauge",
                [([:], Double(storage.cacheBytes))])
            text.add(
                "skynode_cache_limit_bytes", "What they may take.", "gauge", [([:], Double(storage.cacheLimit))])
            text.add(
                "skynode_cache_lookups_total", "Tasks that were looked for among earlier results.", "counter",
                series("result", [("hit", storage.hits), ("miss", storage.misses)]))
            text.add(
                "skynode_cache_evictions_total", "Earlier results that made room for later ones.", "counter",
                [([:], Double(storage.evictions))])
        }
        let usage = ProcessUsage()
        text.add(
            "process_cpu_seconds_total", "Processor time of the daemon, without its workers.", "counter",
            [([:], usage.processor)])
        text.add("process_resident_memory_bytes", "Memory of the daemon.", "gauge", [([:], usage.residentBytes)])
        text.add("process_open_fds", "Open file descriptors of the daemon.", "gauge", [([:], usage.descriptors)])
        text.add("process_max_fds", "How many it may have.", "gauge", [([:], usage.descriptorLimit)])
        text.add(
            "process_start_time_seconds", "When it started, since 1970.", "gauge", [([:], started)])
        text.add(
            "skynode_http_responses_total", "Answers to HTTP requests, by status.", "counter",
            series("status", answered.sorted { $0.key < $1.key }.map { ("\($0.key)", $0.value) }))
        text.add(
            "skynode_http_connections", "Connections of HTTP clients.", "gauge", [([:], Double(connections.count))])
        let ended = connections.counts
        text.add(
            "skynode_http_connections_ended_total", "Connections of HTTP clients that the node ended, by why.",
            "counter",
            series(
                "reason",
                [
                    ("refused", ended.refused), ("crowded_out", ended.crowdedOut), ("late", ended.late),
                    ("idle", ended.idle), ("stalled", ended.stalled),
                ]))
        text.add(metrics)
        return text.text
    }

    private func add(_ copies: CopyHealth, to text: inout PrometheusText) {
        let gauges: [(String, String, Double)] = [
            (
                "skynode_copies_wanted", "Other nodes that are to keep a copy of this node's jobs.",
                Double(copies.wanted)
            ),
            ("skynode_copies_kept", "Other nodes that keep one, and answer.", Double(copies.kept)),
            (
                "skynode_copies_behind_batches", "What the copy that is furthest behind lacks.",
                Double(copies.batchesBehind)
            ),
            (
                "skynode_copies_behind_seconds", "For how long that copy has lacked something.", copies.secondsBehind
            ),
            ("skynode_copies_term", "How often this node's jobs have changed hands at most.", Double(copies.term)),
            (
                "skynode_copies_waiting",
                "Coordinators that wait because too few nodes that keep their jobs answer.", Double(copies.waiting)
            ),
        ]
        for (name, help, value) in gauges { text.add(name, help, "gauge", [([:], value)]) }
        text.add(
            "skynode_takeovers_total", "Coordinators of other nodes that this node has taken over.", "counter",
            [([:], Double(copies.takeovers))])
        text.add(
            "skynode_copies_damaged_total", "Copies of other nodes' jobs that were damaged here and are made anew.",
            "counter", [([:], Double(copies.damages))])
    }

    private func series(_ label: String, _ values: [(String, Int)]) -> [(labels: [String: String], value: Double)] {
        values.map { ([label: $0.0], Double($0.1)) }
    }

    /// The clock offsets by the names of the nodes, in order. Where several nodes have one name, the one that is furthest off
    /// counts.
    private func clockOffsets() -> [(key: String, value: Double)] {
        let known = parts.system.members.compactMap { member in
            parts.system.clockOffset(of: member.node).map { (member.name, $0.inSeconds) }
        }
        return Dictionary(known) { abs($0) > abs($1) ? $0 : $1 }.sorted { $0.key < $1.key }
    }
}
