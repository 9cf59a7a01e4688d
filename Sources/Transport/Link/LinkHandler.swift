import Logging
import NIOCore

/// The channel handler of one connection: it runs the handshake, cuts bytes into frames and frames into bytes, and keeps watch over
/// the peer. It decides nothing itself; `Handshake`, `LinkInflow`, `LinkLifecycle` and `Liveness` do. It lives on its channel's event
/// loop.
final class LinkHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    /// Nobody writes through the pipeline: frames go to the link's outbox, and a flush makes this handler look there.
    typealias OutboundIn = Never
    typealias OutboundOut = ByteBuffer

    /// The time for the whole handshake, including that of TLS; a LAN needs a few milliseconds.
    static let handshakeLimit = TimeAmount.seconds(5)

    /// The time for one TCP connection to come up on a LAN before the next attempt.
    static let connectLimit = TimeAmount.seconds(3)

    /// How far the connection has come. When there is a link, `LinkLifecycle` says the rest.
    private enum Stage {
        /// TCP and TLS are being set up.
        case connecting
        case handshaking(Handshake)
        case linked(Link, LinkWatch)
        /// There will be no link, for this reason. The connection closes when what was written has left.
        case failing(HandshakeFailure)
        /// The connection has ended, or is about to: TLS may hold up the close for a moment. Nothing that the peer still sends
        /// counts.
        case closed
    }

    private let environment: LinkEnvironment
    private let owner: any LinkOwner
    private let dialled: Bool
    /// The promise that is told once how the handshake ended.
    private let established: EventLoopPromise<Link>?
    private var stage = Stage.connecting
    /// The peer's identity by its certificate.
    private var identity: PeerIdentity?
    private var inflow: LinkInflow
    private var targets = DeclaredTargets()
    private var writer = FrameWriter()
    /// Answers of the read that is being taken in.
    private var answers = AnswerBatch()
    /// The memory of the event loop, from the time on when the handler is there.
    private var memory: LoopMemory?
    /// What runs the peer's calls, once there is a link.
    private var taker: (any CallTaker)?
    private var handshakeTimer: Scheduled<Void>?
    private var deadlineTimer: (due: Duration, task: Scheduled<Void>)?
    /// Whether bytes are being taken in. The frames that they cause are written together at the end.
    private var isReading = false
    private var isPumping = false

    /// - Parameters:
    ///   - dialled: whether this side opened the connection.
    ///   - established: fails with `HandshakeFailure` where there will be no link.
    init(
        owner: any LinkOwner, environment: LinkEnvironment, dialled: Bool, established: EventLoopPromise<Link>?
    ) {
        self.owner = owner
        self.environment = environment
        self.dialled = dialled
        self.established = established
        inflow = LinkInflow(environment.limits)
    }

    /// The link, from the end of the handshake to that of the connection.
    private var link: Link? {
        if case .linked(let link, _) = stage { link } else { nil }
    }

    /// The watch over its peer, for the same time.
    private var watch: LinkWatch? {
        if case .linked(_, let watch) = stage { watch } else { nil }
    }

    // MARK: - Life of the channel

    func handlerAdded(context: ChannelHandlerContext) {
        memory = LoopMemory.of(context.eventLoop)
        // The limit starts here, so that TLS and the hello share it.
        let limit = LinkHandler.handshakeLimit + (dialled ? LinkHandler.connectLimit : .zero)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        handshakeTimer = context.eventLoop.scheduleTask(in: limit) {
            let (handler, context) = bound.value
            handler.advance(.timedOut, context)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        // A connection that never came up does not report its end.
        handshakeTimer?.cancel()
    }

    /// The peer's certificate has been verified; `channelActive` follows.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let peer = event as? AuthenticatedPeer { identity = peer.identity }
        context.fireUserInboundEventTriggered(event)
    }

    /// The connection is up, and secure where it has to be.
    func channelActive(context: ChannelHandlerContext) {
        guard case .connecting = stage else { return }
        stage = .handshaking(
            Handshake(own: owner.makeHello(), dialled: dialled) { [identity] peer in
                identity?.objection(to: peer)
            })
        advance(.connected, context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    /// Tells everybody who waits; only the first call does something. Of a link that fails it comes before the close, because TLS
    /// holds that up for the peer's farewell, and no calls may be made on the link meanwhile.
    private func end() {
        let last = stage
        stage = .closed
        switch last {
        case .connecting, .handshaking:
            endWithoutLink(.broken("the connection was closed before the handshake was done"))
        case .failing(let failure): endWithoutLink(failure)
        case .linked(let link, let watch):
            watch.cancel()
            deadlineTimer?.task.cancel()
            // What has come in whole runs, although cancelled.
            handOver(of: link, at: .now)
            taker?.start()
            taker = nil
            link.end()
            owner.report(.ended, of: link)
        case .closed: break
        }
    }

    private func endWithoutLink(_ failure: HandshakeFailure) {
        handshakeTimer?.cancel()
        environment.metrics.handshakeFailed()
        established?.fail(failure)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch stage {
        case .connecting, .handshaking:
            if !dialled, let error = error as? TLSFailure {
                report(.refused(reason: String(describing: error)), context)
            }
            stage = .failing(.broken(String(describing: error)))
        case .linked: end()
        case .failing, .closed: break
        }
        environment.logger.debug("connection failed", metadata: ["error": "\(error)"])
        context.close(promise: nil)
    }

    // MARK: - Inbound

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        switch stage {
        // TLS may hold up the close, and hand on bytes that still come.
        case .failing, .closed: return
        case .connecting, .handshaking: break
        case .linked(let link, let watch): noteSignOfLife(link, watch, bytes: bytes.readableBytes, context)
        }
        isReading = true
        inflow.append(bytes, isShared: identity != nil)
        do {
            try takeFrames(context)
        } catch {
            fail(error, after: bytes, context)
        }
    }

    /// Takes in the frames that are complete, as long as they count.
    private func takeFrames(_ context: ChannelHandlerContext) throws {
        let arrival = ContinuousClock.now
        // Calls and answers that are in order count even if something behind them is not.
        defer {
            if let link { handOver(of: link, at: arrival) }
            taker?.start()
        }
        while true {
            switch stage {
            case .linked(let link, _):
                guard let frame = try inflow.nextFrame() else { return }
                try handle(frame, of: link, arrival: arrival, context)
            case .connecting, .handshaking:
                guard let frame = try inflow.nextFrame() else { return }
                advance(.frame(frame), context)
            case .failing, .closed: return
            }
        }
    }

    /// Closes the connection of a peer whose bytes are not the protocol.
    private func fail(_ error: any Error, after bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        let link = link
        let advice = link == nil ? PeerProtocol(firstBytes: bytes.readableBytesView).adviceWithoutTLS : nil
        let reason = advice ?? String(describing: error)
        // The side that dialled learns of it by the failure, and reports that.
        if link != nil || !dialled { report(.broken(reason: reason), context) }
        if link == nil { stage = .failing(.broken(reason)) } else { end() }
        context.close(promise: nil)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        pump(context)
        context.fireChannelReadComplete()
    }

    private func handle(
        _ frame: Frame, of link: Link, arrival: ContinuousClock.Instant, _ context: ChannelHandlerContext
    ) throws {
        switch frame.kind {
        case .ping:
            let tellsTime = link.version >= 3
            link.send(Frame(.pong, body: tellsTime ? ByteBuffer(integer: environment.timeOfDay()) : ByteBuffer()))
        case .pong:
            if let roundTrip = watch?.takePong(now: environment.now()) {
                try measure(frame, link, roundTrip: roundTrip)
            }
        case .call, .reply, .failure: try handle(bodyOf: frame, link, arrival: arrival)
        case .cancel:
            inflow.forget(call: frame.call)
            link.inbound.cancel(frame.call)
        case .declare: try targets.declare(frame.body)
        case .grant:
            guard let bytes = frame.body.getInteger(at: frame.body.readerIndex, as: UInt32.self), link.granted(bytes)
            else { throw HandshakeFailure.broken("a grant that is out of range") }
        case .peers: owner.report(.introductions(frame.body), of: link)
        case .goodbye: link.peerSaidGoodbye()
        case .giveWay: link.peerGaveWay()
        case .draining:
            guard let flag = frame.body.getInteger(at: frame.body.readerIndex, as: UInt8.self) else {
                throw HandshakeFailure.broken("a frame without its content")
            }
            owner.report(.draining(flag != 0), of: link)
        case .refusal:
            // The side that dialled has found another link to us meanwhile and keeps that one.
            end()
            context.close(promise: nil)
        case .hello: throw HandshakeFailure.broken("a second hello on one connection")
        }
    }

    private func measure(_ pong: Frame, _ link: Link, roundTrip: Duration) throws {
        link.measured(roundTrip: roundTrip)
        guard link.version >= 3 else { return }
        guard let clock = pong.body.getInteger(at: pong.body.readerIndex, as: UInt64.self) else {
            throw HandshakeFailure.broken("a frame without its content")
        }
        let offset = link.measured(peerClock: clock, ownClock: environment.timeOfDay(), roundTrip: roundTrip)
        if let offset { owner.report(.comparedClocks(offset: offset, roundTrip: roundTrip), of: link) }
    }

    private func handle(bodyOf frame: Frame, _ link: Link, arrival: ContinuousClock.Instant) throws {
        if try inflow.receive(frame) { return try handle(whole: frame, link, arrival: arrival) }
        switch try inflow.add(frame, memory) {
        case .whole(let whole): try handle(whole: whole, link, arrival: arrival)
        case .incomplete: break
        case .tooLong(.call, let call):
            _ = try link.unanswered()
            let limit = environment.limits.body
            link.fail(call, RemoteError(.tooLarge, "arguments of more than \(limit) bytes"))
        case .tooLong(_, let call):
            let error = RemoteError(.tooLarge, "a result of more than \(environment.limits.body) bytes")
            take(.failure(CallFailure(error)), to: call, link, arrival)
        }
    }

    private func handle(whole frame: Frame, _ link: Link, arrival: ContinuousClock.Instant) throws {
        switch frame.kind {
        case .call: try taker?.take(frame, targets, arrival: arrival)
        case .reply: take(.reply(frame.body), to: frame.call, link, arrival)
        default: take(.failure(CallFailure(reading: frame.body)), to: frame.call, link, arrival)
        }
    }

    private func take(_ answer: CallAnswer, to call: UInt64, _ link: Link, _ arrival: ContinuousClock.Instant) {
        answers.append(answer, to: call)
        if answers.isFull { handOver(of: link, at: arrival) }
    }

    /// Hands the answers that have come in to their callers.
    private func handOver(of link: Link, at arrival: ContinuousClock.Instant) {
        if !answers.isEmpty { link.answered(&answers, at: arrival) }
    }

    // MARK: - The handshake

    private func advance(_ event: Handshake.Event, _ context: ChannelHandlerContext) {
        switch stage {
        case .connecting:
            // There is no handshake yet that could be asked.
            if case .timedOut = event { refuse(.timedOut, context) }
        case .handshaking(var handshake):
            do {
                let actions = try handshake.handle(event)
                stage = .handshaking(handshake)
                for action in actions {
                    guard try carryOut(action, handshake.own, context) else { break }
                }
            } catch {
                refuse(.broken(String(describing: error)), context)
            }
        case .linked, .failing, .closed: break
        }
    }

    /// - Returns: whether the next action is to be carried out, too.
    private func carryOut(
        _ action: Handshake.Action, _ hello: Hello, _ context: ChannelHandlerContext
    ) throws -> Bool {
        switch action {
        case .send(let frame): writeAlone(frame, context)
        case .establish(let peer, let version):
            guard let refusal = establish(peer, version, hello, context) else { return true }
            // First, because the write may end the connection.
            stage = .failing(.refused(refusal))
            writeAlone(try Handshake.frame(refusal), context)
            refuse(.refused(refusal), context)
            // The peer must not take this side's hello for a yes.
            return false
        case .close(let reason): refuse(reason, context)
        }
        return true
    }

    /// - Returns: why the link is not wanted after all. In that case the bytes that the peer has sent behind its hello are not
    ///   looked at.
    private func establish(
        _ peer: Hello, _ version: UInt16, _ hello: Hello, _ context: ChannelHandlerContext
    ) -> Refusal? {
        let link = Link(
            peer: peer, identity: identity, version: version,
            candidate: .init(dialledHere: dialled, dial: dialled ? hello.dial : peer.dial),
            channel: context.channel, nodeStart: environment.nodeStart, limits: environment.limits,
            metrics: environment.metrics)
        if let refusal = owner.admit(link, on: context.channel) { return refusal }
        handshakeTimer?.cancel()
        inflow.open()
        taker = owner.callTaker(of: link)
        let watch = LinkWatch(
            on: context.eventLoop, silenceLimit: environment.silenceLimit, asksFirst: dialled, now: environment.now())
        stage = .linked(link, watch)
        arm(watch, context)
        // This ping makes the first round trip known at once, and not only when the link falls idle.
        link.send(Frame(.ping))
        established?.succeed(link)
        return nil
    }

    /// Ends the handshake without a link, for a reason that the peer may have been told.
    private func refuse(_ reason: HandshakeFailure, _ context: ChannelHandlerContext) {
        if case .closed = stage { return }
        stage = .failing(reason)
        switch reason {
        case .refused(let refusal) where refusal.reason != .duplicate && refusal.reason != .itself:
            report(.refused(reason: refusal.text), context)
        // The side that dialled learns of it by the failure, and reports that.
        case .timedOut where !dialled: report(.refused(reason: "\(reason)"), context)
        default: break
        }
        // A refusal must reach the peer before the connection ends.
        closeAfterWrites(context)
    }

    /// Closes the connection after all writes: a close alone drops the bytes that the socket has not taken yet.
    private func closeAfterWrites(_ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).whenComplete { [channel = context.channel] _ in
            channel.close(promise: nil)
        }
    }

    private func report(_ trouble: ConnectionTrouble, _ context: ChannelHandlerContext) {
        // The name is without the port, which differs with every attempt of the same neighbour.
        let peer = link?.peer.name ?? context.channel.remoteAddress?.ipAddress ?? "a local process"
        owner.report(trouble, with: peer)
    }

    // MARK: - Whether the peer lives

    private func noteSignOfLife(
        _ link: Link, _ watch: LinkWatch, bytes: Int, _ context: ChannelHandlerContext
    ) {
        environment.metrics.read(bytes: bytes)
        let now = environment.now()
        if watch.liveness.heard(at: now) { owner.report(.revived, of: link) }
        if watch.liveness.mayWaitLonger {
            // The end that is asked checks only rarely. The work of such a check is done here.
            environment.metrics.queued(bytes: link.queuedBytes)
            watch.liveness.setPace(pace(of: link), now: now)
            arm(watch, context)
        }
        watch.segments.forget()
    }

    private func pace(of link: Link) -> Liveness.Pace {
        link.carriesWork ? .working : .idle(stretch: Liveness.stretch(links: owner.linkCount))
    }

    /// Sets the timer of the next check of the peer.
    private func arm(_ watch: LinkWatch, _ context: ChannelHandlerContext) {
        watch.arm(now: environment.now()) { [self] in checkPeer(context) }
    }

    private func checkPeer(_ context: ChannelHandlerContext) {
        guard case .linked(let link, let watch) = stage else { return }
        environment.metrics.queued(bytes: link.queuedBytes)
        // Calls that were made while the socket took nothing have not been seen here.
        armDeadline(context)
        let now = environment.now()
        if link.takeDoubt() { watch.liveness.doubt(at: now) }
        if let time = link.takeConfirmation() { watch.liveness.confirmed(at: time) }
        if watch.liveness.isSilent(at: now), watch.segments.hasGrown(to: SegmentCount.read(context.channel)) {
            if watch.liveness.heard(at: now) { owner.report(.revived, of: link) }
        }
        let action = watch.liveness.tick(at: now)
        // The new pace holds for the next check: a pace that has just been stretched or narrowed says nothing about the time before
        // it.
        watch.liveness.setPace(pace(of: link), now: now)
        arm(watch, context)
        switch action {
        case .ping, .suspect, .insist:
            if action != .ping { owner.report(.suspected, of: link) }
            watch.noteQuestion(now: now)
            link.send(Frame(.ping))
        case .lost:
            environment.logger.info("no sign of life, closing the link", metadata: ["peer": "\(link.peer.name)"])
            end()
            context.close(promise: nil)
        case nil:
            break
        }
    }

    // MARK: - Outbound

    /// The link's outbox has a frame to write, or may have one.
    func flush(context: ChannelHandlerContext) {
        // Frames that a read causes are written at its end, all together.
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

    /// Writes while the channel takes it. Frames that it does not take stay in the outbox, where control frames can still overtake
    /// them.
    private func pump(_ context: ChannelHandlerContext) {
        guard case .linked(let link, let watch) = stage, !isPumping else { return }
        // The next timed check may be some time away.
        if link.isInDoubt { checkPeer(context) }
        guard case .linked = stage else { return }
        isPumping = true
        defer { isPumping = false }
        if inflow.hasUngranted, !link.inbound.isFull, let grant = inflow.grant() { link.grant(grant) }
        var step = link.settle()
        if watch.liveness.isIdle, link.carriesWork {
            // From now on it matters more whether the peer lives.
            watch.liveness.setPace(.working, now: environment.now())
            arm(watch, context)
        }
        write(from: link, context)
        while step != .close {
            step = link.settle()
            guard case .send = step else { break }
            write(from: link, context)
        }
        armDeadline(context)
        if !context.channel.isWritable, link.queuedControlFrames > FrameLimits.controlFrames {
            // The peer asks and does not read. This node's memory is not its buffer.
            report(.unread, context)
            end()
            context.close(promise: nil)
        } else if step == .close {
            closeAfterWrites(context)
        }
    }

    private func write(from link: Link, _ context: ChannelHandlerContext) {
        guard let memory else { return }
        while context.channel.isWritable {
            let count = writer.write(from: link, memory) { context.write(self.wrapOutboundOut($0), promise: nil) }
            if count == 0 { break }
            environment.metrics.wrote(bytes: count)
            // Each batch is flushed, because TLS takes everything that is written before a flush. This loop sees what the flush
            // changes: while it runs, further calls of `pump` return at once.
            context.flush()
        }
    }

    // MARK: - Deadlines

    /// One timer a link, set to the earliest deadline of all its calls.
    private func armDeadline(_ context: ChannelHandlerContext) {
        guard let link, context.channel.isActive else { return }
        if let deadlineTimer, deadlineTimer.due <= link.earliestDeadline { return }
        guard let due = link.nextDeadline() else { return }
        deadlineTimer?.task.cancel()
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let task = context.eventLoop.scheduleTask(in: TimeAmount(max(.zero, due - environment.now()))) {
            let (handler, context) = bound.value
            handler.deadlineTimer = nil
            handler.link?.expireCalls()
            handler.armDeadline(context)
        }
        deadlineTimer = (due, task)
    }
}
