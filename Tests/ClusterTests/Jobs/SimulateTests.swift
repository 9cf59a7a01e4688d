import Foundation
import Glibc
import Testing

/// The rehearsal, in processes of its own.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(3)))) struct SimulateTests {
    @Test func `a command works alone where no node runs`() async throws {
        let ended = try await Skynode.run(
            "simulate", "--tasks", "8", "--duration", "200ms", "--slots", "4", "--no-multicast", "--format", "json")
        #expect(ended.status == 0)
        let end = try #require(ended.output.last.flatMap(EventLine.init))
        #expect(end.event == "ended" && end.state == "done" && end.completed == 8 && end.scheduled == 8)
    }

    @Test func `twenty tasks on two nodes of four slots take three rounds`() async throws {
        try await RunningCluster.with(2, slots: 4) { cluster in
            let ended = try await Skynode.run(
                "simulate", "--tasks", "20", "--duration", "1s", "--node", cluster.addresses[0], "--format", "json")
            #expect(ended.status == 0)
            let end = try #require(ended.output.last.flatMap(EventLine.init))
            #expect(end.completed == 20)
            #expect(end.nodes?.count == 2, "both nodes had a part")
            // Three rounds of one second; a fourth would mean that a slot lay idle. The job's own time, because a command
            // takes long to start where much else runs.
            let took = try #require(end.seconds)
            #expect(took >= 3 && (took < 4 || Skynode.isSanitized), "\(took)")
        }
    }

    @Test func `jobs that are written as JSON are submitted all or none`() async throws {
        try await RunningCluster.with(1, slots: 2) { cluster in
            let node = cluster.addresses[0]
            let folder = cluster.state.path
            func put(_ text: String, _ name: String) throws -> String {
                try text.write(toFile: "\(folder)/\(name)", atomically: false, encoding: .utf8)
                return "\(folder)/\(name)"
            }
            let good = try put(#"{"kind": "simulate", "tasks": 7, "seconds": 0}"#, "good.json")
            let bad = try put(#"{"kind": "simulate", "tasks": 0}"#, "bad.json")
            let refused = try await Skynode.run("jobs", "submit", good, bad, "--node", node)
            #expect(refused.status == 2 && refused.output.isEmpty)
            #expect(refused.errors == ["skynode: \(bad): `tasks` must lie between 1 and 10000000"])
            #expect(try await Skynode.run("jobs", "--node", node, "--format", "json").output.isEmpty)
            let done = try await Skynode.shell(#""$0" jobs submit - "# + "\(good) --node \(node) < \(good)")
            #expect(done.status == 0 && done.output.count == 2, "\(done.errors)")
            for job in done.output {
                let watched = try await Skynode.run("jobs", "watch", job, "--node", node, "--format", "json")
                #expect(EventLine.end(of: watched.output)?.completed == 7)
            }
            let missing = try await Skynode.run("jobs", "submit", "--node", node)
            #expect(missing.status == 2 && missing.errors[0].contains("name a file with a job"))
        }
    }

    @Test func `a job for a node that is not there says so, and keeps no other job waiting`() async throws {
        try await RunningCluster.with(1, slots: 2) { cluster in
            let node = ["--node", cluster.addresses[0]]
            let nowhere = ["simulate", "--duration", "1s", "--use-node", "nowhere"] + node
            // Demands for slots are rounded: to 128, of 100 tasks that wait as of 120, and at 4,096 they once ended.
            for tasks in [3, 97, 5000] {
                let waiting = try await Skynode.run(nowhere + ["--tasks", "\(tasks)", "--detach"])
                #expect(waiting.status == 0)
                #expect(waiting.errors == ["paused: no node is called nowhere; the job waits until one joins"])
                let other = try await Skynode.run(
                    ["simulate", "--tasks", "20", "--duration", "10ms", "--deadline", "20s"] + node)
                #expect(other.status == 0, "beside \(tasks) tasks: \(other.errors)")
                let why = try await Skynode.run(["jobs", "why", try #require(waiting.output.first)] + node)
                #expect(
                    why.output.contains {
                        $0.contains("no node that is here may take its tasks: --use-node nowhere; nodes here: node1")
                    }, "\(why.output)")
            }
            let line = try await Skynode.run(nowhere + ["--tasks", "1", "--detach", "--format", "json"])
            #expect(line.output.first?.contains(#""paused":"no node is called nowhere; "#) == true, "\(line.output)")
            let followed = try await Skynode.run(nowhere + ["--tasks", "1", "--deadline", "1s", "--format", "json"])
            let first = try #require(followed.output.first.flatMap(EventLine.init))
            #expect(first.event == "paused" && first.reason?.hasPrefix("no node is called nowhere") == true)
        }
    }

    @Test func `a job whose nodes are all drained says so, and goes on when one is resumed`() async throws {
        try await RunningCluster.with(2, slots: 1) { cluster in
            let node = ["--node", cluster.addresses[0]]
            func paused(_ nodes: String) -> [String] {
                ["paused: no node takes its tasks: \(nodes); the job waits until one does"]
            }
            let simulate = ["simulate", "--tasks", "2", "--duration", "10ms"] + node
            #expect(try await Skynode.run(["nodes", "drain", "node2"] + node).status == 0)
            let bound = try await Skynode.run(simulate + ["--use-node", "node2", "--detach"])
            #expect(bound.status == 0 && bound.errors == paused("node2 is drained"))
            #expect(try await Skynode.run(["nodes", "drain", "node1"] + node).status == 0)
            let followed = try await Skynode.run(simulate + ["--deadline", "1s", "--format", "json"])
            let first = try #require(followed.output.first.flatMap(EventLine.init))
            #expect(first.event == "paused" && first.reason?.contains("node1 and node2 are drained") == true)
            let waiting = try await Skynode.run(simulate + ["--detach"])
            #expect(waiting.errors == paused("node1 and node2 are drained"))
            #expect(try await Skynode.run(["nodes", "resume", "node1"] + node).status == 0)
            let job = try #require(waiting.output.first)
            #expect(try await Skynode.run(["jobs", "watch", job] + node).status == 0)
        }
    }

    @Test func `failed first attempts are retried, and the summary counts them`() async throws {
        try await RunningCluster.with(2, slots: 4) { cluster in
            let ended = try await Skynode.run(
                "simulate", "--tasks", "20", "--duration", "50ms", "--fail-every", "10", "--node",
                cluster.addresses[0])
            #expect(ended.status == 0)
            #expect(ended.output.first?.hasPrefix("20 of 20 tasks completed in") == true)
            #expect(ended.output.first?.contains("2 retried, 0 failed") == true)
            #expect(ended.errors.count { $0.hasPrefix("Retrying: ") } == 2)
        }
    }

    @Test func `--verbose shows a line for each task`() async throws {
        let ended = try await Skynode.run(
            "simulate", "--tasks", "2", "--duration", "10ms", "--slots", "1", "--no-multicast", "--verbose")
        #expect(ended.errors.count { $0.hasPrefix("Completed: task ") && $0.contains(" by ") } == 2)
    }

    @Test func `tasks that kill the node of their first attempt are still completed`() async throws {
        // The first node coordinates, so it is not among those that obey. Without copies: they would be on the two others, and
        // with both of these gone the job would wait for a person's word.
        let options = { $0 > 1 ? ["--copies", "0", "--allow-crash"] : ["--copies", "0"] }
        try await RunningCluster.with(3, slots: 2, options: options) { cluster in
            let ended = try await Skynode.run(
                "simulate", "--tasks", "60", "--duration", "50ms", "--crash-every", "6", "--node",
                cluster.addresses[0], "--format", "json")
            #expect(ended.status == 0)
            let end = try #require(ended.output.last.flatMap(EventLine.init))
            #expect(end.completed == 60 && end.failed == 0)
            #expect((end.retried ?? 0) >= 1)
            let list = try await Skynode.run("nodes", "--node", cluster.addresses[0], "--format", "json")
            #expect(list.output.count < 3, "at least one node was killed")
        }
    }

    @Test func `Ctrl-C cancels the job everywhere and leaves no process behind`() async throws {
        try await RunningCluster.with(2, slots: 2) { cluster in
            let process = try RunningProcess(
                Skynode.path,
                ["simulate", "--tasks", "100", "--duration", "60s", "--node", cluster.addresses[0], "--verbose"])
            try await process.untilErrors { $0.contains { $0.contains("   running 4   ") } }
            let start = ContinuousClock.now
            process.send(SIGINT)
            let ended = await process.end()
            #expect(start.duration(to: .now) < .seconds(1) || Skynode.isSanitized)
            #expect(ended.status == 130)
            #expect(ended.output.first?.contains("100 cancelled") == true)
            // All slots are free again: the tasks that had them would take a minute.
            for number in 1...2 {
                let next = try await Skynode.run(
                    "simulate", "--tasks", "4", "--duration", "10ms", "--use-node", "node\(number)", "--node",
                    cluster.addresses[0])
                #expect(next.status == 0, "\(next.errors)")
            }
        }
    }

    @Test func `SIGTERM ends a daemon cleanly`() async throws {
        try await RunningCluster.with(2, slots: 1) { cluster in
            cluster.nodes[1].send(SIGTERM)
            #expect(await cluster.nodes[1].end().status == 0)
            let list = try await Skynode.run("nodes", "--node", cluster.addresses[0], "--format", "json")
            #expect(list.output.count == 1)
        }
    }
}
