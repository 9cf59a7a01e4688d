import NIOCore
import NIOEmbedded
import Testing

@testable import Transport

@Suite struct PreAuthenticationGuardTests {
    private let limit = PreAuthenticationGuard.limit

    /// A channel with the guard, and a handler after it that notes errors.
    private func channel(_ guardian: PreAuthenticationGuard) throws -> (EmbeddedChannel, ErrorNote) {
        let note = ErrorNote()
        let channel = EmbeddedChannel(handlers: [guardian, note])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return (channel, note)
    }

    /// Bytes that begin as TLS does.
    private func bytes(_ count: Int) -> ByteBuffer { ByteBuffer(repeating: 22, count: count) }

    private func passed(_ channel: EmbeddedChannel) throws -> Int {
        var count = 0
        while let bytes = try channel.readInbound(as: ByteBuffer.self) { count += bytes.readableBytes }
        return count
    }

    @Test func `bytes up to the limit pass`() throws {
        let (channel, note) = try channel(PreAuthenticationGuard(isClient: false))
        try channel.writeInbound(bytes(limit - 1))
        try channel.writeInbound(bytes(1))
        #expect(try passed(channel) == limit)
        #expect(channel.isActive)
        #expect(note.failures.isEmpty)
    }

    @Test func `bytes beyond the limit do not pass, and the connection is closed`() throws {
        let (channel, note) = try channel(PreAuthenticationGuard(isClient: false))
        try channel.writeInbound(bytes(limit))
        try channel.writeInbound(bytes(1))
        try channel.writeInbound(bytes(100_000))
        #expect(try passed(channel) == limit)
        #expect(!channel.isActive)
        #expect(note.failures == [.tooMuchUnauthenticated])
    }

    @Test func `one large read is cut at the limit`() throws {
        let (channel, note) = try channel(PreAuthenticationGuard(isClient: true))
        try channel.writeInbound(bytes(1_000_000))
        #expect(try passed(channel) == limit)
        #expect(note.failures == [.tooMuchUnauthenticated])
    }

    @Test func `an authenticated peer is not counted`() throws {
        let guardian = PreAuthenticationGuard(isClient: false)
        let (channel, note) = try channel(guardian)
        try channel.writeInbound(bytes(10))
        guardian.peerIsAuthenticated()
        try channel.writeInbound(bytes(1_000_000))
        #expect(try passed(channel) == 1_000_010)
        #expect(note.failures.isEmpty)
    }

    @Test func `bytes in the same read as the end of the handshake are not lost`() throws {
        let guardian = PreAuthenticationGuard(isClient: false)
        let (channel, note) = try channel(guardian)
        note.onRead = { guardian.peerIsAuthenticated() }
        try channel.writeInbound(bytes(limit + 5000))
        #expect(try passed(channel) == limit + 5000)
        #expect(note.failures.isEmpty)
    }

    @Test(arguments: [
        ("GET / HTTP/1.1", PeerProtocol.http), ("HTTP/1.1 400 Bad Request", .http), ("PRI * HTTP/2.0", .http),
        ("\u{0}\u{0}\u{0}\u{1e}", .skynet), ("G", .unknown), ("nonsense", .unknown), ("\u{16}\u{3}\u{1}", .tls),
        ("\u{15}\u{3}\u{3}", .tls), ("", .unknown),
    ])
    func `the protocol is recognised by its first bytes`(text: String, spoken: PeerProtocol) {
        #expect(PeerProtocol(firstBytes: text.utf8) == spoken)
    }

    @Test func `a side without TLS learns why it cannot read`() {
        let alert: [UInt8] = [21, 3, 3, 0, 2, 2, 40]
        #expect(PeerProtocol(firstBytes: alert).adviceWithoutTLS?.contains("--cluster-key") == true)
        #expect(PeerProtocol.skynet.adviceWithoutTLS == nil)
    }

    @Test func `a connection that does not begin with TLS is closed at once, with an alert by the server`() throws {
        let (server, note) = try channel(PreAuthenticationGuard(isClient: false))
        try server.writeInbound(ByteBuffer(string: "GET / HTTP/1.1\r\n"))
        #expect(note.failures == [.notTLS(.http)])
        #expect(try passed(server) == 0)
        #expect(!server.isActive)
        #expect(try server.readOutbound(as: ByteBuffer.self) == ByteBuffer(bytes: [21, 3, 3, 0, 2, 2, 40]))

        let (client, noteOfClient) = try channel(PreAuthenticationGuard(isClient: true))
        try client.writeInbound(ByteBuffer(string: "HTTP/1.1 400 Bad Request\r\n"))
        #expect(noteOfClient.failures == [.notTLS(.http)])
        #expect(try client.readOutbound(as: ByteBuffer.self) == nil)
    }
}

private final class ErrorNote: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    var failures: [TLSFailure] = []
    var onRead: () -> Void = {}

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        onRead()
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let failure = error as? TLSFailure { failures.append(failure) }
    }
}
