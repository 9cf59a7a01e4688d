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
    public typealias ResultHandler = ReplyHandler
    public typealias SerializationRequirement = any Codable & Sendable

    /// This run of this node.
    public let node: NodeID
    public let name: String
    package let logger: Logger
    let settings: ClusterSettings
    let eventLoopGroup: any EventLoopGroup
    let epoch = ContinuousClock.now
    let actors = ActorDirectory()
    let metrics: TransportMetrics

    private struct State {
        var links: [NodeID: Link] = [:]
        /// Replaced ones on which calls are still under way.
        var givingWay: [Link] = []
        var server: (any Channel)?
        var discovery: Discovery?
        var dialer: Dialer?
        var tls: TLSContexts?
        var renewal: RepeatedTask?
        var listening: NodeAddress?
        var isStarted = false
        var isStopping = false
        var pending: PendingConnections
        /// What was logged of neighbours already, so that a misconfigured one costs one line and not one a second.
        var logged = DailyNews()
        /// What may be said again and again, but not without end.
        var logLimit = LogLimit()
    }

    private let state: BriefLock<State>
    private let feed = MembershipFeed()
    private let lastDial = Atomic<UInt64>(0)
    private let linksNow = Atomic<Int>(0)
    private let isDraining = Atomic<Bool>(false)

    public init(_ settings: ClusterSettings) {
        self.settings = settings
        state = BriefLock(State(pending: PendingConnections(limit: settings.pendingConnections)))
        metrics = TransportMetrics(settings.metrics ?? MetricsSystem.factory)
        node = .random()
        name = settings.name
        eventLoopGroup = settings.eventLoopGroup
        var logger = settings.logger
        logger.handler.metadataProvider =
            .multiplex([logger.metadataProvider, CallTrace.metadataProvider].compactMap(\.self))
        logger[metadataKey: "node"] = "\(settings.name)"
        self.logger = logger
    }

    /// Time since this system was made.
    package var now: Duration { epoch.duration(to: .now) }

    /// The address accepted on, with the port that was chosen; `nil` before `start()` and where none was asked for.
    public var listeningAddress: NodeAddress? { state.withLockedValue { $0.listening } }

    func secure(by tls: TLSContexts, renewal: RepeatedTask) {
        state.withLockedValue {
            $0.tls = tls
            $0.renewal = renewal
        }
    }

    // MARK: - Life

    /// Listens, joins the seeds and starts discovery, as set up. Once; a system that could not start, or has been shut
    /// down, does not start again.
    ///
    /// - Throws: an error of the system where an address cannot be bound, `SecurityError` where a key or certificate is
    ///   of no use, `NetworkInterfaceError`, `MulticastError`, `TransportError.notRunning` where it is shut down
    ///   meanwhile or has been.
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
        let dialer = Dialer(system: self)
        try state.withLockedValue { state in
            // Whatever a shutdown did not see yet is closed by another one that follows this error.
            if state.isStopping { throw TransportError.notRunning }
            state.dialer = dialer
            state.isStarted = true
        }
        for seed in settings.join { dialer.seed(seed) }
        if let multicast = settings.multicast, settings.role == .node {
            let discovery = Discovery(settings: multicast, system: self)
            try state.withLockedValue { state in
                if state.isStopping { throw TransportError.notRunning }
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
    /// - Parameter limit: time for those calls, `ClusterSettings.closingLimit` by default. What is not done by then fails
    ///   with `connectionLost`.
    public func shutdown(within limit: Duration? = nil) async {
        let (server, discovery, dialer, links) = state.withLockedValue { state in
            state.isStopping = true
            return (state.server, state.discovery, state.dialer, state.links.values + state.givingWay)
        }
        state.withLockedValue { $0.renewal }?.cancel()
        dialer?.stop()
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
            $0.dialer = nil
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
                // And after six of them not at much longer ones; of use from Linux 6.15 on, unknown before.
                try? channel.syncOptions?.setOption(.tcpOption(.longestRetransmission), value: 1000)
            }
            if !dialled { try accept(channel) }
            if let tls = state.withLockedValue({ $0.tls }) {
                try tls.install(in: channel.pipeline.syncOperations, isClient: dialled)
            }
            let handler = LinkHandler(system: self, dialled: dialled, established: established)
            try channel.pipeline.syncOperations.addHandler(handler)
        }
    }

    /// Counts a connection that somebody opened among those that have not said who they are.
    private func accept(_ channel: any Channel) throws {
        // Its bytes are read in small portions until it has.
        try channel.syncOptions?.setOption(
            .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: FrameLimits.handshake))
        let (isStopping, crowdedOut) = state.withLockedValue { state in
            (state.isStopping, state.pending.add(channel, from: channel.remoteAddress?.ipAddress ?? ""))
        }
        if isStopping { channel.close(promise: nil) }
        crowdedOut?.close(promise: nil)
        channel.closeFuture.whenComplete { [state] _ in state.withLockedValue { $0.pending.remove(channel) } }
    }

    /// The handshake of a connection is done.
    func authenticated(_ channel: any Channel) {
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
        // Before the start there is no certificate either, and nothing leaves in clear that should not.
        guard state.withLockedValue({ $0.isStarted && !$0.isStopping }) else {
            return loop.makeFailedFuture(TransportError.notRunning)
        }
        let established = loop.makePromise(of: Link.self)
        let bootstrap = ClientBootstrap(group: loop)
            .connectTimeout(Dialer.connectLimit)
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

    /// Dials a node once and gives its hello.
    ///
    /// - Throws: `HandshakeFailure`, `TransportError.notRunning` or an error of the system; nothing is tried again.
    @discardableResult
    public func join(_ address: NodeAddress) async throws -> Hello {
        try await connect(to: address).get().peer
    }

    /// Accepted connections whose handshake is not done.
    var pendingConnections: Int { state.withLockedValue { $0.pending.count } }

    // MARK: - Membership

    /// The nodes this one has a link to, by name.
    public var members: [Member] { feed.members }

    /// `joined` for every present member, then every change as it happens. The sequence ends at shutdown, and for a
    /// listener that falls more than 4,096 events behind; that one may ask again.
    public func membershipEvents() -> AsyncStream<MembershipEvent> { feed.events() }

    /// This node as others list it.
    package var ownMember: Member {
        var address = advertised
        if address?.isWildcard == true, case .hostPort(_, let port) = address {
            // As those see it who hear its beacons.
            let interfaces = (try? NetworkInterface.all()) ?? []
            let own = interfaces.flatMap(\.addresses).first { $0.isRoutable }
            if let own { address = .hostPort(host: own.description, port: port) }
        }
        return Member(
            node: node, name: name, version: settings.version ?? "", address: address,
            isDraining: isDraining.load(ordering: .relaxed), found: .join, since: .zero)
    }

    /// Dials an address again and again from now on, as those of `ClusterSettings.join`.
    package func seed(_ address: NodeAddress) {
        state.withLockedValue { $0.dialer }?.seed(address)
    }

    /// Returns when every event loop has found time for it.
    package func visitEventLoops() async {
        for loop in eventLoopGroup.makeIterator() {
            try? await loop.submit {}.get()
        }
    }

    /// Tells all peers, and those to come, whether this node takes new work. It is their business to heed it.
    package func drain(_ isDraining: Bool) {
        guard self.isDraining.exchange(isDraining, ordering: .sequentiallyConsistent) != isDraining else { return }
        for link in state.withLockedValue({ Array($0.links.values) }) {
            link.send(ClusterSystem.draining(isDraining))
        }
    }

    private static func draining(_ isDraining: Bool) -> Frame {
        Frame(.draining, body: ByteBuffer(integer: UInt8(isDraining ? 1 : 0)))
    }

    func heard(draining: Bool, from link: Link) {
        guard link.peer.role == .node, isCurrent(link) else { return }
        feed.update { $0.draining(link.peer.node, draining) }
    }

    private func member(by link: Link, found: Member.Found) -> Member {
        let peer = link.peer
        return Member(
            node: peer.node, name: peer.name, version: peer.version ?? "", address: address(of: link),
            isDraining: peer.isDraining ?? false, found: found, since: now)
    }

    /// How a member was found, as far as is known by now: one that dialled may have been heard since.
    package func found(_ member: Member) -> Member.Found {
        guard member.found == .incoming else { return member.found }
        return state.withLockedValue { $0.dialer }?.found(member.node) ?? .incoming
    }

    /// How the peer of a link was found.
    private func found(_ link: Link, _ dialer: Dialer?) -> Member.Found {
        // Whose address was dialled without knowing who is there is one that the operator gave.
        dialer?.found(link.peer.node) ?? (link.candidate.dialledHere ? .join : .incoming)
    }

    /// Round trip of the last ping to a node; `nil` before the first.
    public func roundTrip(to node: NodeID) -> Duration? {
        state.withLockedValue { $0.links[node] }?.roundTrip
    }

    /// How far a node's time of day is ahead of this one's, to within half the round trip; `nil` where it has not told.
    public func clockOffset(of node: NodeID) -> Duration? {
        state.withLockedValue { $0.links[node] }?.clockOffset
    }

    /// The peers of every role.
    package var peers: [Hello] { state.withLockedValue { $0.links.values.map(\.peer) } }

    /// Whether there is a link to that node.
    package func isLinked(_ node: NodeID) -> Bool {
        state.withLockedValue { $0.links[node] != nil }
    }

    func link(to node: NodeID) -> Link? {
        state.withLockedValue { $0.links[node] }
    }

    /// A node may be at one of these addresses, the best first: from a beacon or another member.
    func suggest(_ addresses: [NodeAddress], node: NodeID, by found: Member.Found) {
        let dialable = settings.isLoopbackOnly ? addresses.filter(\.isLoopback) : addresses
        guard !dialable.isEmpty else { return }
        let dialer = state.withLockedValue { $0.isStopping ? nil : $0.dialer }
        dialer?.suggest(dialable, node: node, by: found)
    }

    /// A node was heard by multicast, and told where it can be reached now. That says something for a silent link to one of
    /// these addresses; of one to an address that the node has no more nothing is to be expected.
    func heardBeacon(of node: NodeID, at addresses: [NodeAddress]) {
        guard let link = link(to: node), let address = address(of: link), addresses.contains(address) else { return }
        link.vouch(at: now)
    }

    /// This machine has an address no more: whatever was linked from there hardly works.
    func lost(address: IPAddress) {
        for link in state.withLockedValue({ Array($0.links.values) }) where link.localAddress == address {
            link.doubt()
        }
    }

    /// A beacon said that a node leaves. Where there is a link, that says it too, and later than its last answer.
    func heardGoodbye(of node: NodeID) {
        let dialer = state.withLockedValue { $0.links[node] == nil ? $0.dialer : nil }
        dialer?.left(node)
    }

    // MARK: - Links, as their handlers report them

    /// The hello for one more connection.
    func makeHello() -> Hello {
        var hello = Hello(
            cluster: settings.cluster, node: node, name: name, role: settings.role, advertised: advertised,
            limits: settings.limits, dial: lastDial.add(1, ordering: .relaxed).newValue, version: settings.version,
            isDraining: isDraining.load(ordering: .sequentiallyConsistent) ? true : nil)
        (hello.minimumVersion, hello.maximumVersion) = (settings.protocols.lowerBound, settings.protocols.upperBound)
        return hello
    }

    /// What others are told to dial: as set, or the listening address unless it stands for all addresses, in which
    /// case they know better from where they see this node.
    var advertised: NodeAddress? {
        if let advertise = settings.advertise {
            if case .hostPort(_, 0) = advertise, case .hostPort(_, let port) = listeningAddress {
                return advertise.with(port: port)
            }
            return advertise
        }
        // A Unix socket is nobody's business but that of whoever was told its path.
        guard settings.role == .node, case .hostPort = listeningAddress else { return nil }
        return listeningAddress
    }

    /// Why a link to this peer is not wanted now.
    private func objection(to link: Link, in state: State) -> Refusal? {
        let peer = link.peer
        if state.isStopping { return Refusal(.leaving, "\(name) is shutting down") }
        if let old = state.links[peer.node],
            !LinkChoice.newReplacesOld(own: node, peer: peer.node, old: old.candidate, new: link.candidate)
        {
            let dialled = link.candidate.dialledHere ? peer.node : node
            return Refusal(.duplicate, "\(name) has a link to \(peer.name) already", by: dialled)
        }
        if settings.isLoopbackOnly, let address = link.remoteAddress, !address.isLoopback {
            return Refusal(.role, "\(name) links to its own machine only, and \(address) is another")
        }
        return nil
    }

    /// Why a link to a process of this machine is not wanted where nothing else tells who that is: whoever has a link may do what
    /// this node's user may, whichever side dialled.
    private func objection(toUserOf link: Link) -> Refusal? {
        guard settings.isLoopbackOnly, !settings.security.isOn, let owner = link.peerSocketOwner else { return nil }
        switch owner {
        case .user(let user) where settings.servedUsers.contains(user): return nil
        case .unknown: return nil
        case .user, .nobody:
            return Refusal(
                .role, "without a key, \(name) serves its own user only; give both the same key (--cluster-key)")
        }
    }

    /// A handshake is done. Says why where the link is not wanted after all.
    func established(_ link: Link) -> Refusal? {
        let peer = link.peer
        if let refusal = objection(toUserOf: link) { return refusal }
        // Asked first: the dialer has a lock of its own.
        let found = found(link, state.withLockedValue { $0.dialer })
        // The membership changes under the same lock as the links: seen apart, the end of an old link and the start of a
        // new one could be told in the wrong order.
        let (refusal, replaced): (Refusal?, Link?) = state.withLockedValue { state in
            if let objection = objection(to: link, in: state) { return (objection, nil) }
            let old = state.links.updateValue(link, forKey: peer.node)
            if let old { state.givingWay.append(old) }
            if peer.role == .node {
                let member = member(by: link, found: found)
                feed.update { $0.linked(member) }
            }
            return (nil, old)
        }
        if let refusal { return refusal }
        noteLinks()
        // What is under way on the other link may finish there.
        replaced?.giveWay()
        superseded(by: link)
        if peer.role == .node { introduce(link) }
        // It may have begun since the hello was made.
        if isDraining.load(ordering: .sequentiallyConsistent) { link.send(ClusterSystem.draining(true)) }
        logger.debug("linked", metadata: ["peer": "\(peer.name)", "role": "\(peer.role.rawValue)"])
        return nil
    }

    private func noteLinks() {
        let count = state.withLockedValue { $0.links.count }
        linksNow.store(count, ordering: .relaxed)
        metrics.linked(count: count)
    }

    /// Links up, as of a moment ago.
    var linkCount: Int { linksNow.load(ordering: .relaxed) }

    /// Another node at the address of an older one: the older has been restarted, or two were told to advertise one
    /// address. The older gets a short time to show that it lives, instead of the usual one.
    private func superseded(by link: Link) {
        guard link.peer.role == .node, let address = address(of: link) else { return }
        let others = state.withLockedValue { Array($0.links.values) }
        for other in others where other !== link && other.peer.node != link.peer.node {
            if other.peer.role == .node, self.address(of: other) == address { other.doubt() }
        }
    }

    func ended(_ link: Link) {
        let peer = link.peer
        let wasCurrent = state.withLockedValue { state in
            state.givingWay.removeAll { $0 === link }
            guard state.links[peer.node] === link else { return false }
            state.links[peer.node] = nil
            if peer.role == .node { feed.update { $0.unlinked(peer.node, saidGoodbye: link.isLeaving) } }
            return true
        }
        noteLinks()
        guard wasCurrent, peer.role == .node else { return }
        let dialer = state.withLockedValue { $0.isStopping ? nil : $0.dialer }
        dialer?.lost(peer.node, saidGoodbye: link.isLeaving)
    }

    func suspected(_ link: Link) {
        let discovery = state.withLockedValue { state -> Discovery? in
            // A link that was replaced says nothing of whether its peer lives; and a client sends no beacons.
            guard state.links[link.peer.node] === link, link.peer.role == .node else { return nil }
            feed.update { $0.suspected(link.peer.node) }
            return state.discovery
        }
        // Who is there answers within a tenth of a second.
        discovery?.ask()
    }

    /// Whether it is the one link to its peer.
    private func isCurrent(_ link: Link) -> Bool {
        state.withLockedValue { $0.links[link.peer.node] === link }
    }

    func revived(_ link: Link) {
        state.withLockedValue { state in
            guard state.links[link.peer.node] === link else { return }
            feed.update { $0.heard(link.peer.node) }
        }
    }

    /// Beacons count for 30 s and certificates begin an hour before they are made: clocks that differ by more than this are on
    /// their way there.
    static let clockTolerance = Duration.seconds(10)

    func compared(clockOf link: Link, offset: Duration, within roundTrip: Duration) {
        let gap = offset < .zero ? .zero - offset : offset
        guard gap > ClusterSystem.clockTolerance + roundTrip, isNews("clock", of: link.peer.name) else { return }
        logger.warning(
            "the clock of another node differs from this one's; do both machines set their clocks by NTP?",
            metadata: ["peer": "\(link.peer.name)", "ahead": "\(offset.components.seconds) s"])
    }

    func refused(_ reason: String, peer: String) {
        if isNews(reason, of: peer) {
            logger.notice("refused a connection", metadata: ["peer": "\(peer)", "reason": "\(reason)"])
        }
    }

    func broke(_ reason: String, peer: String) {
        if isNews(reason, of: peer) {
            logger.warning(
                "closed a connection that sent something that is not the protocol",
                metadata: ["peer": "\(peer)", "reason": "\(reason)"])
        }
    }

    /// Whether this has not been logged for a day.
    private func isNews(_ text: String, of peer: String) -> Bool {
        let now = now
        return state.withLockedValue { $0.logged.isNews(text, of: peer, now: now) }
    }

    /// Logs what a peer causes as often as it likes.
    func warn(_ message: Logger.Message, of peer: String) {
        let now = now
        guard let leftOut = state.withLockedValue({ $0.logLimit.line("\(message)", of: peer, now: now) }) else {
            return
        }
        var metadata: Logger.Metadata = ["peer": "\(peer)"]
        if leftOut > 0 { metadata["left out"] = "\(leftOut) more like this" }
        logger.warning(message, metadata: metadata)
    }

    /// Where the other nodes reach the peer of this link.
    private func address(of link: Link) -> NodeAddress? {
        guard let advertised = link.peer.advertised else { return nil }
        guard advertised.isWildcard, case .hostPort(_, let port) = advertised else { return advertised }
        return link.remoteAddress?.with(port: port)
    }

    // MARK: - Introductions

    /// Tells a newcomer whom this node knows, so that one reachable seed is enough: it then dials the others.
    private func introduce(_ newcomer: Link) {
        let introductions = Introduction.choose(
            members, heard: state.withLockedValue { $0.dialer }?.heard ?? [], for: newcomer.peer.node)
        if !introductions.isEmpty, let body = try? WireCoder.encode(introductions) {
            newcomer.send(Frame(.peers, body: body))
        }
    }

    func received(peers body: ByteBuffer, from link: Link) {
        guard link.peer.role == .node, let introductions = try? WireCoder.decode([Introduction].self, from: body)
        else { return }
        for introduction in introductions.prefix(Introduction.limit) {
            guard introduction.address.isDialable, !introduction.address.isWildcard, !introduction.address.isScoped
            else { continue }
            // Another machine's loopback is not ours, unless that machine is this one.
            if introduction.address.isLoopback, link.remoteAddress?.isLoopback != true { continue }
            suggest([introduction.address], node: introduction.node, by: .introduction)
        }
    }
}

extension NIOBSDSocket.Option {
    /// TCP_THIN_LINEAR_TIMEOUTS of <linux/tcp.h>: no exponential back-off of the first six retransmissions of a connection
    /// with less than four packets under way (the kernel's tcp-thin documentation).
    fileprivate static let thinLinearTimeouts = NIOBSDSocket.Option(rawValue: 16)
    /// TCP_RTO_MAX_MS of the same header: the longest pause before a retransmission, a second at least.
    fileprivate static let longestRetransmission = NIOBSDSocket.Option(rawValue: 44)
}
