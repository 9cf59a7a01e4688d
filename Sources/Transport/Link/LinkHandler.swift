import Logging
import NIOCore

/// The channel handler of one connection: runs the handshake, cuts bytes into frames and frames into bytes, keeps
/// watch over the peer. Decides nothing itself; `Handshake`, `FrameDecoder`, `Outbox`, `BodyAssembler` and
/// `Liveness` do. Lives on its channel's event loop.
final class LinkHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = Frame
    typealias OutboundOut = ByteBuffer

    /// Time for the whole handshake; a LAN needs a few milliseconds.
    static let handshakeLimit = TimeAmount.seconds(5)

    private let system: ClusterSystem
    private let dialled: Bool
    /// Told once how the handshake ended.
    private let established: EventLoopPromise<Link>?

    private var handshake: Handshake
    private var decoder = FrameDecoder()
    private var assembler = BodyAssembler()
    private var outbox = Outbox()
    private var liveness: Liveness
    private var link: Link?
    private var failure: HandshakeFailure?
    private var handshakeTimer: Scheduled<Void>?
    private var livenessTimer: RepeatedTask?
    private var deadlineTimer: (due: Duration, task: Scheduled<Void>)?
    private var pingSentAt: Duration?
    private var isPumping = false

    init(system: ClusterSystem, dialled: Bool, established: EventLoopPromise<Link>?) {
        self.system = system
        self.dialled = dialled
        self.established = established
        handshake = Handshake(own: system.hello, dialled: dialled) { system.admit($0, dialled: dialled) }
        liveness = Liveness(silenceLimit: system.settings.silenceLimit, now: system.now)
    }

    // MARK: - Life of the channel

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { start(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        start(context)
        context.fireChannelActive()
    }

    private func start(_ context: ChannelHandlerContext) {
        guard handshakeTimer == nil else { return }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        handshakeTimer = context.eventLoop.scheduleTask(in: LinkHandler.handshakeLimit) {
            let (handler, context) = bound.value
            handler.advance(.timedOut, context)
        }
        advance(.connected, context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        handshakeTimer?.cancel()
        livenessTimer?.cancel()
        deadlineTimer?.task.cancel()
        if let link {
            link.ended()
            system.ended(link)
        } else {
            established?.fail(failure ?? .broken("the connection was closed before the handshake was done"))
        }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if failure == nil { failure = .broken(String(describing: error)) }
        system.logger.debug("connection failed", metadata: ["error": "\(error)"])
        context.close(promise: nil)
    }

    // MARK: - Inbound

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if let link, liveness.heard(at: system.now) { system.revived(link) }
        decoder.append(unwrapInboundIn(data))
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
            failure = .broken(String(describing: error))
            system.broke(String(describing: error), peer: peerDescription(context))
            context.close(promise: nil)
        }
    }

    private func received(_ frame: Frame, on link: Link, _ context: ChannelHandlerContext) throws {
        switch frame.kind {
        case .ping:
            enqueue(Frame(.pong), context)
        case .pong:
            if let sent = pingSentAt { link.measured(roundTrip: system.now - sent) }
            pingSentAt = nil
        case .call, .reply, .failure:
            guard let whole = try assembler.add(frame) else { return }
            if whole.kind == .call {
                system.received(call: whole, on: link)
            } else {
                link.answered(whole)
            }
        case .cancel:
            assembler.forget(call: frame.call)
            link.cancelRunning(frame.call)
        case .peers:
            system.received(peers: frame.body, from: link)
        case .goodbye:
            link.peerSaidGoodbye()
        case .refusal:
            // The side that dialled has found another link to us meanwhile and keeps that one.
            context.close(promise: nil)
        case .hello:
            throw HandshakeFailure.broken("a second hello on one connection")
        }
    }

    private func advance(_ event: Handshake.Event, _ context: ChannelHandlerContext) {
        do {
            for action in try handshake.handle(event) {
                switch action {
                case .send(let frame): enqueue(frame, context)
                case .establish(let peer, version: _): establish(peer, context)
                case .close(let reason): close(reason, context)
                }
            }
        } catch {
            close(.broken(String(describing: error)), context)
        }
    }

    private func establish(_ peer: Hello, _ context: ChannelHandlerContext) {
        handshakeTimer?.cancel()
        decoder.limit = FrameLimits.data
        let link = Link(peer: peer, dialled: dialled, channel: context.channel, epoch: system.epoch)
        self.link = link
        liveness = Liveness(silenceLimit: system.settings.silenceLimit, now: system.now)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let interval = TimeAmount(liveness.interval)
        livenessTimer = context.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
            let (handler, context) = bound.value
            handler.watch(context)
        }
        if let refusal = system.established(link) {
            established?.fail(HandshakeFailure.refused(refusal))
            context.close(promise: nil)
            return
        }
        // The first round trip is known at once, not only when the link falls idle.
        pingSentAt = system.now
        enqueue(Frame(.ping), context)
        established?.succeed(link)
    }

    private func close(_ reason: HandshakeFailure, _ context: ChannelHandlerContext) {
        failure = reason
        if case .refused(let refusal) = reason, refusal.reason != .duplicate {
            system.refused(refusal, peer: peerDescription(context))
        }
        // A refusal must reach the peer before the connection ends.
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).whenComplete { [channel = context.channel] _ in
            channel.close(promise: nil)
        }
    }

    private func watch(_ context: ChannelHandlerContext) {
        guard let link else { return }
        switch liveness.tick(at: system.now) {
        case .ping:
            if pingSentAt == nil { pingSentAt = system.now }
            enqueue(Frame(.ping), context)
        case .suspect:
            system.suspected(link)
            enqueue(Frame(.ping), context)
        case .lost:
            system.logger.info("no sign of life, closing the link", metadata: ["peer": "\(link.peer.name)"])
            context.close(promise: nil)
        case nil:
            break
        }
    }

    // MARK: - Outbound

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let frame = unwrapOutboundIn(data)
        outbox.append(frame)
        if frame.kind == .call { armDeadline(context) }
        pump(context, promise)
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        pump(context, nil)
        context.flush()
        context.fireChannelWritabilityChanged()
    }

    private func enqueue(_ frame: Frame, _ context: ChannelHandlerContext) {
        outbox.append(frame)
        pump(context, nil)
        context.flush()
    }

    /// Writes while the channel takes it. What it does not take stays in the outbox, where control frames can still
    /// overtake.
    private func pump(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        guard !isPumping else {
            promise?.succeed()
            return
        }
        isPumping = true
        defer { isPumping = false }
        var last: EventLoopFuture<Void>?
        while context.channel.isWritable, let frame = outbox.next() {
            var bytes = context.channel.allocator.buffer(capacity: 4 + Frame.headerSize + frame.body.readableBytes)
            frame.write(into: &bytes)
            if promise != nil, outbox.isEmpty {
                last = context.write(wrapOutboundOut(bytes))
            } else {
                context.write(wrapOutboundOut(bytes), promise: nil)
            }
        }
        link?.queued(bytes: outbox.queuedBytes)
        if outbox.queuedBytes > FrameLimits.outbox + FrameLimits.body || outbox.count > FrameLimits.outboxFrames {
            // A peer that asks and does not read: our memory is not its buffer.
            system.logger.warning(
                "closing a link whose peer does not read", metadata: ["peer": "\(peerDescription(context))"])
            context.close(promise: nil)
        }
        if let last { last.cascade(to: promise) } else { promise?.succeed() }
    }

    // MARK: - Deadlines

    /// One timer a link, set to the earliest deadline of all its calls.
    private func armDeadline(_ context: ChannelHandlerContext) {
        guard let link, let due = link.nextDeadline() else { return }
        if let deadlineTimer, deadlineTimer.due <= due { return }
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
