import Foundation
import Glibc
import Testing

/// Nodes that keep copies of each other's jobs, and are lost.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(3))))
struct CopiesTests {
    private struct Storage: Decodable {
        struct Copy: Decodable {
            var node: String?
            var behind: Int?
            var hasVote: Bool
        }

        var copies: [Copy]?
    }

    private struct Line: Decodable {
        var event: String?
        var task: String?
        var completed: Int?
    }

    /// Waits until two nodes have a copy of what a node keeps.
    private func untilCopied(_ node: String) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            let shown = try await Skynode.run("jobs", "storage", "--format", "json", "--node", node)
            let storage = shown.output.first.flatMap { try? JSONDecoder().decode(Storage.self, from: Data($0.utf8)) }
            if storage?.copies?.count(where: { $0.hasVote && $0.behind == 0 }) == 2 { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        Issue.record("nobody keeps copies of what \(node) has")
    }

    @Test func `a command goes on where the node with its job is lost with its disk, and every task is done once`()
        async throws
    {
        try await RunningCluster.with(4, slots: 1, options: { _ in ["--copies", "2", "--adopt-after", "3s"] }) {
            cluster in
            let node = cluster.addresses[2]
            try await untilCopied(node)
            let command = try RunningProcess(
                Skynode.path,
                ["simulate", "--tasks", "120", "--duration", "100ms", "--node", node, "--format", "json"])
            var lines = command.lines.makeAsyncIterator()
            var (completed, isLost, total): ([String], Bool, Int?) = ([], false, nil)
            while let line = await lines.next() {
                guard let event = try? JSONDecoder().decode(Line.self, from: Data(line.utf8)) else { continue }
                if event.event == "completed", let task = event.task { completed.append(task) }
                total = event.completed ?? total
                if completed.count == 20, !isLost {
                    isLost = true
                    cluster.nodes[2].send(SIGKILL)
                    _ = await cluster.nodes[2].end()
                    try FileManager.default.removeItem(atPath: cluster.state.file("node3"))
                }
            }
            let ended = await command.end()
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(total == 120 && isLost)
            #expect(Set(completed).count == completed.count, "a task is done once")
            // Another node lists it now.
            let others = [0, 1, 3].map { cluster.addresses[$0] }
            var found = 0
            for other in others {
                let list = try await Skynode.run("jobs", "--format", "json", "--node", other)
                found += list.output.count { $0.contains("\"done\"") && $0.contains("120") }
            }
            #expect(found == 1)
        }
    }
}
