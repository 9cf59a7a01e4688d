import Distributed

/// How a method is run for a peer.
///
/// It is a class and not a closure, because a closure would have to be released after the call; see `InboundCall.run`.
class MethodBody: @unchecked Sendable {
    /// Decodes the arguments, calls the method, answers, and ends the call.
    func run(_ call: InboundCall) async {
        preconditionFailure("left out by a subclass")
    }
}

/// The body of a method that is left to the runtime, which takes the mangled name apart and looks up the types at each call.
final class RuntimeMethodBody: MethodBody, @unchecked Sendable {
    private let target: String

    init(target: String) {
        self.target = target
    }

    override func run(_ call: InboundCall) async {
        await CallContext.$current.withValue(call.context) {
            call.logStart()
            do {
                try await execute(on: call.actor, call)
            } catch {
                call.fail(error)
            }
        }
        call.end()
    }

    private func execute(on actor: some ClusterActor, _ call: InboundCall) async throws {
        var decoder = try call.takeArguments()
        try await actor.actorSystem.executeDistributedTarget(
            on: actor, target: RemoteCallTarget(target), invocationDecoder: &decoder, handler: ReplyHandler(call))
    }
}

/// The body of a method that is called as it is written.
final class DirectMethodBody<Act: ClusterActor, each Argument: Codable & Sendable, Result: Sendable>: MethodBody,
    @unchecked Sendable
{
    private let body: @Sendable (isolated Act, repeat each Argument) async throws -> Result
    private let reply: @Sendable (InboundCall, Result) throws -> Void
    /// The entry is kept because making it takes memory each time.
    private let entry = DirectCall<Act, Result>.entry

    init(
        _ body: @escaping @Sendable (isolated Act, repeat each Argument) async throws -> Result,
        reply: @escaping @Sendable (InboundCall, Result) throws -> Void
    ) {
        self.body = body
        self.reply = reply
    }

    override func run(_ call: InboundCall) async {
        let work: DirectCall<Act, Result>
        do {
            work = try prepare(call)
        } catch {
            call.fail(error)
            return call.end()
        }
        // The work is consumed, so that nothing has to be released after the call.
        await entry(unsafeDowncast(call.actor, to: Act.self), consume work, call)
    }

    private func prepare(_ call: InboundCall) throws -> DirectCall<Act, Result> {
        guard call.actor is Act else { throw RemoteError(.noSuchMethod, "the actor has no such method") }
        var decoder = try call.takeArguments()
        let arguments = (repeat try decoder.decodeNextArgument() as each Argument)
        return DirectCall(reply: reply) { [body] actor in try await body(actor, repeat each arguments) }
    }
}

/// A call with its arguments, ready to be run on its actor.
private struct DirectCall<Act: ClusterActor, Result: Sendable>: Sendable {
    let reply: @Sendable (InboundCall, Result) throws -> Void
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
                while call.hasToWait { await call.roomForAnswer() }
                return call.reply(throwing: error)
            }
            // The room is checked again on the actor: many calls may have been told of the same room, and they answer one after the
            // other.
            while call.hasToWait { await call.roomForAnswer() }
            do {
                try work.reply(call, result)
            } catch {
                call.fail(error)
            }
        }
        call.end()
    }
}
