import NIOCore

/// A call of a peer whose method does not suspend, with its arguments.
struct ReadyCall: Sendable {
    /// Runs the method on the actor, whose executor is the current one, and answers.
    ///
    /// - Returns: a task in which the call goes on, because the answer has to wait; `nil` where it is given.
    typealias Work = @Sendable (CallResponder, _ scratch: inout ByteBuffer) -> Task<Void, Never>?

    let id: UInt64
    let context: CallContext
    let method: Method
    let work: Work
}

/// Calls of one peer for one actor that have come in together. They run one after the other in one task and in one turn of the actor:
/// a task for each, and a turn, would take longer than most methods.
///
/// Each call still is a call by itself for the method: it has its own context, and only its own cancellation. A call that was
/// cancelled before its turn runs in a cancelled task of its own, and after one that was cancelled while it ran, the rest goes on in
/// another task.
final class CallBatch: Sendable {
    /// Why a batch stops before its end, at which call.
    enum Stop {
        /// That call was cancelled before, and has to run by itself.
        case cancelledCall(Int)
        /// The task has been cancelled together with the call before that one.
        case cancelledTask(Int)
    }

    let actor: any ClusterActor
    private let link: Link
    private let system: ClusterSystem
    private let calls: [ReadyCall]

    init(_ calls: [ReadyCall], on actor: any ClusterActor, link: Link, system: ClusterSystem) {
        self.calls = calls
        self.actor = actor
        self.link = link
        self.system = system
    }

    /// Runs the calls from `first` on, on the actor. `task` is the current task.
    func run(from first: Int, in task: UnsafeCurrentTask) -> Stop? {
        let batchTask = BatchTask(task)
        var index = first
        while index < calls.count {
            // Calls that came together mostly agree in everything that a method can ask for.
            let stop = CallContext.$current.withValue(calls[index].context) { runAlike(from: &index, in: batchTask) }
            if let stop { return stop }
        }
        return nil
    }

    /// Runs the calls from `index` on that have the same context and the same method, and moves `index` behind them.
    private func runAlike(from index: inout Int, in task: BatchTask) -> Stop? {
        let (first, context, method) = (index, calls[index].context, calls[index].method)
        // An answer has nothing to wait for where no other call comes behind its own.
        let isAlone =
            first + 1 == calls.count || calls[first + 1].method !== method || calls[first + 1].context != context
        let isBrief = !isAlone && method.pace.isBrief
        let start = ContinuousClock.now
        if isBrief { link.beginBatch() }
        defer {
            if isBrief { link.endBatch() }
            method.pace.note(index - first, calls: start.duration(to: .now))
        }
        return ScratchBuffers.with { scratch in
            var ended: UInt64?
            var responder = CallResponder(id: 0, actor: actor, link: link, system: system)
            defer { if let ended { link.inbound.finish(ended) } }
            while index < calls.count, calls[index].method === method, calls[index].context == context {
                let id = calls[index].id
                let turn = link.inbound.proceed(from: ended, to: id, in: task)
                ended = nil
                switch turn {
                case .runs:
                    responder.id = id
                    if perform(index, responder, &scratch) { ended = id }
                    index += 1
                case .wasCancelled: return .cancelledCall(index)
                case .taskIsSpent: return .cancelledTask(index)
                }
            }
            return nil
        }
    }

    /// Runs one call, which was cancelled before its turn, on the actor and in a task of its own.
    func runCancelled(_ index: Int) {
        withUnsafeCurrentTask { $0?.cancel() }
        ScratchBuffers.with { scratch in
            let responder = CallResponder(id: calls[index].id, actor: actor, link: link, system: system)
            let hasEnded = CallContext.$current.withValue(calls[index].context) {
                perform(index, responder, &scratch)
            }
            if hasEnded { link.inbound.finish(calls[index].id) }
        }
    }

    /// - Returns: whether the call has ended.
    private func perform(_ index: Int, _ responder: CallResponder, _ scratch: inout ByteBuffer) -> Bool {
        responder.logStart(of: calls[index].method)
        guard let task = calls[index].work(responder, &scratch) else { return true }
        link.inbound.move(responder.id, to: task)
        return false
    }
}
