import Foundation
import Glibc
import Testing

/// Daemons on this machine that find each other by multicast on `lo`, in a group of the test's own.
final class RunningCluster: Sendable {
    let nodes: [RunningProcess]
    let addresses: [String]
    let multicast: String

    /// Runs `body` with `count` daemons that know each other; ends them afterwards, whatever happened.
    static func with(
        _ count: Int, slots: Int, options: (Int) -> [String] = { _ in [] },
        _ body: (RunningCluster) async throws -> Void
    ) async throws {
        let multicast =
            "239.255.\(Int.random(in: 1...254)).\(Int.random(in: 1...254)):\(Int.random(in: 20_000...60_000))"
        var nodes: [RunningProcess] = []
        let state = try ScratchFolder()
        do {
            var addresses: [String] = []
            for number in 1...count {
                let node = try RunningProcess(
                    Skynode.path,
                    [
                        "serve", "--name", "node\(number)", "--listen", "127.0.0.1:0", "--slots", "\(slots)",
                        "--multicast", multicast, "--data", state.file("node\(number)"),
                    ] + options(number))
                nodes.append(node)
                var lines = node.lines.makeAsyncIterator()
                let first = try #require(await lines.next(), "the node ended at its start")
                addresses.append(try #require(first.split(separator: " ").last.map(String.init)))
            }
            let cluster = RunningCluster(nodes: nodes, addresses: addresses, multicast: multicast)
            try await cluster.untilComplete()
            try await body(cluster)
        } catch {
            await RunningCluster.stop(nodes)
            throw error
        }
        await RunningCluster.stop(nodes)
    }

    private init(nodes: [RunningProcess], addresses: [String], multicast: String) {
        self.nodes = nodes
        self.addresses = addresses
        self.multicast = multicast
    }

    /// Asks until every node is listed, thirty seconds at most.
    private func untilComplete() async throws {
        let limit = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < limit {
            let list = try await Skynode.run("nodes", "--node", addresses[0], "--format", "json")
            if list.output.count == nodes.count { return }
        }
        Issue.record("the nodes did not find each other")
    }

    private static func stop(_ nodes: [RunningProcess]) async {
        for node in nodes { node.send(SIGKILL) }
        for node in nodes { _ = await node.end() }
    }

    /// The children of a node: its worker processes.
    func workers(of node: Int) -> [pid_t] {
        let path = "/proc/\(nodes[node].pid)/task/\(nodes[node].pid)/children"
        // Threads other than the main one start workers, so every thread is asked.
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(nodes[node].pid)/task")) ?? []
        let files = [path] + tasks.map { "/proc/\(nodes[node].pid)/task/\($0)/children" }
        let text = Set(files).compactMap { try? String(contentsOfFile: $0, encoding: .utf8) }.joined(separator: " ")
        return Array(Set(text.split(separator: " ").compactMap { pid_t($0) }))
    }
}

/// One line of NDJSON.
struct EventLine: Decodable {
    var event: String
    var node: String?
    var task: String?
    var completed: Int?
    var failed: Int?
    var retried: Int?
    var scheduled: Int?
    var state: String?
    var nodes: [String: Int]?

    init?(_ line: String) {
        guard let event = try? JSONDecoder().decode(EventLine.self, from: Data(line.utf8)) else { return nil }
        self = event
    }
}
