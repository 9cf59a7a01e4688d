public import Distributed

/// Sends back what a local actor's method returned or threw, where the runtime runs it.
public struct ReplyHandler: DistributedTargetInvocationResultHandler {
    public typealias SerializationRequirement = any Codable & Sendable

    private let call: InboundCall

    init(_ call: InboundCall) {
        self.call = call
    }

    public func onReturn<Success: Codable & Sendable>(value: Success) async throws {
        await call.roomForAnswer()
        try call.reply(value)
    }

    public func onReturnVoid() async throws {
        call.replyVoid()
    }

    public func onThrow<Err: Error>(error: Err) async throws {
        await call.roomForAnswer()
        call.reply(throwing: error)
    }
}
