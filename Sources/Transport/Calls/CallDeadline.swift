/// How long a remote call may take.
package enum CallDeadline {
    /// The time that is left for a call.
    ///
    /// - Parameters:
    ///   - deadline: the deadline of the task that makes it; `nil` outside of any `withDeadline`.
    ///   - standard: time for calls made outside of any `withDeadline`.
    ///   - longest: no call waits longer, whatever its caller set.
    package static func remaining(
        _ deadline: ContinuousClock.Instant?, now: ContinuousClock.Instant, standard: Duration, longest: Duration
    ) -> Duration {
        guard let deadline else { return min(standard, longest) }
        return min(max(.zero, now.duration(to: deadline)), longest)
    }
}

/// Runs `body` with a limit on the time its remote calls may take. A nested, longer limit does not extend an outer
/// one. The remaining time travels with each call, and the other side's own calls obey it too.
///
/// - Throws: the error of `body`; a remote call whose time is over throws `TransportError.deadlineExceeded`.
public func withDeadline<Result>(
    _ limit: Duration, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
) async rethrows -> Result {
    let deadline = ContinuousClock.now + limit
    var context = CallContext.current
    context.deadline = context.deadline.map { min($0, deadline) } ?? deadline
    return try await CallContext.$current.withValue(context, operation: body)
}
