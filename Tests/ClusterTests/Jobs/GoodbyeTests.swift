import Foundation
import Glibc
import Testing

/// Nodes that are switched off in order, and those that are left.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(3))))
struct GoodbyeTests {
    private static let options = ["--copies", "2"]

    private func submit(_ tasks: Int, to node: String) async throws -> String {
        try await ListedJob.submit(tasks, lasting: "50ms", to: node)
    }

    private func until(_ job: String, at node: String, _ what: String, _ isRight: (ListedJob) -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        var last: ListedJob?
        while ContinuousClock.now < end {
            last = try await ListedJob.find(job, at: node)
            if let last, isRight(last) { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        Issue.record("job \(job) is not \(what) at \(node): \(String(describing: last))")
    }

    private func untilCopied(_ job: String, at node: String) async throws {
        try await until(job, at: node, "copied") { $0.copies?.kept == 2 }
    }

    /// What an operator would be paged for.
    private func errors(of nodes: [RunningProcess]) -> [String] {
        nodes.flatMap(\.errorsSoFar).filter { $0.contains(" error ") }
    }

    @Test func `two of three nodes are switched off in order, and the third has their jobs and takes new ones`()
        async throws
    {
        try await RunningCluster.with(3, slots: 2, options: { _ in Self.options }) { cluster in
            let node = cluster.addresses[0]
            var jobs: [String] = []
            for address in cluster.addresses { jobs.append(try await submit(120, to: address)) }
            for (job, address) in zip(jobs, cluster.addresses) { try await untilCopied(job, at: address) }
            for stopped in cluster.nodes[1...] {
                stopped.send(SIGTERM)
                #expect(await stopped.end().status == 0)
            }
            jobs.append(try await submit(5, to: node))
            for job in jobs { try await until(job, at: node, "done") { $0.state == "done" } }
            #expect(errors(of: cluster.nodes).isEmpty, "\(errors(of: cluster.nodes))")
            // They are back in the morning, and keep copies again.
            var back: [RunningProcess] = []
            defer { for process in back { process.send(SIGKILL) } }
            for number in 2...3 {
                back.append(
                    try await RunningCluster.start(number, 2, cluster.multicast, cluster.state, Self.options).0)
            }
            for job in jobs { try await untilCopied(job, at: node) }
        }
    }

    @Test func `nodes that are switched off at the same moment are asked for nothing by the first that is back`()
        async throws
    {
        try await RunningCluster.with(3, slots: 1, options: { _ in Self.options }) { cluster in
            let job = try await submit(3, to: cluster.addresses[0])
            try await untilCopied(job, at: cluster.addresses[0])
            for node in cluster.nodes { node.send(SIGTERM) }
            for node in cluster.nodes { #expect(await node.end().status == 0) }
            for number in 1...3 {
                let (process, address) = try await RunningCluster.start(
                    number, 1, cluster.multicast, cluster.state, Self.options)
                let new = try await submit(2, to: address)
                try await until(new, at: address, "done") { $0.state == "done" }
                process.send(SIGTERM)
                _ = await process.end()
            }
        }
    }

    @Test func `one is switched off, another one is lost, and the third goes on`() async throws {
        try await RunningCluster.with(3, slots: 1, options: { _ in Self.options }) { cluster in
            let node = cluster.addresses[0]
            let job = try await submit(400, to: node)
            try await untilCopied(job, at: node)
            cluster.nodes[1].send(SIGTERM)
            _ = await cluster.nodes[1].end()
            // It keeps its vote for ten seconds, because it might be restarted.
            try await until(job, at: node, "kept by one") { $0.copies?.kept == 1 }
            try await Task.sleep(for: .seconds(12))
            cluster.nodes[2].send(SIGKILL)
            try await until(job, at: node, "done") { $0.state == "done" && $0.completed == 400 }
        }
    }

    @Test func `new jobs do not wait for nodes that are lost, and old ones wait`() async throws {
        try await RunningCluster.with(3, slots: 1, options: { _ in Self.options }) { cluster in
            let node = cluster.addresses[0]
            let old = try await submit(400, to: node)
            try await untilCopied(old, at: node)
            for lost in cluster.nodes[1...] { lost.send(SIGKILL) }
            let new = try await submit(3, to: node)
            try await until(new, at: node, "done") { $0.state == "done" }
            try await until(old, at: node, "paused") { $0.state == "paused" }
            let word = try await Skynode.run("jobs", "unprotect", "--all", "--node", node)
            #expect(word.status == 0, "\(word.errors)")
            try await until(old, at: node, "done") { $0.state == "done" }
        }
    }

    @Test func `one node that is back after a power cut takes new jobs after some seconds, and old ones wait`()
        async throws
    {
        try await RunningCluster.with(3, slots: 1, options: { _ in Self.options }) { cluster in
            let old = try await submit(3, to: cluster.addresses[0])
            try await untilCopied(old, at: cluster.addresses[0])
            await RunningCluster.stop(cluster.nodes)
            let (process, node) = try await RunningCluster.start(
                1, 1, cluster.multicast, cluster.state, Self.options)
            defer { process.send(SIGKILL) }
            let end = ContinuousClock.now + .seconds(60)
            var new: [String] = []
            while new.isEmpty, ContinuousClock.now < end {
                let run = try await Skynode.run("simulate", "--tasks", "3", "--duration", "10ms", "--node", node)
                if run.status == 0 { new = run.output } else { #expect(run.status == 3, "\(run.errors)") }
            }
            #expect(!new.isEmpty)
            let shown = try await Skynode.run("jobs", old, "--node", node)
            #expect(shown.status == 3, "\(shown.output) \(shown.errors)")
        }
    }
}
