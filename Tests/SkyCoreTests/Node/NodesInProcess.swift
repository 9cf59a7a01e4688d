import Base
import Logging
import NIOPosix
import Transport

@testable import SkyCore

/// Whole nodes in this process, over real sockets.
enum NodesInProcess {
    /// A single loop, as a small machine's daemon has: their coordinators work on it.
    private static let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    static func settings(_ name: String, slots: Int, join: [NodeAddress] = []) -> NodeSettings {
        var cluster = ClusterSettings(name: name)
        cluster.listen = .hostPort(host: "127.0.0.1", port: 0)
        cluster.join = join
        // Nodes without one are not believed where results are put together.
        cluster.version = SkyNetVersion.current
        cluster.silenceLimit = .seconds(30)
        cluster.eventLoopGroup = loop
        cluster.logger = Logger(label: name) { _ in SwiftLogNoOpLogHandler() }
        return NodeSettings(cluster: cluster, slots: slots, executable: "/nonexistent/skynode")
    }

    /// Runs nodes that know each other, then `body`, then takes them down.
    ///
    /// - Parameters:
    ///   - slots: Of each node.
    ///   - journal: The first node's; `nil` for one in memory, as the others have.
    @discardableResult
    static func run<Result: Sendable>(
        _ slots: [Int], journal: Journal? = nil, _ body: @escaping @Sendable ([Node]) async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result?.self) { group in
            var nodes: [Node] = []
            for (number, slots) in slots.enumerated() {
                let seeds = nodes.first?.system.listeningAddress.map { [$0] } ?? []
                let own = number == 0 ? journal : nil
                let node = try Node(
                    settings("node\(number + 1)", slots: slots, join: seeds), journal: try own ?? Journal.inMemory())
                try await node.start()
                nodes.append(node)
                group.addTask {
                    await node.run()
                    return nil
                }
            }
            for node in nodes {
                let others = nodes.count - 1
                var met = 0
                if others > 0 {
                    for await event in node.system.membershipEvents() {
                        if case .joined = event { met += 1 }
                        if met == others { break }
                    }
                }
            }
            let all = nodes
            group.addTask { try await body(all) }
            // The nodes run until cancelled, so the first to end is the body.
            let first: Swift.Result<Result??, any Error>
            do { first = .success(try await group.next()) } catch { first = .failure(error) }
            group.cancelAll()
            while (try? await group.next()) != nil {}
            guard let result = try first.get() ?? nil else { throw CancellationError() }
            return result
        }
    }

    /// Follows a job to its end.
    ///
    /// - Parameter seen: Called for each event.
    static func report(
        of job: JobID, at coordinator: Coordinator, _ seen: (JobEvent) -> Void = { _ in }
    ) async throws -> (JobReport, [JobEvent]) {
        var events: [JobEvent] = []
        while true {
            let batch = try await coordinator.events(EventsRequest(job: job, from: events.count))
            for event in batch.events { seen(event) }
            events += batch.events
            if case .ended(let report) = events.last?.kind { return (report, events) }
        }
    }
}
