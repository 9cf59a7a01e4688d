import Base
import Logging
import NIOConcurrencyHelpers
import SkyCore
import Transport

/// A node inside a command. It begins to work before the command knows whether it needs the node, because the search for other
/// nodes takes longer than many scans.
struct EmbeddedNode: Sendable {
    /// What is begun before the command knows whether it needs the node.
    struct EarlyWork: Sendable {
        /// The first job of the command, which submits it again.
        let submission: Submission
        /// So many workers are started together with the node. The tasks that need more start them.
        let workers: Int
        /// What the command itself can do beside the node's start.
        let beside: @Sendable () async -> Void
    }

    /// Where the member of a cluster listens that a command runs: nodes of other machines are not to dial it.
    static let listen = NodeAddress.hostPort(host: "127.0.0.1", port: 0)

    private let options: ClusterOptions
    /// `nil` where nothing is begun early.
    private let early: EarlyWork?
    private let logger: Logger
    /// How long the node waits with that job, so that other nodes can answer before it.
    private let headStart: Duration
    /// The program whose `worker` command is a worker process.
    private let executable: String

    init(
        _ options: ClusterOptions, early: EarlyWork?, _ logger: Logger, headStart: Duration,
        executable: String = Defaults.executable
    ) {
        (self.options, self.early, self.logger, self.headStart) = (options, early, logger, headStart)
        self.executable = executable
    }

    /// Makes a node, and lets it go. Swift looks up a type and what it conforms to when it is first used, which is most of what a
    /// node's start takes. A command can have that done while its line is still parsed.
    static func lookUpTypes() async {
        var settings = ClusterSettings(name: Defaults.name)
        settings.logger = Logger(label: "skynode") { _ in SwiftLogNoOpLogHandler() }
        let nodeSettings = NodeSettings(cluster: settings, slots: 1, executable: Defaults.executable)
        guard let journal = try? Journal.inMemory(), let node = try? Node(nodeSettings, journal: journal) else {
            return
        }
        try? await node.start()
        await node.abandon()
    }

    /// Runs `body`, and the node beside it. When `body` has returned, the node leaves in order, and its workers end with it.
    ///
    /// - Throws: what `body` throws; `CommandFailure` where the node stops by itself.
    func with<Result: Sendable>(
        _ body: @escaping @Sendable (Handle) async throws -> Result
    ) async throws -> Result {
        let settings = try settings()
        var nodeSettings = NodeSettings(
            cluster: settings, slots: options.slots ?? Defaults.slots, executable: executable)
        nodeSettings.reads.secrets = (options.network.security.secrets + [Defaults.dataHome].compactMap(\.self))
            .map(Defaults.absolute)
        let workers = Node.workers(nodeSettings)
        // A worker is loaded while the rest of the node is made. Where other nodes are searched for first, it waits for that.
        let earlyWorkers = min(early?.workers ?? 0, nodeSettings.slots)
        if headStart == .zero { await workers.start(earlyWorkers) }
        let node: Node
        do {
            node = try Node(nodeSettings, journal: try Journal.inMemory(), workers: workers)
        } catch {
            await workers.close()
            throw error
        }
        let handle = Handle(CoordinatorConnection(node.coordinator), node.system, listen: settings.listen)
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                await run(node, handle) { await workers.start(earlyWorkers) }
                return nil
            }
            group.addTask { try await body(handle) }
            do {
                while let result = try await group.next() {
                    guard let result else { continue }
                    handle.stop()
                    try await group.waitForAll()
                    return result
                }
            } catch {
                group.cancelAll()
                while (try? await group.next()) != nil {}
                throw error
            }
            throw CommandFailure(.noCluster, "the node inside this command stopped")
        }
    }

    private func settings() throws -> ClusterSettings {
        var settings = ClusterSettings(name: Defaults.name)
        settings.version = SkyNetVersion.current
        settings.logger = logger
        // A command that found no node works alone.
        if options.isMember {
            settings.listen = EmbeddedNode.listen
            settings.join = try options.network.seeds()
            settings.multicast = try options.network.multicastSettings()
            settings.security = try options.network.security.nodeSecurity()
            settings.isLoopbackOnly = options.network.security.isLoopbackOnly
        }
        return settings
    }

    /// - Parameter startWorkers: starts the early workers, if they are not started yet.
    private func run(_ node: Node, _ handle: Handle, startWorkers: @Sendable () async -> Void) async {
        await handle.beginning.wait()
        guard !handle.stopping.isOpen, !Task.isCancelled else { return await node.abandon() }
        await startWorkers()
        do {
            try await node.start()
        } catch {
            await node.abandon()
            return handle.started(.failure(error))
        }
        handle.started(.success(()))
        await withDiscardingTaskGroup { group in
            group.addTask { await node.run() }
            if let early { group.addTask { await early.beside() } }
            group.addTask { await beginEarly(node, handle) }
            await handle.stopping.wait()
            group.cancelAll()
        }
    }

    private func beginEarly(_ node: Node, _ handle: Handle) async {
        guard let early, await !handle.needed.wait(atMost: headStart), !handle.stopping.isOpen else { return }
        // If this fails, it also fails when the job is submitted again, and is reported then.
        _ = try? await node.coordinator.submit(early.submission)
    }

    /// The node, for the command.
    final class Handle: Sendable {
        fileprivate let (beginning, needed, stopping) = (Latch(), Latch(), Latch())
        private let connection: CoordinatorConnection
        /// The node's links. It has them from its start on, which `coordinator` waits for.
        let system: ClusterSystem
        private let listen: NodeAddress?
        private let isStarted = Latch()
        private let failure = NIOLockedValueBox<(any Error)?>(nil)

        fileprivate init(_ connection: CoordinatorConnection, _ system: ClusterSystem, listen: NodeAddress?) {
            (self.connection, self.system, self.listen) = (connection, system, listen)
        }

        /// Starts the node, in case it is needed.
        func begin() { beginning.open() }

        /// Stops the node and all its work. Returns at once.
        func stop() {
            stopping.open()
            beginning.open()
        }

        /// The node's coordinator.
        ///
        /// - Throws: `CommandFailure` where the node cannot start.
        func coordinator() async throws -> CoordinatorConnection {
            needed.open()
            beginning.open()
            await isStarted.wait()
            if let error = failure.withLockedValue({ $0 }) { throw StartFailure.command(error, listen: listen) }
            try Task.checkCancellation()
            return connection
        }

        fileprivate func started(_ end: Result<Void, any Error>) {
            if case .failure(let error) = end { failure.withLockedValue { $0 = error } }
            isStarted.open()
        }
    }
}
