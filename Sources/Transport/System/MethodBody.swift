import Distributed
import NIOCore

/// How a method is run for a peer.
///
/// It is a class and not a closure, because a closure would have to be released after the call; see `InboundCall.run`.
class MethodBody: @unchecked Sendable {
    /// Whether the method does not suspend, so that its calls can be run in batches.
    var isSynchronous: Bool { false }

    /// Decodes the arguments, calls the method, answers, and ends the call.
    func run(_ call: InboundCall) async {
        preconditionFailure("left out by a subclass")
    }

    /// Decodes the arguments of a call of a method that does not suspend.
    func prepare(_ decoder: CallDecoder, for actor: any ClusterActor) throws -> ReadyCall.Work {
        preconditionFailure("left out by a subclass")
    }

    /// Runs calls of such methods.
    func run(_ batch: CallBatch) async {
        preconditionFailure("left out by a subclass")
    }
}

/// The body of a method that is called as it is written.
final class DirectMethodBody<Act: ClusterActor, each Argument: Codable & Sendable, Result: Sendable>: MethodBody,
    @unchecked Sendable
{
    typealias Reply = @Sendable (CallResponder, Result, inout ByteBuffer) throws -> Void

    /// A method that does not suspend, for callers whose executor is the actor's.
    ///
    /// The standard library's `assumeIsolated` would do, and takes memory for each call. As there, `isolated` is not part of the way
    /// in which a function is called. A function with so many arguments cannot be optional itself.
    private struct Synchronous: Sendable {
        let body: @Sendable (Act, repeat each Argument) throws -> Result

        private struct Isolated {
            let body: @Sendable (isolated Act, repeat each Argument) throws -> Result
        }

        init(_ body: @escaping @Sendable (isolated Act, repeat each Argument) throws -> Result) {
            self = unsafeBitCast(Isolated(body: body), to: Synchronous.self)
        }
    }

    private let body: @Sendable (isolated Act, repeat each Argument) async throws -> Result
    /// The same, where it does not suspend.
    private let synchronous: Synchronous?
    private let reply: Reply
    /// The entries are kept because making them takes memory each time.
    private let entry = DirectCall<Act, Result>.entry
    private let batchEntry = BatchRun<Act>.entry

    init(
        _ body: @escaping @Sendable (isolated Act, repeat each Argument) async throws -> Result, reply: @escaping Reply
    ) {
        self.body = body
        self.synchronous = nil
        self.reply = reply
    }

    init(
        synchronous: @escaping @Sendable (isolated Act, repeat each Argument) throws -> Result, reply: @escaping Reply
    ) {
        self.body = { (actor: isolated Act, arguments: repeat each Argument) in
            try synchronous(actor, repeat each arguments)
        }
        self.synchronous = Synchronous(synchronous)
        self.reply = reply
    }

    override var isSynchronous: Bool { synchronous != nil }

    override func run(_ call: InboundCall) async {
        let work: DirectCall<Act, Result>
        do {
            work = try prepare(call)
        } catch {
            call.responder.fail(error)
            return call.responder.end()
        }
        // The work is consumed, so that nothing has to be released after the call.
        await entry(unsafeDowncast(call.actor, to: Act.self), consume work, call)
    }

    private func prepare(_ call: InboundCall) throws -> DirectCall<Act, Result> {
        guard call.actor is Act else { throw RemoteError(.noSuchMethod, "the actor has no such method") }
        var decoder = try call.takeArguments()
        let arguments = (repeat try decoder.next() as each Argument)
        return DirectCall(reply: reply) { [body] actor in try await body(actor, repeat each arguments) }
    }

    override func prepare(_ decoder: CallDecoder, for actor: any ClusterActor) throws -> ReadyCall.Work {
        guard let method = synchronous?.body, let actor = actor as? Act else {
            throw RemoteError(.noSuchMethod, "the actor has no such method")
        }
        var decoder = decoder
        let arguments = (repeat try decoder.next() as each Argument)
        return { [reply] responder, scratch in
            do {
                let result = try method(actor, repeat each arguments)
                guard !responder.hasToWait else {
                    return answerLater(actor, responder) { try reply(responder, result, &$0) }
                }
                do {
                    try reply(responder, result, &scratch)
                } catch {
                    responder.fail(error)
                }
            } catch {
                guard !responder.hasToWait else {
                    return answerLater(actor, responder) { _ in responder.reply(throwing: error) }
                }
                responder.reply(throwing: error)
            }
            return nil
        }
    }

    override func run(_ batch: CallBatch) async {
        // The actor is of this type: whatever of the batch was not made for it has been refused by `prepare`.
        await batchEntry(unsafeDowncast(batch.actor, to: Act.self), batch, 0)
    }
}

/// Gives an answer when there is room for it, and ends the call. The current executor is the actor's.
private func answerLater<Act: ClusterActor>(
    _ actor: Act, _ responder: CallResponder, _ answer: @escaping @Sendable (inout ByteBuffer) throws -> Void
) -> Task<Void, Never> {
    actor.assumeIsolated { actor in
        Task.immediate {
            // This belongs to the actor, so that those who were told of the same room answer one after the other.
            _ = actor
            while responder.hasToWait { await responder.roomForAnswer() }
            do {
                try ScratchBuffers.with { try answer(&$0) }
            } catch {
                responder.fail(error)
            }
            responder.end()
        }
    }
}

/// The way of a batch onto its actor; see `DirectCall.entry`.
private enum BatchRun<Act: ClusterActor> {
    typealias Entry = @Sendable (Act, CallBatch, _ first: Int) async -> Void

    static var entry: Entry {
        let isolated: @Sendable (isolated Act, CallBatch, Int) async -> Void = perform
        return unsafeBitCast(isolated, to: Entry.self)
    }

    @Sendable private static func perform(_ actor: isolated Act, _ batch: CallBatch, _ first: Int) async {
        var first = first
        // Everything below relies on it.
        actor.preconditionIsolated()
        while true {
            // There always is a current task here.
            switch withUnsafeCurrentTask(body: { task in task.flatMap { batch.run(from: first, in: $0) } }) {
            case nil: return
            case .cancelledCall(let index):
                Task.immediate {
                    // This belongs to the actor and thus runs at once, before the calls behind it.
                    _ = actor
                    batch.runCancelled(index)
                }
                first = index + 1
            case .cancelledTask(let index):
                Task.immediate { await perform(actor, batch, index) }
                return
            }
        }
    }
}

/// A call with its arguments, ready to be run on its actor.
private struct DirectCall<Act: ClusterActor, Result: Sendable>: Sendable {
    let reply: @Sendable (CallResponder, Result, inout ByteBuffer) throws -> Void
    let body: @Sendable (isolated Act) async throws -> Result

    typealias Entry = @Sendable (Act, consuming DirectCall, InboundCall) async -> Void

    /// `perform` for an actor that the compiler does not know to be on this node. The directory holds only actors of this node.
    ///
    /// The language has only one such step, `whenLocal`, which leaves the actor again before it returns. `isolated` is not part of
    /// the way in which a function is called: a function with such a parameter goes to its actor by itself when it begins. The
    /// standard library's `assumeIsolated` is made in the same way.
    static var entry: Entry {
        let isolated: @Sendable (isolated Act, consuming DirectCall, InboundCall) async -> Void = perform
        return unsafeBitCast(isolated, to: Entry.self)
    }

    /// Does everything up to the end of the call on the actor.
    @Sendable private static func perform(
        _ actor: isolated Act, _ work: consuming DirectCall, _ call: InboundCall
    ) async {
        let work = work
        await CallContext.$current.withValue(call.context) {
            call.logStart()
            let result: Result
            do {
                result = try await work.body(actor)
            } catch {
                while call.responder.hasToWait { await call.responder.roomForAnswer() }
                return call.responder.reply(throwing: error)
            }
            // The room is checked again on the actor: many calls may have been told of the same room, and they answer one after the
            // other.
            while call.responder.hasToWait { await call.responder.roomForAnswer() }
            do {
                try ScratchBuffers.with { try work.reply(call.responder, result, &$0) }
            } catch {
                call.responder.fail(error)
            }
        }
        call.responder.end()
    }
}
