import DequeModule
import Synchronization

/// Starts the calls of one peer, in the order they came in for each actor, and knows those that run, so that a cancel, a deadline
/// or a lost link reaches them. It owns their tasks.
final class InboundCalls: Sendable {
    typealias Operation = @Sendable () async -> Void

    /// Arguments up to this size are decoded on the event loop, where a call starts without another change of
    /// threads. Longer ones would hold up the other links of that loop.
    static let inlineSize = 32 * 1024
    /// Bytes of arguments that may wait to be decoded before the peer is granted no more.
    static let waitingLimit = FrameLimits.body

    private struct Waiting: Sendable {
        var call: UInt64
        var size: Int
        var executor: LoopExecutor?
        var operation: Operation
    }

    private struct State: Sendable {
        var running: RunningCalls<CallHandle>
        /// Calls with long arguments, and the calls behind them, by actor. A queue exists as long as a task works on it.
        var queues: [String: Deque<Waiting>] = [:]
        var waitingBytes = 0
        var intake = Intake.open
    }

    /// Which further calls are taken.
    private enum Intake: Sendable {
        case open
        /// All calls are taken, but somebody waits for the last one to end.
        case windingDown
        /// No call is taken, and somebody waits for the last one to end.
        case closed
        /// The link has ended. Nobody waits for anything.
        case ended

        var admits: Bool { self == .open || self == .windingDown }
        var isAwaited: Bool { self == .windingDown || self == .closed }
    }

    private let nodeStart: ContinuousClock.Instant
    private let deadlines: EarliestDeadline
    private let changed: @Sendable () -> Void
    private let state: BriefLock<State>
    /// How many queues there are. Only the event loop adds one, so that it needs the lock only where there are some.
    private let queueCount = Atomic<Int>(0)

    /// - Parameters:
    ///   - deadlines: gets every call's deadline.
    ///   - changed: called when there is room again, and when a call has ended after `windDown`.
    init(
        limit: Int, nodeStart: ContinuousClock.Instant, deadlines: EarliestDeadline,
        changed: @escaping @Sendable () -> Void
    ) {
        self.changed = changed
        self.nodeStart = nodeStart
        self.deadlines = deadlines
        state = BriefLock(State(running: RunningCalls(limit: limit)))
    }

    /// Whether a call may run. The result is `nil` once the link has been retired.
    ///
    /// - Parameters:
    ///   - deadline: when the caller gives up.
    ///   - unanswered: answers to this peer that wait to be written.
    func admit(
        _ call: UInt64, deadline: ContinuousClock.Instant, unanswered: Int
    ) -> RunningCalls<CallHandle>.Admission? {
        let deadline = nodeStart.duration(to: deadline)
        deadlines.add(deadline)
        return state.withLockedValue { state in
            !state.intake.admits ? nil : state.running.begin(call, deadline: deadline, unanswered: unanswered)
        }
    }

    /// Whether a call for that actor has to get behind others, whose arguments are being decoded. Call it on the event loop.
    func mustQueue(for actor: String) -> Bool {
        queueCount.load(ordering: .acquiring) > 0 && state.withLockedValue { $0.queues[actor] != nil }
    }

    /// Starts an admitted call, behind those for the same actor that came before it. Call it on the event loop.
    ///
    /// `operation` runs up to its first suspension, which is the step onto the actor, before the next call is looked at. That keeps
    /// the order. No method runs while the loop reads. `operation` ends by calling `ended`.
    ///
    /// - Parameter executor: where the method runs; `nil` for the threads that all tasks have.
    func start(_ call: UInt64, actor: String, size: Int, on executor: LoopExecutor?, _ operation: @escaping Operation) {
        let waiting = Waiting(call: call, size: size, executor: executor, operation: operation)
        let (startsNow, startsQueue) = state.withLockedValue { state in
            let isFirst = state.queues.isEmpty || state.queues[actor] == nil
            if isFirst, size <= InboundCalls.inlineSize { return (true, false) }
            state.waitingBytes += size
            state.queues[actor, default: []].append(waiting)
            queueCount.store(state.queues.count, ordering: .releasing)
            return (false, state.queues[actor]?.count == 1)
        }
        if startsNow { begin(waiting) }
        if startsQueue {
            // This object owns the task, which ends with the queue.
            Task { self.workOff(actor) }
        }
    }

    private func begin(_ waiting: Waiting) {
        let task = Task.immediate(executorPreference: waiting.executor, operation: waiting.operation)
        if state.withLockedValue({ $0.running.started(waiting.call, .own(task)) }) != nil { task.cancel() }
    }

    /// Whether a call of a batch runs in the batch's task.
    enum Turn {
        case runs
        /// The call was cancelled before.
        case wasCancelled
        /// The task was cancelled together with the call before this one.
        case taskIsSpent
    }

    /// A call of a batch has answered, and another is about to run in the same task.
    ///
    /// - Parameters:
    ///   - ended: the call that has answered, if there is one.
    ///   - task: the current task. It is good until `call` is reported to have ended or to have moved.
    func proceed(from ended: UInt64?, to call: UInt64, in task: BatchTask) -> Turn {
        let (turn, isAwaited) = state.withLockedValue { state -> (Turn, Bool) in
            if let ended { state.running.finished(ended) }
            let isAwaited = ended != nil && state.intake.isAwaited
            // The task is cancelled only under this lock, and from now on for no other call's sake than that of the next.
            if task.isCancelled { return (.taskIsSpent, isAwaited) }
            return (state.running.begins(call, in: .shared(task)) ? .runs : .wasCancelled, isAwaited)
        }
        if isAwaited { changed() }
        return turn
    }

    /// A call of a batch goes on in a task of its own.
    func move(_ call: UInt64, to task: Task<Void, Never>) {
        state.withLockedValue { $0.running.moved(call, to: .own(task)) }
    }

    /// Starts the calls of one actor's queue until it is empty. The first call stays in the queue while it is started, so that
    /// calls that come in meanwhile get behind it. The task that has emptied a queue must not look again: by then there may be
    /// another queue, which belongs to another task.
    private func workOff(_ actor: String) {
        var next = state.withLockedValue { $0.queues[actor]?.first }
        while let started = next {
            begin(started)
            let hasRoomAgain: Bool
            (next, hasRoomAgain) = state.withLockedValue { state in
                let wasFull = state.waitingBytes > InboundCalls.waitingLimit
                state.waitingBytes -= started.size
                state.queues[actor]?.removeFirst()
                let next = state.queues[actor]?.first
                if next == nil {
                    state.queues[actor] = nil
                    queueCount.store(state.queues.count, ordering: .releasing)
                }
                return (next, wasFull && state.waitingBytes <= InboundCalls.waitingLimit)
            }
            if hasRoomAgain { changed() }
        }
    }

    /// Every call that was started calls this when it has answered.
    func finish(_ call: UInt64) {
        // The link may wait for this.
        let isAwaited = state.withLockedValue { state in
            state.running.finished(call)
            return state.intake.isAwaited
        }
        if isAwaited { changed() }
    }

    /// Whether so much waits to be decoded that the peer should send no more for now.
    var isFull: Bool { state.withLockedValue { $0.waitingBytes > InboundCalls.waitingLimit } }

    /// Calls admitted and not finished.
    var count: Int { state.withLockedValue { $0.running.count } }

    func cancel(_ call: UInt64) {
        state.withLockedValue { $0.running.cancel(call)?.ownTask() }?.cancel()
    }

    func nextDeadline() -> Duration? {
        state.withLockedValue { $0.running.nextDeadline() }
    }

    /// Cancels the calls whose callers have given up by now.
    func expire() {
        let now = nodeStart.duration(to: .now)
        let tasks = state.withLockedValue { $0.running.expire(at: now).compactMap { $0.ownTask() } }
        for task in tasks { task.cancel() }
    }

    /// Cancels all and admits no further ones.
    func cancelAll() {
        let tasks = state.withLockedValue { state in
            state.intake = .ended
            return state.running.cancelAll().compactMap { $0.ownTask() }
        }
        for task in tasks { task.cancel() }
    }

    /// Notes that the link is to be closed when no call is left.
    ///
    /// - Parameter admitting: whether further ones may still run.
    func windDown(admitting: Bool) {
        state.withLockedValue { state in
            if state.intake.admits { state.intake = admitting ? .windingDown : .closed }
        }
    }
}
