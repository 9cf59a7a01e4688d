import NIOCore

/// Stands before the TLS handler and counts the raw bytes of a peer that has not proved who it is. Beyond a limit the connection is
/// closed. It is closed at once where the first byte is not TLS.
///
/// An unauthenticated peer makes this node hold less than 64 KiB in all (resident memory of a connection, measured with 400 at
/// once: 24 KB silent, 30 KB after a hello, 58 KB at this limit). The bounds are these:
/// - NIOSSLHandler allocates 32 KiB for plaintext and 16 KiB for its output when it is added. A peer that has not
///   finished the handshake makes it touch little of either.
/// - BoringSSL keeps the record that is arriving (at most 16 KiB and 325 bytes) and the handshake message that it belongs
///   to (at most `max_cert_list`, 100 KiB, where certificates are awaited, else 16 KiB; NIOSSL offers no way to lower
///   it). Every byte of both came through here, so `limit` bounds them first.
/// - The bytes that one read took from the socket are given to BoringSSL before the next read.
/// - Frames exist only behind TLS; there `FrameLimits.handshake` holds until the hello is accepted.
final class PreAuthenticationGuard: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// A node's whole part of a handshake has 2 KiB; with a chain of three RSA-4096 certificates of an own PKI, it has some 8 KiB.
    static let limit = 16 * 1024

    private enum State {
        case nothingReceived
        case counting(Int)
        case authenticated
        case closed
    }

    private var state = State.nothingReceived
    private let isClient: Bool
    private var context: ChannelHandlerContext?

    init(isClient: Bool) {
        self.isClient = isClient
    }

    /// Notes that the peer has proved who it is. Others bound what it sends from here on.
    func peerIsAuthenticated() {
        if case .closed = state { return }
        state = .authenticated
    }

    /// Ends the connection at once, without TLS's farewell, which would wait for the peer's answer.
    func abort() {
        state = .closed
        context?.close(promise: nil)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        switch state {
        case .authenticated:
            context.fireChannelRead(data)
        case .closed:
            return
        case .nothingReceived:
            let spoken = PeerProtocol(firstBytes: bytes.readableBytesView)
            if spoken == .tls || bytes.readableBytes == 0 {
                count(&bytes, after: 0, context)
            } else {
                refuse(spoken, context)
            }
        case .counting(let before):
            count(&bytes, after: before, context)
        }
    }

    /// Passes on no more than the limit. The peer may be authenticated by these very bytes, and what follows them is
    /// then no longer counted.
    private func count(_ bytes: inout ByteBuffer, after before: Int, _ context: ChannelHandlerContext) {
        let allowed = min(bytes.readableBytes, PreAuthenticationGuard.limit - before)
        state = .counting(before + allowed)
        if let slice = bytes.readSlice(length: allowed) { context.fireChannelRead(wrapInboundOut(slice)) }
        guard bytes.readableBytes > 0 else { return }
        if case .authenticated = state {
            context.fireChannelRead(wrapInboundOut(bytes))
        } else {
            close(.tooMuchUnauthenticated, context)
        }
    }

    private func refuse(_ spoken: PeerProtocol, _ context: ChannelHandlerContext) {
        if !isClient {
            // A fatal alert, handshake_failure (RFC 8446, 6), as BoringSSL would send it: a node without TLS at the
            // other end sees by it what is spoken here.
            let alert = ByteBuffer(bytes: [21, 3, 3, 0, 2, 2, 40])
            context.writeAndFlush(wrapOutboundOut(alert), promise: nil)
        }
        close(.notTLS(spoken), context)
    }

    private func close(_ failure: TLSFailure, _ context: ChannelHandlerContext) {
        if case .closed = state { return }
        context.fireErrorCaught(failure)
        abort()
    }
}
