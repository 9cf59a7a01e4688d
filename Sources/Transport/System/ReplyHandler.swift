public import Distributed

/// Sends back what a local actor's method returned or threw, where the runtime runs it.
public struct ReplyHandler: DistributedTargetInvocationResultHandler {
    public typealias SerializationRequirement = any Codable & Sendable

    private let responder: CallResponder

    init(_ responder: CallResponder) {
        self.responder = responder
    }

    public func onReturn<Success: Codable & Sendable>(value: Success) async throws {
        await responder.roomForAnswer()
        try ScratchBuffers.with { try responder.reply(value, by: &$0) }
    }

    public func onReturnVoid() async throws {
        responder.replyVoid()
    }

    public func onThrow<Err: Error>(error: Err) async throws {
        await responder.roomForAnswer()
        responder.reply(throwing: error)
    }
}
