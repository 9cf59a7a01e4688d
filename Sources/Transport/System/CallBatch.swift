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
        ScratchBuffers.with { scratch in
            var ended: UInt64?
            var responder = CallResponder(id: 0, actor: actor, link: link, system: system)
            defer { if let ended { link.inbound.finish(ended) } }
            for index in first..<calls.count {
                let call = calls[index]
                let turn = link.inbound.proceed(from: ended, to: call.id, in: task)
                ended = nil
                switch turn {
                case .runs:
                    responder.id = call.id
                    if perform(call, responder, &scratch) { ended = call.id }
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
            if perform(calls[index], responder, &scratch) { link.inbound.finish(calls[index].id) }
        }
    }

    /// - Returns: whether the call has ended.
    private func perform(_ call: ReadyCall, _ responder: CallResponder, _ scratch: inout ByteBuffer) -> Bool {
        let task = CallContext.$current.withValue(call.context) {
            responder.logStart(of: call.method)
            return call.work(responder, &scratch)
        }
        guard let task else { return true }
        link.inbound.move(call.id, to: task)
        return false
    }
}
