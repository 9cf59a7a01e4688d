import FoundationEssentials
import NIOCore
import NIOSSL
import NIOTLS

/// Stands behind the TLS handler and lets the connection become active for the handlers after it only when the peer
/// has proved who it is. They never see a connection that is not secure, and see plaintext.
///
/// It fires `AuthenticatedPeer` as a user event just before `channelActive`. It turns every error of TLS into a `TLSFailure`, and
/// only the first one counts.
final class TLSGate: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// Time for the whole TLS handshake; a LAN needs a few milliseconds.
    static let handshakeLimit = TimeAmount.seconds(5)

    private enum State {
        case idle
        case handshaking(timer: Scheduled<Void>)
        case open
        case failed
    }

    private var state = State.idle
    private let tls: NIOSSLHandler
    private let guardian: PreAuthenticationGuard
    private let requiresIdentity: Bool
    private let isCommand: Bool
    private let limit: TimeAmount
    /// When the peer had made the connection, or had sent something that was still unread when this node saw it.
    private var began: ContinuousClock.Instant?

    init(
        tls: NIOSSLHandler, guardian: PreAuthenticationGuard, requiresIdentity: Bool, isCommand: Bool, limit: TimeAmount
    ) {
        self.tls = tls
        self.guardian = guardian
        self.requiresIdentity = requiresIdentity
        self.isCommand = isCommand
        self.limit = limit
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { start(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        start(context)
    }

    private func start(_ context: ChannelHandlerContext) {
        guard case .idle = state else { return }
        began = .now - (ConnectionState.read(context.channel)?.sinceLastData ?? .zero)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let timer = context.eventLoop.scheduleTask(in: limit) {
            let (gate, context) = bound.value
            gate.refuse(.timedOut, context)
        }
        state = .handshaking(timer: timer)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case TLSUserEvent.handshakeCompleted(let negotiated)? = event as? TLSUserEvent else {
            context.fireUserInboundEventTriggered(event)
            return
        }
        guard case .handshaking(let timer) = state else { return }
        let identity = tls.peerCertificate.flatMap { PeerIdentity($0) }
        if negotiated != TLSContextPair.applicationProtocol {
            refuse(.otherApplication, context)
        } else if identity == nil, requiresIdentity {
            refuse(.noIdentity, context)
        } else {
            timer.cancel()
            state = .open
            guardian.peerIsAuthenticated()
            context.fireUserInboundEventTriggered(AuthenticatedPeer(identity: identity))
            context.fireChannelActive()
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .open = state else { return }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch (state, error) {
        case (.failed, _):
            return
        case (.open, is IOError):
            // An error of the network does not concern TLS.
            context.fireErrorCaught(error)
        case (_, is IOError):
            fail(.closedDuringHandshake, context)
        default:
            fail(TLSFailure(error, peer: tls.peerCertificate, now: .now), context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if case .handshaking(let timer) = state { timer.cancel() }
        state = .failed
        context.fireChannelInactive()
    }

    private func refuse(_ failure: TLSFailure, _ context: ChannelHandlerContext) {
        fail(failure, context)
        guardian.abort()
    }

    /// Whether little time has passed. A peer that dislikes what it hears closes at once; one that closes later had waited for long enough,
    /// as where this node or the other was frozen, busy or asleep.
    private var isPrompt: Bool {
        isCommand || began.map { $0.duration(to: .now) < .nanoseconds(limit.nanoseconds / 5) } ?? true
    }

    /// Tells the handlers after this one, once.
    private func fail(_ failure: TLSFailure, _ context: ChannelHandlerContext) {
        if case .failed = state { return }
        if case .handshaking(let timer) = state { timer.cancel() }
        state = .failed
        context.fireErrorCaught(failure == .closedDuringHandshake && !isPrompt ? .timedOut : failure)
    }
}
