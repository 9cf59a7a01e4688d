import CoreMetrics
public import Distributed
package import Logging
import NIOCore
import NIOPosix
import Synchronization

/// A distributed actor system over TCP: every node has one, and a link to every other node it knows.
///
/// `start()` opens the sockets, `shutdown()` closes them; between the two, calls to remote actors go over the links.
/// All methods may be called from any task or thread.
public final class ClusterSystem: DistributedActorSystem, Sendable {
    public typealias ActorID = ActorAddress
    public typealias InvocationEncoder = CallEncoder
    public typealias InvocationDecoder = CallDecoder
    public typealias ResultHandler = NoResultHandler
    public typealias SerializationRequirement = any Codable & Sendable

    /// The id of this run of this node.
    public let node: NodeID
    public let name: String
    package let logger: Logger
    let settings: ClusterSettings
    let eventLoopGroup: any EventLoopGroup
    /// The event loop of all links as a place for what is brief; `nil` where there are several loops.
    package let loopExecutor: LoopExecutor?
    let nodeStart = ContinuousClock.now
    let actors = ActorDirectory()
    let metrics: TransportMetrics
    private let linkEnvironment: LinkEnvironment

    /// How far the system has come. It never goes back.
    enum Stage {
        case new
        /// Connections are made and accepted.
        case running
        /// It is shut down, or has been.
        case stopping
    }

    struct State {
        var stage = Stage.new
        var links = PeerLinks<Link>()
        var server: (any Channel)?
        var discovery: Discovery?
        var dialler: Dialler?
        var tls: TLSContexts?
        var renewal: RepeatedTask?
        var listening: NodeAddress?
        var revocations = Revocations()
        var pending: PendingConnections
        /// What was already logged of neighbours, so that a misconfigured one costs one line and not one a second.
        var logged = DailyReports()
        /// Limits the lines that may be logged again and again, but not without end.
        var logLimit = LogLimit()
    }

    let state: BriefLock<State>
    let feed = MembershipFeed()
    let lastDial = Atomic<UInt64>(0)
    let linksNow = Atomic<Int>(0)
    let isDraining = Atomic<Bool>(false)

    public init(_ settings: ClusterSettings) {
        self.settings = settings
        state = BriefLock(State(pending: PendingConnections(limit: settings.pendingConnections)))
        metrics = TransportMetrics(settings.metrics ?? MetricsSystem.factory)
        // The id of a person's command follows from the certificate in part, see `PersonalCertificate`.
        if case .credential(let credential) = settings.security {
            node = credential.personal.nodeID()
        } else {
            node = .random()
        }
        name = settings.name
        eventLoopGroup = settings.eventLoopGroup
        loopExecutor = LoopExecutor(settings.eventLoopGroup)
        var logger = settings.logger
        logger.handler.metadataProvider =
            .multiplex([logger.metadataProvider, CallTrace.metadataProvider].compactMap(\.self))
        logger[metadataKey: "node"] = "\(settings.name)"
        self.logger = logger
        linkEnvironment = LinkEnvironment(
            nodeStart: nodeStart, now: { [nodeStart] in nodeStart.duration(to: .now) }, timeOfDay: settings.timeOfDay,
            limits: settings.limits, silenceLimit: settings.silenceLimit, metrics: metrics, logger: logger)
    }

    /// Time since this system was made.
    package var now: Duration { nodeStart.duration(to: .now) }

    /// The address on which connections are accepted, with the port that was chosen; `nil` before `start()` and where no address
    /// was asked for.
    public var listeningAddress: NodeAddress? { state.withLockedValue { $0.listening } }

    func secure(by tls: TLSContexts, renewal: RepeatedTask) {
        state.withLockedValue {
            $0.tls = tls
            $0.renewal = renewal
        }
    }

    // MARK: - Start and shutdown

    /// Listens, joins the seeds and starts discovery, as set up. A system starts only once: one that could not start, or that has
    /// been shut down, does not start again.
    ///
    /// - Throws: an error of the system where an address cannot be bound, `SecurityError` where a key or certificate is of no use,
    ///   `NetworkInterfaceError`, `MulticastError`, and `TransportError.notRunning` where this system is shut down meanwhile or has
    ///   been shut down before.
    public func start() async throws {
        do {
            try await open()
        } catch {
            await shutdown()
            throw error
        }
    }

    private func open() async throws {
        try startSecurity()
        if let listen = settings.listen {
            let server = try await bind(listen)
            let bound = server.localAddress.flatMap(NodeAddress.init) ?? listen
            state.withLockedValue {
                $0.server = server
                $0.listening = bound
            }
        }
        let dialler = Dialler(system: self)
        try state.withLockedValue { state in
            // A shutdown that came meanwhile may not have seen everything. Another shutdown follows this error and closes the rest.
            if state.stage == .stopping { throw TransportError.notRunning }
            state.dialler = dialler
            state.stage = .running
        }
        for seed in settings.join { dialler.seed(seed) }
        if let multicast = settings.multicast, settings.role == .node {
            let discovery = Discovery(
                settings: multicast, owner: self,
                environment: DiscoveryEnvironment(
                    node: node, name: name, cluster: settings.cluster, security: settings.security,
                    loop: eventLoopGroup.next(), now: linkEnvironment.now, metrics: metrics, logger: logger))
            try state.withLockedValue { state in
                if state.stage == .stopping { throw TransportError.notRunning }
                state.discovery = discovery
            }
            do {
                try await discovery.start()
            } catch let error as NetworkInterfaceError {
                throw error
            } catch {
                throw MulticastError(group: "\(multicast.group):\(multicast.port)", reason: String(describing: error))
            }
        }
    }

    /// Says goodbye to everybody, lets calls under way in both directions finish, and closes all sockets.
    ///
    /// - Parameter limit: time for those calls, `ClusterSettings.closingLimit` by default. Calls that are not done by then fail
    ///   with `connectionLost`.
    public func shutdown(within limit: Duration? = nil) async {
        let (server, discovery, dialler, links) = state.withLockedValue { state in
            state.stage = .stopping
            return (state.server, state.discovery, state.dialler, state.links.all)
        }
        state.withLockedValue { $0.renewal }?.cancel()
        dialler?.stop()
        await discovery?.stop()
        try? await server?.close().get()
        let pending = state.withLockedValue { $0.pending.removeAll() }
        for channel in pending { channel.close(promise: nil) }
        for link in links { link.leave(within: limit ?? settings.closingLimit) }
        for link in links { await link.untilClosed() }
        feed.finish()
        state.withLockedValue {
            $0.server = nil
            $0.discovery = nil
            $0.dialler = nil
        }
    }

    private func bind(_ address: NodeAddress) async throws -> any Channel {
        let bootstrap = ServerBootstrap(group: eventLoopGroup)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { [self] channel in initialize(channel, dialled: false, established: nil) }
        switch address {
        case .hostPort(let host, let port): return try await bootstrap.bind(host: host, port: port).get()
        case .unixSocket(let path): return try await bootstrap.bind(unixDomainSocketPath: path).get()
        }
    }

    private func initialize(
        _ channel: any Channel, dialled: Bool, established: EventLoopPromise<Link>?
    ) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            // Small frames must not wait for more; Unix sockets have no such option.
            if channel.localAddress?.port != nil || channel.remoteAddress?.port != nil || dialled {
                try? channel.syncOptions?.setOption(.tcpOption(.tcp_nodelay), value: 1)
                // A lost ping is sent again at even intervals, not at ever longer ones: otherwise a network that drops
                // a fifth of its packets looks dead now and then.
                try? channel.syncOptions?.setOption(.tcpOption(.thinLinearTimeouts), value: 1)
                // After six of them the intervals are not much longer either. The option works from Linux 6.15 on and is unknown
                // before.
                try? channel.syncOptions?.setOption(.tcpOption(.longestRetransmission), value: 1000)
            }
            if !dialled { try accept(channel) }
            if let tls = state.withLockedValue({ $0.tls }) {
                do {
                    try tls.install(
                        in: channel.pipeline.syncOperations, isClient: dialled, isCommand: settings.role == .client)
                } catch let failure as TLSFailure {
                    // Whoever dials hears it from the dialling.
                    if !dialled { report(.refused(reason: "\(failure)"), with: channel.remoteAddress?.ipAddress ?? "") }
                    throw failure
                }
            }
            let handler = LinkHandler(
                owner: self, environment: linkEnvironment, dialled: dialled, established: established)
            try channel.pipeline.syncOperations.addHandler(handler)
        }
    }

    /// Counts a connection that somebody opened among those that have not said who they are.
    private func accept(_ channel: any Channel) throws {
        // Until it has said so, its bytes are read in small portions.
        try channel.syncOptions?.setOption(
            .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: FrameLimits.handshake))
        let (isStopping, crowdedOut) = state.withLockedValue { state in
            (state.stage == .stopping, state.pending.add(channel, from: channel.remoteAddress?.ipAddress ?? ""))
        }
        if isStopping { channel.close(promise: nil) }
        crowdedOut?.close(promise: nil)
        channel.closeFuture.whenComplete { [state] _ in state.withLockedValue { $0.pending.remove(channel) } }
    }

    /// Prepares a connection for its link, because the handshake is done.
    func widen(_ channel: any Channel) {
        state.withLockedValue { $0.pending.remove(channel) }
        // From now on there is much to read.
        try? channel.syncOptions?.setOption(
            .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 16_384, maximum: 262_144))
        try? channel.syncOptions?.setOption(
            .writeBufferWaterMark, value: .init(low: FrameLimits.piece, high: 2 * FrameLimits.piece))
    }

    /// Dials once. The future fails with `HandshakeFailure`, `TransportError.notRunning` or an error of the system.
    func connect(to address: NodeAddress) -> EventLoopFuture<Link> {
        let loop = eventLoopGroup.next()
        // Before the start there is no certificate either. Nothing may leave in clear that should not.
        guard state.withLockedValue({ $0.stage == .running }) else {
            return loop.makeFailedFuture(TransportError.notRunning)
        }
        let established = loop.makePromise(of: Link.self)
        let bootstrap = ClientBootstrap(group: loop)
            .connectTimeout(LinkHandler.connectLimit)
            .channelInitializer { [self] channel in
                initialize(channel, dialled: true, established: established)
            }
        let connected =
            switch address {
            case .hostPort(let host, let port): bootstrap.connect(host: host, port: port)
            case .unixSocket(let path): bootstrap.connect(unixDomainSocketPath: path)
            }
        connected.whenFailure { established.fail($0) }
        return established.futureResult
    }

    /// Dials a node once and returns its hello.
    ///
    /// - Throws: `HandshakeFailure`, `TransportError.notRunning` or an error of the system; nothing is tried again.
    @discardableResult
    public func join(_ address: NodeAddress) async throws -> Hello {
        try await connect(to: address).get().peer
    }

    /// Dials several addresses at the same time. Links to others than the one that is returned may come up later.
    ///
    /// - Returns: the hello of the first node that answers.
    /// - Throws: as `join` does, where none answers; `TransportError.notRunning` where there are no addresses.
    package func join(firstOf addresses: [NodeAddress]) async throws -> Hello {
        let first = eventLoopGroup.next().makePromise(of: Hello.self)
        let left = BriefLock(addresses.count)
        if addresses.isEmpty { first.fail(TransportError.notRunning) }
        for address in addresses {
            connect(to: address).whenComplete { result in
                let isLast = left.withLockedValue { left in
                    left -= 1
                    return left == 0
                }
                switch result {
                case .success(let link): first.succeed(link.peer)
                case .failure(let error): if isLast { first.fail(error) }
                }
            }
        }
        return try await first.futureResult.get()
    }

    /// Accepted connections whose handshake is not done.
    var pendingConnections: Int { state.withLockedValue { $0.pending.count } }

    // MARK: - Membership

    /// The nodes this one has a link to, by name.
    public var members: [Member] { feed.members }

    /// The events `joined` for every present member, and then every change as it happens. The sequence ends at shutdown. It also
    /// ends for a listener that falls more than 4,096 events behind; that listener may ask again.
    public func membershipEvents() -> AsyncStream<MembershipEvent> { feed.events() }

    /// This node as others list it.
    package var ownMember: Member {
        var address = advertised
        if address?.isWildcard == true, case .hostPort(_, let port) = address {
            // This is the address that nodes see when they hear its beacons.
            let interfaces = (try? NetworkInterface.all()) ?? []
            let own = interfaces.flatMap(\.addresses).first { $0.isRoutable }
            if let own { address = .hostPort(host: own.description, port: port) }
        }
        return Member(
            node: node, name: name, version: settings.version ?? "", arithmetic: settings.arithmetic, address: address,
            isDraining: isDraining.load(ordering: .relaxed), found: .join, since: .zero)
    }

    /// Dials an address again and again from now on, like those of `ClusterSettings.join`.
    package func seed(_ address: NodeAddress) {
        state.withLockedValue { $0.dialler }?.seed(address)
    }

    /// Returns when every event loop has found time for it.
    package func visitEventLoops() async {
        for loop in eventLoopGroup.makeIterator() {
            try? await loop.submit {}.get()
        }
    }

    /// Tells all peers, and those to come, whether this node takes new work. It is up to them to heed it.
    package func drain(_ isDraining: Bool) {
        guard self.isDraining.exchange(isDraining, ordering: .sequentiallyConsistent) != isDraining else { return }
        for link in state.withLockedValue({ Array($0.links.current.values) }) {
            link.send(ClusterSystem.draining(isDraining))
        }
    }

    static func draining(_ isDraining: Bool) -> Frame {
        Frame(.draining, body: ByteBuffer(integer: UInt8(isDraining ? 1 : 0)))
    }

    func member(by link: Link, found: Member.Found) -> Member {
        let peer = link.peer
        return Member(
            node: peer.node, name: peer.name, version: peer.version ?? "", arithmetic: peer.arithmetic,
            address: address(of: link),
            isDraining: peer.isDraining ?? false, found: found, since: now)
    }

    /// How a member was found, as far as it is known by now: a member that dialled may have been heard since.
    package func found(_ member: Member) -> Member.Found {
        guard member.found == .incoming else { return member.found }
        return state.withLockedValue { $0.dialler }?.found(member.node) ?? .incoming
    }

    /// How the peer of a link was found.
    func found(_ link: Link, _ dialler: Dialler?) -> Member.Found {
        // An address that was dialled without knowing which node is there is one that the operator gave.
        dialler?.found(link.peer.node) ?? (link.candidate.dialledHere ? .join : .incoming)
    }

    /// Round trip of the last ping to a node; `nil` before the first.
    public func roundTrip(to node: NodeID) -> Duration? {
        state.withLockedValue { $0.links.current[node] }?.roundTrip
    }

    /// How far a node's time of day is ahead of this one's, to within half the round trip; `nil` where that node has not told it.
    public func clockOffset(of node: NodeID) -> Duration? {
        state.withLockedValue { $0.links.current[node] }?.clockOffset
    }

    /// The peers of every role.
    package var peers: [Hello] { state.withLockedValue { $0.links.current.values.map(\.peer) } }

    /// Whether there is a link to that node.
    package func isLinked(_ node: NodeID) -> Bool {
        state.withLockedValue { $0.links.current[node] != nil }
    }

    func link(to node: NodeID) -> Link? {
        state.withLockedValue { $0.links.current[node] }
    }

    /// Suggests addresses at which a node may be, the best first. They come from a beacon or from another member.
    func suggest(_ addresses: [NodeAddress], node: NodeID, by found: Member.Found) {
        let dialable = settings.isLoopbackOnly ? addresses.filter(\.isLoopback) : addresses
        guard !dialable.isEmpty else { return }
        let dialler = state.withLockedValue { $0.stage == .stopping ? nil : $0.dialler }
        dialler?.suggest(dialable, node: node, by: found)
    }
}

extension NIOBSDSocket.Option {
    /// TCP_THIN_LINEAR_TIMEOUTS of <linux/tcp.h>: no exponential back-off of the first six retransmissions of a connection
    /// with less than four packets under way (the kernel's tcp-thin documentation).
    fileprivate static let thinLinearTimeouts = NIOBSDSocket.Option(rawValue: 16)
    /// TCP_RTO_MAX_MS of the same header: the longest pause before a retransmission, a second at least.
    fileprivate static let longestRetransmission = NIOBSDSocket.Option(rawValue: 44)
}
