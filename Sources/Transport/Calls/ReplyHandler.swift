public import Distributed
package import NIOCore

/// Turns what a local actor's method returned or threw into the answer that goes back.
public struct ReplyHandler: DistributedTargetInvocationResultHandler {
    public typealias SerializationRequirement = any Codable & Sendable

    package enum Answer: Sendable {
        case reply(ByteBuffer)
        case failure(RemoteError)
    }

    private let answer: @Sendable (Answer) -> Void

    init(answer: @escaping @Sendable (Answer) -> Void) {
        self.answer = answer
    }

    public func onReturn<Success: Codable & Sendable>(value: Success) async throws {
        let bytes = try WireCoder.encode(value)
        if bytes.readableBytes > FrameLimits.body {
            answer(.failure(RemoteError(.resultTooLarge, "a result of \(bytes.readableBytes) bytes")))
        } else {
            answer(.reply(bytes))
        }
    }

    public func onReturnVoid() async throws {
        answer(.reply(ByteBuffer()))
    }

    public func onThrow<Err: Error>(error: Err) async throws {
        answer(.failure(ReplyHandler.describe(error)))
    }

    static func describe(_ error: any Error) -> RemoteError {
        switch error {
        case let error as RemoteError: error
        case is CancellationError: RemoteError(.cancelled, "the call was cancelled")
        default: RemoteError(.failed, String(describing: error))
        }
    }
}
