import Base
import Logging
import SkyCore
import Transport

/// The connection of a command to a coordinator, which is in a daemon or in a node inside the command.
enum ClusterSession {
    /// Runs `body` with a coordinator, and then shuts down everything that was started for it.
    ///
    /// - Parameter early: what a node inside the command begins while other nodes are still searched for. If one is found, it is
    ///   dropped. Nothing of it is published before the search has ended.
    /// - Throws: `CommandFailure` where no cluster is reached; otherwise what `body` throws.
    static func with<Result: Sendable>(
        _ options: ClusterOptions, early: EmbeddedNode.EarlyWork? = nil,
        _ body: @escaping @Sendable (CoordinatorConnection) async throws -> Result
    ) async throws -> Result {
        try options.check()
        let logger = options.log.logger("skynode", default: .warning)
        let patience = options.patience.duration
        let isRequired = try options.requiresCluster()
        guard !options.isMember, !options.alone else {
            let embedded = EmbeddedNode(options, early: early, logger, headStart: .zero)
            return try await embedded.with { node in
                let coordinator = try await node.coordinator()
                if options.isMember {
                    try await checkMembership(of: node.system, options, isRequired: isRequired, logger)
                }
                return try await body(coordinator)
            }
        }
        if let place = NodePlace.find(option: options.node) {
            let client = try await connect(place, options.network, logger)
            return try await use(client, patience: patience, body)
        }
        let embedded = EmbeddedNode(options, early: early, logger, headStart: headStart)
        return try await embedded.with { node in
            switch try await search(options.network, logger, nothingHere: { if !isRequired { node.begin() } }) {
            case .found(let client):
                node.stop()
                return try await use(client, patience: patience, body)
            case .none(let search):
                let (reason, mayWorkAlone) = search.conclusion(isRequired: isRequired)
                guard mayWorkAlone else { throw CommandFailure(.noCluster, reason) }
                // Without this note a success would look as if the cluster had done the work.
                Console.error("note: \(reason); working on this machine only")
                return try await body(try await node.coordinator())
            }
        }
    }

    /// Looks whether the member that the command runs has a link to another node. One that all refuse would work alone, and its success
    /// would look like the cluster's.
    ///
    /// - Throws: `CommandFailure` where it has none, and it would be a mistake to do without.
    private static func checkMembership(
        of system: ClusterSystem, _ options: ClusterOptions, isRequired: Bool, _ logger: Logger
    ) async throws {
        let network = options.network
        let (multicast, seeds) = (try network.multicastSettings(), try network.seeds())
        let security = try network.security.nodeSecurity()
        var search = ClusterSearch(network.security.identity(security))
        // Slots alone, without a key, mean no cluster.
        guard isRequired || search.identity != .nothing || !seeds.isEmpty else { return }
        let places = Places(
            addresses: seeds + (multicast == nil ? [] : [Defaults.daemon]), multicast: multicast, security: security,
            listening: EmbeddedNode.listen)
        if try await find(places, by: system, &search, logger) != nil || !system.members.isEmpty { return }
        let (reason, mayWorkAlone) = search.conclusion(isRequired: isRequired)
        guard mayWorkAlone else { throw CommandFailure(.noCluster, reason) }
        Console.error("note: \(reason); working on this machine only")
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
        case .none(let search):
            let (reason, mayWorkAlone) = search.conclusion()
            let advice = "; start one with skynode serve, or name one with --node or \(NodePlace.variable)"
            throw CommandFailure(.noCluster, reason + (mayWorkAlone ? advice : ""))
        }
    }

    /// The nodes with another key that are heard by multicast, in a line; `nil` where there are none, and where multicast does not work.
    static func strangers(_ network: NetworkOptions) async -> String? {
        guard let multicast = try? network.multicastSettings(), let security = try? network.security.transportSecurity()
        else { return nil }
        let settings = ClusterSettings(name: "skynode")
        return try? await NodeFinder.listen(multicast, cluster: settings.cluster, security: security) { sightings in
            var search = ClusterSearch(network.security.identity(security))
            for await case .stranger(let stranger) in sightings { search.heard(stranger) }
            return search.strangersLine
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
        case none(ClusterSearch)
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
            let address = "\(address)"
            guard error is HandshakeFailure else {
                throw CommandFailure(
                    .noCluster,
                    "no node answers at \(address) (\(PrintableText.of(reason(error)))); is skynode serve running there?"
                )
            }
            // A program has answered, so it makes no sense to ask whether skynode runs there.
            throw CommandFailure(.noCluster, words(error, address, network.security))
        }
    }

    /// Looks for a node: on this machine, and then by multicast.
    ///
    /// - Parameter nothingHere: is called when this machine has no node, and the command may turn out to work alone.
    private static func search(
        _ network: NetworkOptions, _ logger: Logger, nothingHere: () -> Void = {}
    ) async throws -> Search {
        let multicast = try network.multicastSettings()
        let (system, settings) = try system(network, logger)
        let places = Places(addresses: [Defaults.daemon], multicast: multicast, security: settings.security)
        try await system.start()
        var search = ClusterSearch(network.security.identity(settings.security))
        do {
            let client = try await find(places, by: system, &search, logger, nothingHere: nothingHere)
            if let client { return .found(client) }
        } catch {
            await system.shutdown()
            throw error
        }
        await system.shutdown()
        return .none(search)
    }

    /// Where a command looks for nodes.
    private struct Places {
        var addresses: [NodeAddress]
        var multicast: MulticastSettings?
        var security: TransportSecurity
        /// Where the command's own node listens; `nil` where it has none.
        var listening: NodeAddress?
    }

    /// Links a system to the first node that takes it.
    ///
    /// - Returns: `nil` where none does; `search` knows why.
    /// - Throws: `CommandFailure` for an interface that does not exist.
    private static func find(
        _ places: Places, by system: ClusterSystem, _ search: inout ClusterSearch, _ logger: Logger,
        nothingHere: () -> Void = {}
    ) async throws -> Client? {
        for address in places.addresses {
            if let client = await attempt(address, system, &search) { return client }
            // A member dials its seeds, too, and keeps one link.
            guard system.members.isEmpty else { return nil }
        }
        if search.conclusion().mayWorkAlone { nothingHere() }
        guard let multicast = places.multicast else { return nil }
        do {
            return try await NodeFinder.listen(
                multicast, cluster: ClusterSettings(name: "skynode").cluster,
                security: places.security, listening: places.listening
            ) {
                for await sighting in $0 {
                    switch sighting {
                    case .stranger(let stranger): search.heard(stranger)
                    case .node(let address):
                        // Others are tried where one refuses: it may have missed a change of the key.
                        if let client = await attempt(address, system, &search) { return client as Client? }
                    }
                }
                return nil
            }
        } catch let error as NetworkInterfaceError {
            throw CommandFailure(.usage, "--interface: \(error)")
        } catch {
            // A machine without any network can still scan on its own.
            logger.debug("no node found by multicast", metadata: ["error": "\(error)"])
            return nil
        }
    }

    /// Dials a node.
    ///
    /// - Returns: `nil` where there is no link; `search` knows why.
    private static func attempt(_ address: NodeAddress, _ system: ClusterSystem, _ search: inout ClusterSearch) async
        -> Client?
    {
        do {
            let client = Client(system: system, address: address, node: try await system.join(address).node)
            if let remark = search.remark(using: address) { Console.error("note: \(remark)") }
            return client
        } catch {
            search.failed(address, error)
            return nil
        }
    }

    /// Why there is no link to a node that answers.
    private static func words(_ error: any Error, _ address: String, _ security: SecurityOptions) -> String {
        let remark = security.key?.remark ?? ""
        let words = PrintableText.of(reason(error))
        // Transport uses these words for a peer whose certificate was made by none of our keys.
        if case .key = security.protection, words.contains("another cluster key") {
            return "the node at \(address) uses a different cluster key\(remark)"
        }
        return "no link to \(address): \(words)\(LinkCause(error).isAboutKeys ? remark : "")"
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
