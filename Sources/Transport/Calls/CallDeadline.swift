/// How long a remote call may take, as a task-local: it holds for every call made inside, however deep.
package enum CallDeadline {
    @TaskLocal package static var current: ContinuousClock.Instant?

    /// Time for calls made outside of any `withDeadline`. Status and control calls take milliseconds; whoever
    /// waits longer on purpose says so.
    package static let standard = Duration.seconds(15)

    /// What is left for a call made now.
    package static func remaining() -> Duration {
        guard let current else { return standard }
        return max(.zero, ContinuousClock.now.duration(to: current))
    }
}

/// Runs `body` with a limit on the time its remote calls may take. A nested, longer limit does not extend an outer
/// one. The remaining time travels with each call, and the other side's own calls obey it too.
///
/// - Throws: what `body` throws; a remote call whose time is over throws `TransportError.deadlineExceeded`.
public func withDeadline<Result>(
    _ limit: Duration, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
) async rethrows -> Result {
    let deadline = ContinuousClock.now + limit
    let effective = CallDeadline.current.map { min($0, deadline) } ?? deadline
    return try await CallDeadline.$current.withValue(effective, operation: body)
}
