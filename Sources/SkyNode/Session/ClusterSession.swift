import Base
import Logging
import SkyCore
import Transport

/// The connection of a command to a coordinator, which is in a daemon or in a node inside the command.
enum ClusterSession {
    /// Runs `body` with a coordinator, and then shuts down everything that was started for it.
    ///
    /// - Parameter early: what a node inside the command begins while other nodes are still searched for. If one is found, it is
    ///   dropped.
    /// - Throws: `CommandFailure` where no cluster is reached; otherwise what `body` throws.
    static func with<Result: Sendable>(
        _ options: ClusterOptions, early: EmbeddedNode.EarlyWork? = nil,
        _ body: @escaping @Sendable (CoordinatorConnection) async throws -> Result
    ) async throws -> Result {
        try options.check()
        let logger = options.log.logger("skynode", default: .warning)
        let patience = options.patience.duration
        guard options.slots == nil, options.network.join.isEmpty, !options.alone else {
            let embedded = EmbeddedNode(options, early: early, logger, headStart: .zero)
            return try await embedded.with { try await body(try await $0.coordinator()) }
        }
        if let place = NodePlace.find(option: options.node) {
            let client = try await connect(place, options.network, logger)
            return try await use(client, patience: patience, body)
        }
        let embedded = EmbeddedNode(options, early: early, logger, headStart: headStart)
        return try await embedded.with { node in
            switch try await search(options.network, logger, nothingHere: { node.begin() }) {
            case .found(let client):
                node.stop()
                return try await use(client, patience: patience, body)
            case .none(let stranger):
                // Without this note a success would look as if the cluster had done the work.
                let because = stranger.map { " (at \(Defaults.daemon): \($0))" } ?? ""
                Console.error("note: no node found\(because); working on this machine only")
                return try await body(try await node.coordinator())
            }
        }
    }

    /// How long other nodes have to answer before a node of this command begins to work. Nearly all have answered by then; those
    /// that answer later, within `NodeFinder.patience`, are still preferred.
    private static let headStart = Duration.milliseconds(40)

    /// Runs `body` with the coordinator of a node that runs already.
    ///
    /// - Throws: `CommandFailure` with exit code 3 where there is no node.
    static func client<Result: Sendable>(
        node: String?, network: NetworkOptions, log: LogOptions, patience: Duration = .zero,
        _ body: (CoordinatorConnection) async throws -> Result
    ) async throws -> Result {
        let logger = log.logger("skynode", default: .warning)
        if let place = NodePlace.find(option: node) {
            return try await use(try await connect(place, network, logger), patience: patience, body)
        }
        switch try await search(network, logger) {
        case .found(let client): return try await use(client, patience: patience, body)
        case .none(let stranger):
            let because = stranger.map { " (at \(Defaults.daemon): \($0))" } ?? ""
            throw CommandFailure(
                .noCluster,
                "no node found\(because); start one with skynode serve, or name one with --node or "
                    + "\(NodePlace.variable)")
        }
    }

    private static func use<Result: Sendable>(
        _ client: Client, patience: Duration, _ body: (CoordinatorConnection) async throws -> Result
    ) async throws -> Result {
        do {
            let coordinator = try client.coordinator(of: client.node)
            let others = OtherNodes(of: client.address)
            let redial: CoordinatorConnection.Redial = { known, mayMove in
                let system = client.system
                if system.isLinked(known.id.node) { return known }
                // One that answered later than another, the time before.
                if mayMove, let linked = system.members.first(where: { system.isLinked($0.node) }) {
                    return try client.coordinator(of: linked.node)
                }
                // All at the same time: a host that is off the network lets wait for seconds.
                let addresses = [client.address] + (mayMove ? others.some : [])
                return try client.coordinator(of: try await system.join(firstOf: addresses).node)
            }
            let connection = CoordinatorConnection(coordinator, patience: patience, redial: redial)
            // A command that waits needs to know whom to ask when the node is gone.
            let learning = patience > .zero ? Task { await others.follow(connection) } : nil
            defer { learning?.cancel() }
            let result = try await body(connection)
            await client.system.shutdown()
            return result
        } catch {
            await client.system.shutdown()
            throw error
        }
    }

    // MARK: - A node that runs already

    /// An actor system that is no member, linked to one node.
    private struct Client: Sendable {
        var system: ClusterSystem
        var address: NodeAddress
        var node: NodeID

        func coordinator(of node: NodeID) throws -> Coordinator {
            try Coordinator.resolve(id: ActorAddress(node: node, name: Coordinator.wellKnownName), using: system)
        }
    }

    private enum Search {
        case found(Client)
        /// - Parameter stranger: why the program that answers at the address of this machine's node cannot be used; `nil` where
        ///   none answers.
        case none(stranger: String?)
    }

    /// An actor system for a command that is no member.
    private static func system(_ network: NetworkOptions, _ logger: Logger) throws -> (ClusterSystem, ClusterSettings) {
        var settings = ClusterSettings(name: "skynode")
        settings.role = .client
        settings.security = try network.security.transportSecurity()
        settings.isLoopbackOnly = network.security.isLoopbackOnly
        settings.logger = logger
        // A command has one link, and calls that follow each other. With one loop, they can be made and answered on it
        // (`RepeatedJobs`).
        settings.eventLoopGroup = settings.eventLoopGroup.next()
        return (ClusterSystem(settings), settings)
    }

    /// Connects to the node that the user named.
    ///
    /// - Throws: `CommandFailure` where it does not answer.
    private static func connect(_ node: NodePlace, _ network: NetworkOptions, _ logger: Logger) async throws -> Client {
        _ = try network.multicastSettings()
        let (system, _) = try system(network, logger)
        try await system.start()
        let address = try node.address()
        try network.security.checkReach(address, option: node.name)
        do {
            return Client(system: system, address: address, node: try await system.join(address).node)
        } catch {
            await system.shutdown()
            if let failure = error as? HandshakeFailure {
                // A program has answered, so it makes no sense to ask whether skynode runs there.
                throw CommandFailure(.noCluster, words(failure, address, network.security))
            }
            throw CommandFailure(
                .noCluster,
                "no node answers at \(address) (\(PrintableText.of(reason(error)))); is skynode serve running there?"
            )
        }
    }

    /// Looks for a node, first on this machine and then by multicast.
    ///
    /// - Parameter nothingHere: is called when this machine has no node.
    /// - Throws: `CommandFailure` where a node does not accept this command because the key is missing.
    private static func search(
        _ network: NetworkOptions, _ logger: Logger, nothingHere: () -> Void = {}
    ) async throws -> Search {
        let multicast = try network.multicastSettings()
        let (system, settings) = try system(network, logger)
        try await system.start()
        var stranger: String?
        do {
            return .found(
                Client(system: system, address: Defaults.daemon, node: try await system.join(Defaults.daemon).node))
        } catch let failure as HandshakeFailure {
            stranger = PrintableText.of(failure.description)
            // This machine has a node, with a key that this command does not have. Working without that node would look like a
            // success.
            if isAboutKeys(failure) {
                await system.shutdown()
                throw CommandFailure(.noCluster, refusal(failure, network.security))
            }
        } catch {
            // No program answers at that address.
        }
        nothingHere()
        if let multicast {
            do {
                if let address = try await NodeFinder.find(
                    multicast, cluster: settings.cluster, security: settings.security)
                {
                    return .found(Client(system: system, address: address, node: try await system.join(address).node))
                }
            } catch let error as NetworkInterfaceError {
                await system.shutdown()
                throw CommandFailure(.usage, "--interface: \(error)")
            } catch {
                // A machine without any network can still scan on its own.
                logger.debug("no node found by multicast", metadata: ["error": "\(error)"])
            }
        }
        await system.shutdown()
        return .none(stranger: stranger)
    }

    /// Why this machine's node does not accept a command, and what to do.
    private static func refusal(_ failure: HandshakeFailure, _ security: SecurityOptions) -> String {
        let node = "the node of this machine (\(Defaults.daemon))"
        let reason =
            switch security.protection {
            case .none, .insecure: "\(node) has a cluster key, and this command has none"
            case .key, .certificates: words(failure, Defaults.daemon, security)
            }
        return "\(reason); name its key with --cluster-key FILE or \(KeyChoice.variable); scan and simulate work "
            + "without that node with --alone"
    }

    /// Why there is no link to a node that answers.
    private static func words(
        _ failure: HandshakeFailure, _ address: NodeAddress, _ security: SecurityOptions
    ) -> String {
        let remark = security.key?.remark ?? ""
        // Transport uses these words for a peer whose certificate was made by none of our keys.
        if case .key = security.protection, case .broken(let words) = failure, words.contains("another cluster key") {
            return "the node at \(address) uses a different cluster key\(remark)"
        }
        return "no link to \(address): \(PrintableText.of(failure.description))\(isAboutKeys(failure) ? remark : "")"
    }

    /// Whether a link failed because of the keys of the two sides. Transport reports this only in words for people.
    static func isAboutKeys(_ failure: HandshakeFailure) -> Bool {
        guard case .broken(let words) = failure else { return false }
        return ["cluster key", "cluster's key", "certificate"].contains { words.contains($0) }
    }

    /// The essential reason in an error of a failed connection.
    static func reason(_ error: any Error) -> String {
        if let failure = error as? HandshakeFailure { return failure.description }
        let text = String(describing: error)
        if text.contains("ECONNREFUSED") || text.contains("Connection refused") { return "connection refused" }
        if text.lowercased().contains("connect timeout") { return "no answer" }
        if text.contains("Network is unreachable") || text.contains("errno: 101") {
            return "the network is unreachable"
        }
        if text.contains("No route to host") || text.contains("errno: 113") { return "no route to the host" }
        if text.contains("dnsAError") || text.contains("SocketAddressError") || text.contains("unknown(host") {
            return "unknown host"
        }
        return text
    }
}
