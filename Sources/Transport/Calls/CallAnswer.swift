package import NIOCore

/// How a call ended, as it comes over the link.
package enum CallAnswer: Sendable {
    /// This is not an end: the call has its turn and may be made now.
    case turn
    case reply(ByteBuffer)
    case failure(CallFailure)
}

#if DEBUG
    /// The checked continuation complains loudly about a caller that is never woken, or that is woken twice.
    package typealias AnswerContinuation = CheckedContinuation<CallAnswer, any Error>
#else
    /// The call table hands out each waiter once. The check would cost an allocation per call.
    package typealias AnswerContinuation = UnsafeContinuation<CallAnswer, any Error>
#endif

/// Suspends the caller until the continuation that `body` puts away is resumed.
@inline(__always)
nonisolated(nonsending) func withAnswerContinuation(
    _ body: (AnswerContinuation) -> Void
) async throws -> CallAnswer {
    #if DEBUG
        try await withCheckedThrowingContinuation(body)
    #else
        try await withUnsafeThrowingContinuation(body)
    #endif
}
