package import NIOCore

/// How a call ended, as it comes over the link.
package enum CallAnswer: Sendable {
    /// Not an end: it may be made now.
    case turn
    case reply(ByteBuffer)
    case failure(CallFailure)
}

#if DEBUG
    /// Complains loudly about a caller that is never woken, or twice.
    package typealias AnswerContinuation = CheckedContinuation<CallAnswer, any Error>
#else
    /// The call table gives each waiter out once; the check would cost an allocation a call.
    package typealias AnswerContinuation = UnsafeContinuation<CallAnswer, any Error>
#endif

/// Suspends the caller until the continuation that `body` puts away is resumed.
func withAnswerContinuation(_ body: (AnswerContinuation) -> Void) async throws -> CallAnswer {
    #if DEBUG
        try await withCheckedThrowingContinuation(body)
    #else
        try await withUnsafeThrowingContinuation(body)
    #endif
}
