import Logging
import NIOCore

/// The channel handler of one connection: runs the handshake, cuts bytes into frames and frames into bytes, keeps
/// watch over the peer. Decides nothing itself; `Handshake`, `FrameDecoder`, `BodyAssembler`, `ReceiveWindow` and
/// `Liveness` do. Lives on its channel's event loop.
final class LinkHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    /// Nobody writes through the pipeline: frames go to the link's outbox, and a flush makes this handler look there.
    typealias OutboundIn = Never
    typealias OutboundOut = ByteBuffer

    /// Time for the whole handshake, that of TLS included; a LAN needs a few milliseconds.
    static let handshakeLimit = TimeAmount.seconds(5)

    /// How much comes in at once where it is copied out of the buffer that it was read into.
    private static let copied = 513...16 * 1024

    private let system: ClusterSystem
    private let dialled: Bool
    /// Told once how the handshake ended.
    private let established: EventLoopPromise<Link>?

    private lazy var hello = system.makeHello()
    private lazy var handshake = Handshake(own: hello, dialled: dialled) { [identity] peer in
        identity?.objection(to: peer.node).map { Refusal(.identity, $0) }
    }
    /// Who the peer is by its certificate.
    private var identity: PeerIdentity?
    private var hasStarted = false
    private var decoder = FrameDecoder()
    private var assembler: BodyAssembler
    private var window: ReceiveWindow
    private var targets = DeclaredTargets()
    private var liveness: Liveness
    private var link: Link?
    private var failure: HandshakeFailure?
    private var handshakeTimer: Scheduled<Void>?
    private let look = LookTimer.Place()
    private var lookTimer: LookTimer?
    private var segments = SegmentCount()
    private var deadlineTimer: (due: Duration, task: Scheduled<Void>)?
    private var pingSentAt: Duration?
    private var writer = FrameWriter()
    /// Whether bytes are being taken in, so that what they cause is written together at the end.
    private var isReading = false
    private var isPumping = false
    private var isClosing = false
    private var hasEnded = false
    /// Bytes taken in that are not granted again while too much waits to be decoded.
    private var ungranted = 0

    init(system: ClusterSystem, dialled: Bool, established: EventLoopPromise<Link>?) {
        self.system = system
        self.dialled = dialled
        self.established = established
        liveness = Liveness(silenceLimit: system.settings.silenceLimit, asksFirst: dialled, now: system.now)
        let limits = system.settings.limits
        assembler = BodyAssembler(bodyLimit: Int(clamping: limits.body))
        window = ReceiveWindow(size: Int(clamping: limits.window))
    }

    // MARK: - Life of the channel

    func handlerAdded(context: ChannelHandlerContext) {
        // From here, so that TLS and the hello share one limit.
        let limit = LinkHandler.handshakeLimit + (dialled ? Dialer.connectLimit : .zero)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        handshakeTimer = context.eventLoop.scheduleTask(in: limit) {
            let (handler, context) = bound.value
            handler.advance(.timedOut, context)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        // A connection that never came up is not told that it has ended.
        handshakeTimer?.cancel()
    }

    /// The peer's certificate has been verified; `channelActive` follows.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let peer = event as? AuthenticatedPeer { identity = peer.identity }
        context.fireUserInboundEventTriggered(event)
    }

    /// The connection is up, and secure where it has to be.
    func channelActive(context: ChannelHandlerContext) {
        guard !hasStarted else { return }
        hasStarted = true
        advance(.connected, context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    /// Tells everybody who waits; only the first call does something.
    private func end() {
        guard !hasEnded else { return }
        hasEnded = true
        handshakeTimer?.cancel()
        lookTimer?.cancel(look)
        deadlineTimer?.task.cancel()
        if let link {
            link.ended()
            system.ended(link)
        } else {
            system.metrics.handshakeFailed()
            established?.fail(failure ?? .broken("the connection was closed before the handshake was done"))
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if failure == nil {
            failure = .broken(String(describing: error))
            if link == nil, !dialled, let error = error as? TLSFailure {
                system.refused(String(describing: error), peer: peerDescription(context))
            }
        }
        system.logger.debug("connection failed", metadata: ["error": "\(error)"])
        context.close(promise: nil)
    }

    // MARK: - Inbound

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // TLS may hold up the close, and hand on what still comes.
        guard !hasEnded else { return }
        let bytes = unwrapInboundIn(data)
        isReading = true
        if let link {
            system.metrics.read(bytes: bytes.readableBytes)
            let now = system.now
            if liveness.heard(at: now) { system.revived(link) }
            if liveness.mayWaitLonger {
                // An end that is asked looks seldom; what a look sees to is seen to here.
                system.metrics.queued(bytes: link.queuedBytes)
                liveness.take(pace(of: link), now: now)
                armLiveness(context)
            }
            segments.forget()
        }
        // A little is copied, so that the socket reads into the same memory again; next to nothing is not, because then
        // the socket's memory is no larger. TLS decrypts into one buffer for ever, which grows with what has come at once.
        decoder.append(bytes, isLent: identity != nil || LinkHandler.copied.contains(bytes.readableBytes))
        do {
            while failure == nil, let frame = try decoder.next() {
                if let link {
                    try received(frame, on: link, context)
                } else {
                    advance(.frame(frame), context)
                }
            }
        } catch {
            // After bytes that are no frame there is no way to find the next one.
            let advice = link == nil ? PeerProtocol(firstBytes: bytes.readableBytesView).adviceWithoutTLS : nil
            let reason = advice ?? String(describing: error)
            failure = .broken(reason)
            // Whoever dialled is told by the failure, and says it.
            if link != nil || !dialled { system.broke(reason, peer: peerDescription(context)) }
            context.close(promise: nil)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        pump(context)
        context.fireChannelReadComplete()
    }

    private func received(_ frame: Frame, on link: Link, _ context: ChannelHandlerContext) throws {
        switch frame.kind {
        case .ping:
            let tellsTime = link.version >= 3
            link.send(
                Frame(.pong, body: tellsTime ? ByteBuffer(integer: system.settings.timeOfDay()) : ByteBuffer()))
        case .pong:
            if let sent = pingSentAt { try measure(frame, link, roundTrip: system.now - sent) }
            pingSentAt = nil
        case .call, .reply, .failure:
            try received(data: frame, on: link)
        case .cancel:
            assembler.forget(call: frame.call)
            link.inbound.cancel(frame.call)
        case .declare:
            try targets.declare(frame.body)
        case .grant:
            guard let bytes = frame.body.getInteger(at: frame.body.readerIndex, as: UInt32.self), link.granted(bytes)
            else { throw HandshakeFailure.broken("a grant that cannot be meant") }
        case .peers:
            system.received(peers: frame.body, from: link)
        case .goodbye:
            link.peerSaidGoodbye()
        case .giveWay:
            link.peerGaveWay()
        case .draining:
            guard let flag = frame.body.getInteger(at: frame.body.readerIndex, as: UInt8.self) else {
                throw HandshakeFailure.broken("a frame without its content")
            }
            system.heard(draining: flag != 0, from: link)
        case .refusal:
            // The side that dialled has found another link to us meanwhile and keeps that one.
            failure = .broken("refused after all")
            context.close(promise: nil)
        case .hello:
            throw HandshakeFailure.broken("a second hello on one connection")
        }
    }

    private func measure(_ pong: Frame, _ link: Link, roundTrip: Duration) throws {
        link.measured(roundTrip: roundTrip)
        guard link.version >= 3 else { return }
        guard let clock = pong.body.getInteger(at: pong.body.readerIndex, as: UInt64.self) else {
            throw HandshakeFailure.broken("a frame without its content")
        }
        let offset = link.measured(peerClock: clock, ownClock: system.settings.timeOfDay(), roundTrip: roundTrip)
        if let offset { system.compared(clockOf: link, offset: offset, within: roundTrip) }
    }

    private func received(data frame: Frame, on link: Link) throws {
        try window.received(frame.length)
        switch try assembler.add(frame) {
        case .whole(let whole): try take(whole, on: link)
        case .incomplete: break
        case .tooLong(.call, let call):
            _ = try system.unanswered(by: link)
            link.fail(call, RemoteError(.tooLarge, "arguments of more than \(system.settings.limits.body) bytes"))
        case .tooLong(_, let call):
            let error = RemoteError(.tooLarge, "a result of more than \(system.settings.limits.body) bytes")
            link.answered(call, .failure(CallFailure(error)))
        }
        // Granted at the end of the read, with what else has come.
        ungranted += frame.length
    }

    private func take(_ frame: Frame, on link: Link) throws {
        switch frame.kind {
        case .call: try system.received(call: frame, on: link, targets)
        case .reply: link.answered(frame.call, .reply(frame.body))
        default: link.answered(frame.call, .failure(CallFailure(reading: frame.body)))
        }
    }

    private func grantWhatWasTaken(_ link: Link) {
        guard ungranted > 0, !link.inbound.isFull else { return }
        if let grant = window.consumed(ungranted) { link.grant(grant) }
        ungranted = 0
    }

    private func advance(_ event: Handshake.Event, _ context: ChannelHandlerContext) {
        do {
            for action in try handshake.handle(event) {
                switch action {
                case .send(let frame): writeAlone(frame, context)
                case .establish(let peer, let version):
                    if let refusal = establish(peer, version, context) {
                        writeAlone(try Handshake.frame(refusal), context)
                        return close(.refused(refusal), context)
                    }
                case .close(let reason): close(reason, context)
                }
            }
        } catch {
            close(.broken(String(describing: error)), context)
        }
    }

    /// - Returns: why the link is not wanted after all. Then nothing that the peer has sent behind its hello is looked at.
    private func establish(_ peer: Hello, _ version: UInt16, _ context: ChannelHandlerContext) -> Refusal? {
        let link = Link(
            peer: peer, version: version,
            candidate: .init(dialledHere: dialled, dial: dialled ? hello.dial : peer.dial),
            channel: context.channel, epoch: system.epoch, limits: system.settings.limits, metrics: system.metrics)
        if let refusal = system.established(link) { return refusal }
        handshakeTimer?.cancel()
        decoder.limit = FrameLimits.data
        self.link = link
        liveness = Liveness(silenceLimit: system.settings.silenceLimit, asksFirst: dialled, now: system.now)
        armLiveness(context)
        system.authenticated(context.channel)
        // The first round trip is known at once, not only when the link falls idle.
        pingSentAt = system.now
        link.send(Frame(.ping))
        established?.succeed(link)
        return nil
    }

    private func close(_ reason: HandshakeFailure, _ context: ChannelHandlerContext) {
        failure = reason
        if case .refused(let refusal) = reason, refusal.reason != .duplicate {
            if refusal.reason != .itself { system.refused(refusal.text, peer: peerDescription(context)) }
        }
        // Whoever dialled is told by the failure, and says it.
        if case .timedOut = reason, !dialled { system.refused("\(reason)", peer: peerDescription(context)) }
        // A refusal must reach the peer before the connection ends.
        closeAfterWrites(context)
    }

    /// Closing drops what the socket has not taken yet.
    private func closeAfterWrites(_ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).whenComplete { [channel = context.channel] _ in
            channel.close(promise: nil)
        }
    }

    private func pace(of link: Link) -> Liveness.Pace {
        link.carriesWork ? .working : .idle(stretch: Liveness.stretch(links: system.linkCount))
    }

    /// One look ahead.
    private func armLiveness(_ context: ChannelHandlerContext) {
        let timer = lookTimer ?? LookTimer.of(context.eventLoop)
        lookTimer = timer
        timer.set(look, at: .now() + TimeAmount(liveness.wait(at: system.now))) { [self] in watch(context) }
    }

    private func watch(_ context: ChannelHandlerContext) {
        guard let link, !hasEnded else { return }
        system.metrics.queued(bytes: link.queuedBytes)
        // Calls made while the socket took nothing have not been seen here.
        armDeadline(context)
        if link.isDoubted() { liveness.doubt(at: system.now) }
        if let time = link.vouched() { liveness.vouched(at: time) }
        if liveness.isSilent(at: system.now), segments.hasGrown(to: SegmentCount.read(context.channel)) {
            if liveness.heard(at: system.now) { system.revived(link) }
        }
        let action = liveness.tick(at: system.now)
        // For the next look: one that has just been stretched or narrowed says nothing about the time before it.
        liveness.take(pace(of: link), now: system.now)
        armLiveness(context)
        switch action {
        case .ping, .suspect, .insist:
            if pingSentAt == nil { pingSentAt = system.now }
            link.send(Frame(.ping))
            if action != .ping { system.suspected(link) }
        case .lost:
            system.logger.info("no sign of life, closing the link", metadata: ["peer": "\(link.peer.name)"])
            failure = .broken("no sign of life")
            // Before the close, which TLS holds up for the farewell of a peer that is silent.
            end()
            context.close(promise: nil)
        case nil:
            break
        }
    }

    // MARK: - Outbound

    /// The link's outbox has something, or may have.
    func flush(context: ChannelHandlerContext) {
        // What comes of a read is written at its end, all together.
        if !isReading { pump(context) }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        pump(context)
        context.fireChannelWritabilityChanged()
    }

    /// Writes a frame of the handshake, when there is no link yet.
    private func writeAlone(_ frame: Frame, _ context: ChannelHandlerContext) {
        var bytes = ByteBuffer()
        frame.write(into: &bytes)
        context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    }

    /// Writes while the channel takes it. What it does not take stays in the outbox, where control frames can still
    /// overtake.
    private func pump(_ context: ChannelHandlerContext) {
        guard let link, !isPumping, !hasEnded else { return }
        // The next look may be some time away.
        if link.isInDoubt { watch(context) }
        guard !hasEnded else { return }
        isPumping = true
        defer { isPumping = false }
        grantWhatWasTaken(link)
        if link.isEnding { link.giveWayIfDone() }
        if liveness.isIdle, link.carriesWork {
            // It matters more from now on whether the peer lives.
            liveness.take(.working, now: system.now)
            armLiveness(context)
        }
        while context.channel.isWritable {
            let count = writer.write(from: link) { context.write(self.wrapOutboundOut($0), promise: nil) }
            if count == 0 { break }
            system.metrics.wrote(bytes: count)
            // Each batch, because TLS takes everything that is written before a flush. What the flush changes is seen
            // by this loop: while it runs, further calls of this method return at once.
            context.flush()
        }
        armDeadline(context)
        if !context.channel.isWritable, link.queuedControlFrames > FrameLimits.controlFrames {
            // A peer that asks and does not read: our memory is not its buffer.
            system.warn("closing a link whose peer does not read", of: peerDescription(context))
            context.close(promise: nil)
        } else if link.isEnding, !isClosing, link.isDone {
            isClosing = true
            closeAfterWrites(context)
        }
    }

    // MARK: - Deadlines

    /// One timer a link, set to the earliest deadline of all its calls.
    private func armDeadline(_ context: ChannelHandlerContext) {
        guard !hasEnded, context.channel.isActive, let link else { return }
        if let deadlineTimer, deadlineTimer.due <= link.earliestDeadline { return }
        guard let due = link.nextDeadline() else { return }
        deadlineTimer?.task.cancel()
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let task = context.eventLoop.scheduleTask(in: TimeAmount(max(.zero, due - system.now))) {
            let (handler, context) = bound.value
            handler.deadlineTimer = nil
            handler.link?.expireCalls()
            handler.armDeadline(context)
        }
        deadlineTimer = (due, task)
    }

    private func peerDescription(_ context: ChannelHandlerContext) -> String {
        // Without the port, which differs with every try of the same neighbour.
        link?.peer.name ?? context.channel.remoteAddress?.ipAddress ?? "a local process"
    }
}
