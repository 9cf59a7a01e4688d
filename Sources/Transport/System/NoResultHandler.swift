public import Distributed

/// There is none: `Method` sends back what a local actor's method returned or threw. The language asks an actor system for the type.
public struct NoResultHandler: DistributedTargetInvocationResultHandler {
    public typealias SerializationRequirement = any Codable & Sendable

    private init() {}

    public func onReturn<Success: Codable & Sendable>(value: Success) async throws {}

    public func onReturnVoid() async throws {}

    public func onThrow<Err: Error>(error: Err) async throws {}
}
