import FoundationEssentials
import Glibc
import NIOCore
import NIOEmbedded
import NIOPosix
import NIOSSL
import Synchronization
import Testing

@testable import Transport

/// Both ends over real sockets: which peers are accepted or refused, and with which errors.
@Suite(.timeLimit(.minutes(5))) struct TLSLinkTests {
    private let key: ClusterKey

    init() throws {
        // Old enough that a node whose clock is days behind can still issue.
        key = try ClusterKey.make(now: .now - 30 * 86_400)
    }

    private func contexts(
        _ key: ClusterKey, node: NodeID = .random(), at now: Date = .now
    ) throws -> TLSContexts {
        try #require(try TLSContexts(.clusterKey(key), node: node, now: now))
    }

    @Test func `nodes with the same key connect and know each other's identity`() async throws {
        let (one, two) = (NodeID.random(), NodeID.random())
        let server = SecureLoopback.secure(try contexts(key, node: one), isClient: false)
        let client = SecureLoopback.secure(try contexts(key, node: two), isClient: true)
        try await SecureLoopback.run(server: server, client: client) { server, client in
            // The identity is known before the first byte can come.
            var heard = client.events.makeAsyncIterator()
            #expect(await heard.next() == .peer(PeerIdentity.node(one)))
            #expect(await heard.next() == .active)
            var heardByServer = server.events.makeAsyncIterator()
            #expect(await heardByServer.next() == .peer(PeerIdentity.node(two)))
            #expect(await heardByServer.next() == .active)
            try await client.send("hello")
            #expect(await heardByServer.next() == .read("hello"))
            try await server.send("welcome")
            #expect(await heard.next() == .read("welcome"))
            let version = try await server.channel.nioSSL_tlsVersion().get()
            #expect(version == .tlsv13)
            try await client.channel.close()
            #expect(await heardByServer.next() == .inactive)
        }
    }

    @Test func `while the clock says a time before 1970 no connection gets TLS`() throws {
        let contexts = try contexts(key)
        for isClient in [false, true] {
            let channel = EmbeddedChannel()
            #expect(throws: TLSFailure.other("this machine's clock says a time before 1970; set the clock")) {
                try contexts.install(
                    in: channel.pipeline.syncOperations, isClient: isClient, now: Date(timeIntervalSince1970: -1))
            }
            _ = try channel.finish()
        }
    }

    @Test func `another key is refused on both sides`() async throws {
        let other = try ClusterKey.make(now: .now)
        let server = SecureLoopback.secure(try contexts(key), isClient: false)
        let client = SecureLoopback.secure(try contexts(other), isClient: true)
        try await SecureLoopback.run(server: server, client: client) { server, client in
            #expect(await client.failure() == .otherAuthority)
            #expect(await server.failure() == .notTrustedByPeer)
        }
    }

    @Test func `a client that accepts any server is refused by the server for its other key`() async throws {
        let other = try NodeCertificate(
            issuedBy: try ClusterKey.make(now: .now), node: .random(), now: .now)
        let server = SecureLoopback.secure(try contexts(key), isClient: false)
        let client = try SecureLoopback.client(showing: other)
        try await SecureLoopback.run(server: server, client: client) { server, _ in
            #expect(await server.next { _ in true } == .failed(.otherAuthority))
        }
    }

    @Test func `a client without a certificate is refused`() async throws {
        let server = SecureLoopback.secure(try contexts(key), isClient: false)
        try await SecureLoopback.run(server: server, client: try SecureLoopback.client()) { server, _ in
            #expect(await server.next { _ in true } == .failed(.noCertificate))
        }
    }

    @Test func `TLS 1_2 is refused even with the right certificate`() async throws {
        let own = try NodeCertificate(issuedBy: key, node: .random(), now: .now)
        let server = SecureLoopback.secure(try contexts(key), isClient: false)
        let client = try SecureLoopback.client(showing: own) { $0.maximumTLSVersion = .tlsv12 }
        try await SecureLoopback.run(server: server, client: client) { server, _ in
            #expect(await server.next { _ in true } == .failed(.oldVersion))
        }
    }

    @Test func `another application inside TLS is refused`() async throws {
        let own = try NodeCertificate(issuedBy: key, node: .random(), now: .now)
        let server = SecureLoopback.secure(try contexts(key), isClient: false)
        let client = try SecureLoopback.client(showing: own) { $0.applicationProtocols = ["h2"] }
        try await SecureLoopback.run(server: server, client: client) { server, _ in
            #expect(await server.next { _ in true } == .failed(.otherApplication))
        }
    }

    @Test(arguments: [-3.0, 3.0])
    func `a certificate of another day is refused, and the clocks are named`(days: Double) async throws {
        let wrong = try contexts(key, at: .now + days * 86_400)
        let right = try contexts(key)
        func isAboutTime(_ failure: TLSFailure?) -> Bool {
            switch failure {
            case .expired: days < 0
            case .notYetValid: days > 0
            default: false
            }
        }
        // The wrong one dials, then the wrong one is dialled.
        try await SecureLoopback.run(
            server: SecureLoopback.secure(right, isClient: false), client: SecureLoopback.secure(wrong, isClient: true)
        ) { server, client in
            let failure = await server.failure()
            #expect(isAboutTime(failure), "\(String(describing: failure))")
            #expect(failure?.description.contains("check the clocks of both machines") == true)
            #expect(await client.failure() == .outOfDateForPeer)
        }
        try await SecureLoopback.run(
            server: SecureLoopback.secure(wrong, isClient: false), client: SecureLoopback.secure(right, isClient: true)
        ) { server, client in
            #expect(isAboutTime(await client.failure()))
            #expect(await server.failure() == .outOfDateForPeer)
        }
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", TLSFailure.notTLS(.http)),
        ("\u{0}\u{0}\u{0}\u{20}\u{1}\u{0}SKYN", .notTLS(.skynet)), ("SSH-2.0-OpenSSH\r\n", .notTLS(.unknown)),
    ])
    func `a peer without TLS is refused and recognised, and gets an alert`(
        text: String, failure: TLSFailure
    ) async throws {
        let server = SecureLoopback.secure(try contexts(key), isClient: false)
        try await SecureLoopback.run(server: server, client: SecureLoopback.plain) { server, client in
            try await client.send(text)
            #expect(await server.next { _ in true } == .failed(failure))
            let answer = try #require(await client.answer())
            #expect(PeerProtocol(firstBytes: answer.utf8) == .tls)
        }
    }

    @Test func `dialling a node without TLS is reported`() async throws {
        let client = SecureLoopback.secure(try contexts(key), isClient: true)
        try await SecureLoopback.run(server: SecureLoopback.plain, client: client) { server, client in
            try await server.send("\u{0}\u{0}\u{0}\u{20}\u{2}")
            #expect(await client.failure() == .notTLS(.skynet))
        }
        try await SecureLoopback.run(server: SecureLoopback.plain, client: client) { server, client in
            // A node without a key reads the client's hello and cannot make sense of it.
            #expect(await server.answer() != nil)
            try await server.channel.close()
            #expect(await client.failure() == .closedDuringHandshake)
        }
    }

    @Test func `a silent peer is given up in time`() async throws {
        let contexts = try contexts(key)
        let server: PipelineSetup = { try contexts.install(in: $0, isClient: false, within: .milliseconds(1)) }
        try await SecureLoopback.run(server: server, client: SecureLoopback.plain) { server, client in
            #expect(await server.next { _ in true } == .failed(.timedOut))
            // At once, not after waiting for a farewell.
            #expect(await client.next { $0 == .inactive } == .inactive)
        }
    }

    /// A connection whose peer has closed it, and that has waited to be accepted meanwhile.
    private func abandoned(byReset: Bool, for time: Duration) async throws -> CInt {
        guard let listener = LoopbackListener(), let client = listener.connect() else { throw ChannelError.eof }
        var linger = linger(l_onoff: byReset ? 1 : 0, l_linger: 0)
        setsockopt(client, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        close(client)
        let closed = ContinuousClock.now
        while closed.duration(to: .now) < time { await Task.yield() }
        return accept(listener.descriptor, nil, nil)
    }

    @Test(arguments: [false, true])
    func `a peer that has hung up while this node was frozen is not said to have another key`(
        byReset: Bool
    ) async throws {
        let contexts = try contexts(key)
        for (limit, time, isCommand, failure) in [
            (TimeAmount.milliseconds(100), Duration.milliseconds(40), false, TLSFailure.timedOut),
            (.hours(1), .milliseconds(40), false, .closedDuringHandshake),
            (.seconds(1), .milliseconds(250), true, .closedDuringHandshake),
        ] {
            let connection = try await abandoned(byReset: byReset, for: time)
            let end = SecureEnd()
            let setup: PipelineSetup = { pipeline in
                try contexts.install(in: pipeline, isClient: false, isCommand: isCommand, within: limit)
                try pipeline.addHandler(end.handler())
            }
            _ = try? await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture { try setup(channel.pipeline.syncOperations) }
                }
                .withConnectedSocket(connection).get()
            #expect(await end.failure() == failure)
        }
    }

    @Test func `data cannot be read on the wire`() async throws {
        let secret = "M31 and the nuclear launch codes"
        let wire = Mutex<[UInt8]>([])
        let server = SecureLoopback.secure(try contexts(key), isClient: false)
        let contexts = try contexts(key)
        let client: PipelineSetup = { pipeline in
            try pipeline.addHandler(WireTap { bytes in wire.withLock { $0 += bytes } })
            try contexts.install(in: pipeline, isClient: true, within: .seconds(50))
        }
        try await SecureLoopback.run(server: server, client: client) { server, client in
            try await client.untilActive()
            try await client.send(secret)
            #expect(await server.text(secret))
            try await server.send(secret)
            #expect(await client.text(secret))
        }
        let seen = wire.withLock { $0 }
        #expect(seen.count > 1000)
        for hidden in [secret, "launch", "urn:skynet"] {
            #expect(!seen.contains(Array(hidden.utf8)), "\(hidden)")
        }
    }

    @Test func `a renewed certificate is used by new connections, and the old ones go on`() async throws {
        let contexts = try contexts(key)
        let client = SecureLoopback.secure(try self.contexts(key), isClient: true)
        try await SecureLoopback.serve(SecureLoopback.secure(contexts, isClient: false)) { connect in
            let (oldServer, oldClient) = try await connect(client)
            try await oldClient.untilActive()
            try await oldServer.untilActive()
            let before = try await oldClient.peerSerialNumber()

            #expect(try contexts.renew(now: .now))

            let (newServer, newClient) = try await connect(client)
            try await newClient.untilActive()
            try await newServer.untilActive()
            #expect(try await newClient.peerSerialNumber() != before)
            #expect(try await oldClient.peerSerialNumber() == before)
            try await oldClient.send("still here")
            #expect(await oldServer.text("still here"))
            try await newServer.send("here too")
            #expect(await newClient.text("here too"))
        }
    }
}

/// Hears every byte of a connection, in both directions.
private final class WireTap: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private let hear: ([UInt8]) -> Void

    init(_ hear: @escaping ([UInt8]) -> Void) {
        self.hear = hear
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hear(Array(buffer: unwrapInboundIn(data)))
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        hear(Array(buffer: unwrapOutboundIn(data)))
        context.write(data, promise: promise)
    }
}

/// A TCP socket on 127.0.0.1 that accepts nothing by itself.
private struct LoopbackListener: ~Copyable {
    let descriptor: CInt
    private var address = sockaddr_in()

    init?() {
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        guard withAddress({ bind(descriptor, $0, $1) }) == 0, listen(descriptor, 1) == 0 else { return nil }
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(descriptor, $0, &length) }
        }
    }

    deinit { close(descriptor) }

    func connect() -> CInt? {
        let client = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        return withAddress { Glibc.connect(client, $0, $1) } == 0 ? client : nil
    }

    private func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
