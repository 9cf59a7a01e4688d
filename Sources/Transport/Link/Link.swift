import NIOCore
import Synchronization

/// An open, authenticated connection to one peer, and the calls under way on it in both directions.
///
/// What is to be sent goes into an outbox; the first frame of a burst wakes the event loop, which then writes at once everything
/// that has come together meanwhile.
package final class Link: Sendable {
    package let peer: Hello
    /// Who the peer is by its certificate; `nil` where it has none that says so.
    let identity: PeerIdentity?
    /// The version of the protocol that both sides speak on the link.
    let version: UInt16
    /// Which side opened the connection, and with which of its dials.
    let candidate: LinkChoice.Candidate
    /// The peer's address as it is seen from here.
    package let remoteAddress: NodeAddress?
    /// The address of this side's end of the connection.
    let localAddress: IPAddress?
    private let socketAddresses: (peer: SocketAddress, own: SocketAddress)?
    /// The longest arguments or result that the other side takes, in bytes.
    let bodyLimit: Int
    /// How many answers may wait to be written to a peer that goes on calling.
    private let unansweredLimit: Int
    /// Calls of the peer that run here.
    let inbound: InboundCalls
    let metrics: TransportMetrics
    private let channel: any Channel
    private let nodeStart: ContinuousClock.Instant

    fileprivate struct State: Sendable {
        var calls: CallTable<AnswerContinuation>
        var outbox: Outbox
        var targets = TargetIndex()
        /// Whether the event loop will look at the outbox without being told again.
        var isAwake = false
        var lifecycle = LinkLifecycle()
        var cork = Cork()
        /// Tasks that have an answer and wait for room.
        var answering: [CheckedContinuation<Void, Never>] = []
    }

    private let state: BriefLock<State>
    private let lastCall = Atomic<UInt64>(0)
    private let doubted = Atomic<Bool>(false)
    private let confirmedNanoseconds = Atomic<Int64>(-1)
    private let roundTripNanoseconds = Atomic<Int64>(-1)
    private let clockOffsetMilliseconds = Atomic<Int64>(.min)
    /// Whether this side leaves or gives way, so that there is something to settle. It is a copy for the check after every write.
    private let isSettling = Atomic<Bool>(false)
    private let deadlines = EarliestDeadline()
    /// This is written before every answer is handed over, and read after that. The runtime orders the two by itself, but the
    /// Thread Sanitizer does not see it: it reports a race even for a continuation that is resumed before it is awaited.
    private let handedOver = Atomic<Bool>(false)
    /// Copies of facts about the outbox, for the checks that every call makes.
    private let answerCount = Atomic<Int>(0)
    private let answersFill = Atomic<Bool>(false)

    init(
        peer: Hello, identity: PeerIdentity? = nil, version: UInt16, candidate: LinkChoice.Candidate,
        channel: any Channel,
        nodeStart: ContinuousClock.Instant,
        limits: LinkLimits, metrics: TransportMetrics
    ) {
        self.peer = peer
        self.identity = identity
        self.version = version
        self.candidate = candidate
        self.channel = channel
        self.nodeStart = nodeStart
        self.metrics = metrics
        bodyLimit = min(Int(clamping: peer.limits.body), FrameLimits.body)
        unansweredLimit = RunningCalls<Never>.unansweredLimit(Int(clamping: limits.calls))
        inbound = InboundCalls(limit: Int(clamping: limits.calls), nodeStart: nodeStart, deadlines: deadlines) {
            [channel] in channel.flush()
        }
        remoteAddress = channel.remoteAddress.flatMap(NodeAddress.init)
        localAddress = channel.localAddress.flatMap(IPAddress.init)
        socketAddresses = channel.remoteAddress.flatMap { peer in channel.localAddress.map { (peer, $0) } }
        state = BriefLock(
            State(
                calls: CallTable(limit: min(Int(clamping: peer.limits.calls), FrameLimits.openCalls)),
                outbox: Outbox(window: Int(clamping: peer.limits.window))))
    }

    /// The person whose command the peer is; `nil` for nodes, and for commands of those who have the cluster key.
    var person: Person? {
        if case .person(let certificate)? = identity { certificate.person } else { nil }
    }

    var now: Duration { nodeStart.duration(to: .now) }

    /// The round trip of the last ping; `nil` before the first.
    var roundTrip: Duration? {
        let value = roundTripNanoseconds.load(ordering: .relaxed)
        return value < 0 ? nil : .nanoseconds(value)
    }

    /// How far the peer's time of day is ahead of this machine's, to within half a round trip; `nil` where the peer has not told
    /// it.
    var clockOffset: Duration? {
        let value = clockOffsetMilliseconds.load(ordering: .relaxed)
        return value == .min ? nil : .milliseconds(value)
    }

    /// Whether the peer announced that it leaves, so that the end of the link is no surprise.
    var isLeaving: Bool { state.withLockedValue { $0.lifecycle.peer == .leaves } }

    func close() {
        channel.close(promise: nil)
    }

    /// The owner of the process on this machine that has the other end; `nil` for another machine's process, and for Unix sockets,
    /// which have file rights.
    var peerSocketOwner: SocketOwner.Answer? {
        guard let (peer, own) = socketAddresses, remoteAddress?.isLoopback == true, IPAddress(peer) != nil else {
            return nil
        }
        return SocketOwner.of(peer: peer, connectedTo: own)
    }

    // MARK: - Sending

    /// Sends a frame, or drops it where the link has ended.
    func send(_ frame: Frame) {
        change { state in
            state.outbox.append(frame)
            return true
        }
    }

    /// Sends a reply with a short body, which is copied; see `Outbox.shortLimit`.
    func reply(_ call: UInt64, _ body: ByteBuffer) {
        body.withUnsafeReadableBytes { body in
            change { state in
                state.outbox.append(short: .reply, call, body)
                return true
            }
        }
    }

    func grant(_ bytes: UInt32) {
        change { state in
            state.outbox.append(grant: bytes)
            return true
        }
    }

    /// Changes what is under way, unless the link has ended, and wakes the event loop unless that has been done already.
    ///
    /// - Parameters:
    ///   - change: makes the change, and tells whether there may be something to write after it.
    ///   - ended: is called where the link has ended.
    @inline(__always)
    private func change(_ change: (inout State) -> Bool, orElse ended: (inout State) -> Void = { _ in }) {
        let next = state.withLockedValue { state -> Wake? in
            if state.lifecycle.hasEnded {
                ended(&state)
                return nil
            }
            guard change(&state) else { return nil }
            note(state)
            if state.isHeld { return state.cork.watch().map { .later($0) } }
            guard !state.isAwake else { return nil }
            state.isAwake = true
            return .now
        }
        switch next {
        case .now: channel.flush()
        case .later(let mark): release(upTo: mark)
        case nil: break
        }
    }

    /// When the event loop is to be woken.
    private enum Wake {
        case now
        /// When the tasks that wait for a thread have had their turn.
        case later(UInt64)
    }

    /// Lets go of what waits for callers, as soon as these have had their turn; see `Cork.watch`.
    private func release(upTo mark: UInt64) {
        // The task waits for a thread behind those of the callers. It belongs to this object and ends at once.
        Task.detached { [self] in
            change { state in
                state.cork.turnsAreOver(upTo: mark, waiting: state.outbox.count)
                return !state.outbox.isEmpty
            }
        }
    }

    /// A batch of calls runs that are known to be brief: their answers leave together.
    func beginBatch() { state.withLockedValue { $0.cork.beginBatch() } }

    func endBatch() {
        change { state in
            state.cork.endBatch(waiting: state.outbox.count)
            return !state.outbox.isEmpty
        }
    }

    private func note(_ state: borrowing State) {
        answerCount.store(state.outbox.answerCount, ordering: .relaxed)
        answersFill.store(state.isFull, ordering: .relaxed)
    }

    /// Moves the frames that may be sent now into `batch`, which is empty, about `bytes` at most. Where nothing is moved, the event
    /// loop has to be woken for the next frame.
    func takeFrames(_ batch: inout OutgoingBatch, bytes: Int) {
        let (mark, next, answering) = state.withLockedValue { state in
            // Callers may have been resumed since the frames came that wait.
            let isHeld = state.isHeld
            let mark = isHeld ? state.cork.watch() : nil
            if !isHeld { state.outbox.take(&batch, bytes: bytes) }
            if batch.isEmpty { state.isAwake = false } else { note(state) }
            if state.outbox.isEmpty { state.cork.written() }
            var answering: [CheckedContinuation<Void, Never>] = []
            if !state.isFull { swap(&answering, &state.answering) }
            return (mark, state.calls.nextTurn(hasRoom: state.hasRoom), answering)
        }
        if let mark { release(upTo: mark) }
        next?.resume(returning: .turn)
        for waiter in answering { waiter.resume() }
    }

    /// Bytes that wait to be written.
    var queuedBytes: Int { state.withLockedValue { $0.outbox.queuedBytes } }

    /// Control frames that wait to be written.
    var queuedControlFrames: Int { state.withLockedValue { $0.outbox.controlCount } }

    // MARK: - Calls made from here

    /// Sends a call and waits for its answer, its deadline, the caller's cancellation or the end of the link. Before it is sent,
    /// the call waits, with its arguments not encoded yet, while the other side runs as many calls as it allows or too many bytes
    /// wait to be written.
    ///
    /// - Parameters:
    ///   - start: the time now, which the caller has asked for already.
    ///   - remaining: the time that the call has from then on.
    /// - Throws: `TransportError`, `CancellationError`, or the error of encoding the arguments.
    nonisolated(nonsending) func call(
        _ target: CallTarget, _ invocation: inout CallEncoder, start: ContinuousClock.Instant, remaining: Duration,
        trace: UInt64
    ) async throws -> CallAnswer {
        let call = lastCall.add(1, ordering: .relaxed).newValue
        let deadline = nodeStart.duration(to: start) + remaining
        if invocation.isShort {
            let answer = try await withTaskCancellationHandler {
                try await withAnswerContinuation { waiter in
                    let refusal = invocation.withShortBody(remaining: remaining, trace: trace) { body in
                        open(call, target, body, deadline: deadline, waiter)
                    }
                    switch refusal {
                    case nil:
                        invocation.release()
                        if Task.isCancelled {
                            // The task was cancelled before the handler below could find the call.
                            abandon(call)
                        }
                    case .notNow: waiter.resume(returning: .turn)
                    case .never(let error): waiter.resume(throwing: error)
                    }
                }
            } onCancel: {
                abandon(call)
            }
            _ = handedOver.load(ordering: .acquiring)
            if case .turn = answer {} else { return answer }
        }
        return try await callInTurn(call, target, &invocation, deadline: deadline, remaining: remaining, trace: trace)
    }

    /// Why a short call has not been opened.
    private enum Refusal {
        /// It has to wait for its turn, or goes by the names of its target.
        case notNow
        case never(TransportError)
    }

    /// Opens a short call if it need not wait, in one go.
    private func open(
        _ call: UInt64, _ target: CallTarget, _ body: UnsafeRawBufferPointer, deadline: Duration,
        _ waiter: AnswerContinuation
    ) -> Refusal? {
        var refusal: Refusal?
        change { state in
            if state.lifecycle.isRetired {
                refusal = .never(.notConnected(peer.node))
                return false
            }
            let (index, declaration) = state.targets.index(of: target)
            if let declaration { state.outbox.append(declaration) }
            guard index != 0, state.calls.enter(hasRoom: state.hasRoom) == .go else {
                refusal = .notNow
                return declaration != nil
            }
            _ = state.calls.open(call, waiter, deadline: deadline, waited: false)
            deadlines.add(deadline)
            state.cork.called()
            state.outbox.append(short: .call, call, body, word: index, at: CallRequest.indexOffset)
            return true
        } orElse: { state in
            refusal =
                state.lifecycle.isRetired
                ? .never(.notConnected(peer.node)) : .never(.connectionLost(mayHaveRun: false))
        }
        return refusal
    }

    /// Makes a call that has long arguments, or that may have to wait.
    private nonisolated(nonsending) func callInTurn(
        _ call: UInt64, _ target: CallTarget, _ invocation: inout CallEncoder, deadline: Duration, remaining: Duration,
        trace: UInt64
    ) async throws -> CallAnswer {
        let (admission, index) = try enter(target)
        let waited = admission == .wait
        if waited { try await waitForTurn(call, deadline: deadline) }
        let frame: Frame
        do {
            let left = waited ? deadline - now : remaining
            var whole = try invocation.takeFrame(
                to: target, index: index, remaining: left, trace: trace, limit: bodyLimit)
            whole.call = call
            frame = whole
        } catch {
            leaveSlot(waited: waited)
            throw error
        }
        let answer = try await withTaskCancellationHandler {
            try await withAnswerContinuation { waiter in
                if !open(frame, deadline: deadline, waiter, waited: waited) {
                    waiter.resume(throwing: TransportError.connectionLost(mayHaveRun: false))
                } else if Task.isCancelled {
                    // The task was cancelled before the handler below could find the call.
                    abandon(call)
                }
            }
        } onCancel: {
            abandon(call)
        }
        _ = handedOver.load(ordering: .acquiring)
        return answer
    }

    /// - Returns: also the target's index, or 0 where the call goes by the target's names. The declaration of the index leaves
    ///   before the call.
    private func enter(
        _ target: CallTarget
    ) throws -> (admission: CallTable<AnswerContinuation>.Admission, index: UInt32) {
        let (admission, index) = try state.withLockedValue { state in
            if state.lifecycle.isRetired { throw TransportError.notConnected(peer.node) }
            let (index, declaration) = state.targets.index(of: target)
            if let declaration { state.outbox.append(declaration) }
            return (state.calls.enter(hasRoom: state.hasRoom), index)
        }
        switch admission {
        case .go, .wait: return (admission, index)
        case .closed: throw TransportError.connectionLost(mayHaveRun: false)
        case .congested: throw TransportError.congested
        }
    }

    private nonisolated(nonsending) func waitForTurn(_ call: UInt64, deadline: Duration) async throws {
        _ = try await withTaskCancellationHandler {
            try await withAnswerContinuation { waiter in
                var waits = false
                change { state in
                    waits = state.calls.wait(call, waiter, deadline: deadline)
                    deadlines.add(deadline)
                    // The loop has to set its timer by this deadline. There may also be room by now.
                    return true
                }
                if !waits {
                    waiter.resume(throwing: TransportError.connectionLost(mayHaveRun: false))
                } else if Task.isCancelled {
                    abandon(call)
                }
            }
        } onCancel: {
            abandon(call)
        }
    }

    /// Gives back the slot of a call that is not made.
    private func leaveSlot(waited: Bool) {
        change { state in
            state.calls.giveBack(waited: waited)
            // Another call may wait for the slot, or the link may wait for this call to be over.
            return true
        }
    }

    private func open(
        _ frame: Frame, deadline: Duration, _ waiter: AnswerContinuation, waited: Bool
    ) -> Bool {
        var isOpen = false
        change { state in
            isOpen = state.calls.open(frame.call, waiter, deadline: deadline, waited: waited)
            guard isOpen else { return false }
            deadlines.add(deadline)
            state.cork.called()
            state.outbox.append(frame)
            return true
        }
        return isOpen
    }

    /// Gives up waiting for a call and tells the other side, which may still be working on it.
    private func abandon(_ call: UInt64) {
        var taken: CallTable<AnswerContinuation>.Taken?
        change { state in
            taken = state.calls.take(call)
            if taken?.wasOpen == true { state.outbox.append(Frame(.cancel, call: call)) }
            return taken != nil
        }
        taken?.waiter.resume(throwing: CancellationError())
    }

    /// No call has a deadline before this one. It is asked for after every read and write, so it costs no lock.
    var earliestDeadline: Duration { deadlines.earliest }

    /// When `expireCalls` is due next.
    func nextDeadline() -> Duration? {
        deadlines.reset()
        let own = state.withLockedValue { $0.calls.nextDeadline() }
        let theirs = inbound.nextDeadline()
        let next = if let own, let theirs { min(own, theirs) } else { own ?? theirs }
        if let next { deadlines.add(next) }
        return next
    }

    func expireCalls() {
        var expired: [CallTable<AnswerContinuation>.Taken] = []
        change { state in
            expired = state.calls.expire(at: now)
            for taken in expired where taken.wasOpen { state.outbox.append(Frame(.cancel, call: taken.call)) }
            return !expired.isEmpty
        }
        for taken in expired { taken.waiter.resume(throwing: TransportError.deadlineExceeded) }
        inbound.expire()
    }

    /// Hands answers to their callers. A late answer finds nobody and is dropped.
    ///
    /// - Parameter arrival: when the answers came in.
    func answered(_ answers: inout AnswerBatch, at arrival: ContinuousClock.Instant) {
        let now = nodeStart.duration(to: arrival)
        change { state in
            answers.findCallers(in: &state.calls, at: now)
            state.cork.resume(answers.callerCount)
            return state.calls.hasWaiting
        }
        handedOver.store(true, ordering: .releasing)
        answers.resumeCallers()
    }

    // MARK: - Answers to the peer

    /// Whether more answers than a bound wait to be read by the peer, as of a moment ago.
    var answersAreMany: Bool { answersFill.load(ordering: .relaxed) }

    /// Waits while more answers than that bound wait.
    func roomForAnswer() async {
        guard answersAreMany else { return }
        // The tasks that wait are woken together, and each checks again: the first of them may have filled the room.
        while state.withLockedValue({ $0.isFull }) {
            await withCheckedContinuation { waiter in
                let isFull = state.withLockedValue { state in
                    if state.isFull { state.answering.append(waiter) }
                    return state.isFull
                }
                if !isFull { waiter.resume() }
            }
        }
    }

    func fail(_ call: UInt64, _ error: RemoteError) {
        fail(call, CallFailure(error))
    }

    func fail(_ call: UInt64, _ failure: CallFailure) {
        send(Frame(.failure, call: call, body: failure.encoded(limit: bodyLimit)))
    }

    /// Answers that wait to be written, as of a moment ago.
    ///
    /// - Throws: where there are far more of them than the peer may have calls under way. A peer that calls and does not read the
    ///   answers, even if they are refusals, is not answered for ever.
    func unanswered() throws -> Int {
        let count = answerCount.load(ordering: .relaxed)
        guard count <= unansweredLimit else { throw HandshakeFailure.broken("far more calls than answers read") }
        return count
    }

    // MARK: - What the handler reports

    /// The other side takes so many more bytes. The result is `false` where that is out of range.
    func granted(_ bytes: UInt32) -> Bool {
        var isSane = true
        change { state in
            isSane = state.outbox.granted(bytes)
            return true
        }
        return isSane
    }

    func peerSaidGoodbye() { state.withLockedValue { $0.lifecycle.peerLeaves() } }

    func peerGaveWay() { state.withLockedValue { $0.lifecycle.peerGaveWay() } }

    /// Makes the handler doubt that the peer lives, because another node has appeared where this peer was.
    func doubt() {
        doubted.store(true, ordering: .relaxed)
        wakeLoop()
    }

    /// Whether somebody doubts that the peer lives, and the handler has not been told.
    var isInDoubt: Bool { doubted.load(ordering: .relaxed) }

    /// Returns whether somebody doubts that the peer lives, and forgets it: the handler learns of a doubt once.
    func takeDoubt() -> Bool { doubted.exchange(false, ordering: .relaxed) }

    /// Notes that an authentic beacon of the peer was heard.
    func confirm(at now: Duration) { confirmedNanoseconds.store(Link.nanoseconds(now), ordering: .relaxed) }

    /// When such a beacon was heard. The handler is told once.
    func takeConfirmation() -> Duration? {
        let time = confirmedNanoseconds.exchange(-1, ordering: .relaxed)
        return time < 0 ? nil : .nanoseconds(time)
    }

    private static func nanoseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    func measured(roundTrip: Duration) {
        let nanoseconds = Link.nanoseconds(roundTrip)
        roundTripNanoseconds.store(nanoseconds, ordering: .relaxed)
        metrics.measured(roundTripNanoseconds: nanoseconds)
    }

    /// Takes the peer's clock, which the peer looked at in the middle of a round trip that has ended now. The rule is that of NTP
    /// (RFC 5905, section 8) with both of the peer's times as one.
    ///
    /// - Returns: the clock offset, the first time; `nil` later.
    func measured(peerClock: UInt64, ownClock: UInt64, roundTrip: Duration) -> Duration? {
        // Neither is negative, so the difference fits.
        let there = Int64(clamping: ownClock) - Int64(clamping: Link.nanoseconds(roundTrip) / 2_000_000)
        let offset = Int64(clamping: peerClock) - max(0, there)
        let isFirst = clockOffsetMilliseconds.exchange(offset, ordering: .relaxed) == .min
        return isFirst ? .milliseconds(offset) : nil
    }

    /// The connection has ended: nobody waits any longer, and nothing runs for the peer any longer.
    func end() {
        let (calls, unsent, answering) = state.withLockedValue { state in
            state.lifecycle.end()
            let unsent = state.outbox.unsentCalls
            let answering = state.answering
            state.answering = []
            state.outbox = Outbox(window: 0)
            // All that wait for room have it from now on.
            note(state)
            return (state.calls.close(), unsent, answering)
        }
        for taken in calls {
            let mayHaveRun = taken.wasOpen && !unsent.contains(taken.call)
            taken.waiter.resume(throwing: TransportError.connectionLost(mayHaveRun: mayHaveRun))
        }
        for waiter in answering { waiter.resume() }
        inbound.cancelAll()
    }

    // MARK: - Leaving

    /// Leaves the peer: makes no calls on this link any more, begins none of the peer's, and closes the link when the calls under
    /// way in both directions are done, at the latest after `limit`.
    func leave(within limit: Duration) {
        inbound.windDown(admitting: false)
        change { state in
            send(frameOf: state.lifecycle.leave(), &state)
            return true
        }
        isSettling.store(true, ordering: .sequentiallyConsistent)
        let latest = channel.eventLoop.scheduleTask(in: TimeAmount(limit)) { [channel] in
            channel.close(promise: nil)
        }
        channel.closeFuture.whenComplete { _ in latest.cancel() }
        wakeLoop()
    }

    /// Gives way to another link to the same peer: makes no calls on this one any more, and says so when the calls under way are
    /// done. The peer's calls are served until the peer has said the same.
    func giveWay() {
        inbound.windDown(admitting: true)
        change { state in
            state.lifecycle.giveWay()
            return true
        }
        isSettling.store(true, ordering: .sequentiallyConsistent)
        wakeLoop()
    }

    /// Whether calls are under way, in whichever direction.
    var carriesWork: Bool { inbound.count > 0 || state.withLockedValue { $0.calls.count > 0 } }

    /// Makes the event loop see to the link.
    func wakeLoop() {
        channel.flush()
    }

    /// Takes the next step of a link that is to be closed. Call it before the waiting frames are written, and again after that,
    /// until there is no step.
    ///
    /// - Returns: the step. A frame to be sent is in the outbox already; the connection is to be closed once all that was written
    ///   has left, which is said once.
    func settle() -> LinkLifecycle.Action? {
        guard isSettling.load(ordering: .relaxed) else { return nil }
        // This is read first: a call that has ended has put its answer into the outbox before.
        let served = inbound.count
        return state.withLockedValue { state in
            let next = state.lifecycle.settle(
                made: state.calls.count, served: served, hasUnwritten: !state.outbox.isEmpty)
            send(frameOf: next, &state)
            return next
        }
    }

    private func send(frameOf action: LinkLifecycle.Action?, _ state: inout State) {
        if case .send(let kind) = action { state.outbox.append(Frame(kind)) }
    }

    /// Returns when the connection is closed.
    func untilClosed() async {
        try? await channel.closeFuture.get()
    }
}

extension Link.State {
    /// Whether the arguments of another call may be encoded.
    fileprivate var hasRoom: Bool { outbox.calls.hasRoom }

    /// Whether what waits to be written waits for more.
    fileprivate var isHeld: Bool {
        outbox.hasOnlyShorts && cork.holds(outbox.shortCount, open: calls.count)
    }

    /// Whether further answers have to wait for room.
    fileprivate var isFull: Bool { !lifecycle.hasEnded && !outbox.answers.hasRoom }
}
