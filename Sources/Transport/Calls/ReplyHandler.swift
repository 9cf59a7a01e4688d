public import Distributed
import NIOCore

/// Sends back what a local actor's method returned or threw.
public struct ReplyHandler: DistributedTargetInvocationResultHandler {
    public typealias SerializationRequirement = any Codable & Sendable

    private let link: Link
    private let call: UInt64
    /// Knows which errors are declared.
    private let actor: any ClusterActor.Type

    init(link: Link, call: UInt64, actor: any ClusterActor.Type) {
        self.link = link
        self.call = call
        self.actor = actor
    }

    public func onReturn<Success: Codable & Sendable>(value: Success) async throws {
        // What waits to be read by the peer is bounded; further results wait here as values, not as bytes.
        await link.roomForAnswer()
        var frame = Frame(.reply, call: call, body: ByteBufferAllocator().buffer(capacity: 128))
        if let payload = WireCoder.payload(of: value) {
            WireCoder.writeHead(ofPayload: payload, into: &frame.body)
            frame.tail = payload
            guard frame.bodySize <= link.bodyLimit else { return refuseResult() }
        } else {
            do {
                try WireCoder.encode(value, into: &frame.body, limit: link.bodyLimit)
            } catch WireCodingError.limitExceeded {
                return refuseResult()
            }
        }
        link.send(frame)
    }

    private func refuseResult() {
        link.fail(call, RemoteError(.tooLarge, "a result of more than \(link.bodyLimit) bytes"))
    }

    public func onReturnVoid() async throws {
        link.send(Frame(.reply, call: call))
    }

    public func onThrow<Err: Error>(error: Err) async throws {
        await link.roomForAnswer()
        link.metrics.theirCallFailed()
        link.fail(call, actor.methods.failure(for: error))
    }

    static func describe(_ error: any Error) -> RemoteError {
        switch error {
        case let error as RemoteError: error
        case is CancellationError: RemoteError(.cancelled, "the call was cancelled")
        default: RemoteError(.failed, String(describing: error))
        }
    }
}
