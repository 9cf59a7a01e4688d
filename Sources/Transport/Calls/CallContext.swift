/// What a task knows of the call it runs for, as one task-local: it holds for every call made inside, however deep.
package struct CallContext: Equatable, Sendable {
    /// When the callers give up; `nil` for a task for which nobody has set a limit.
    package var deadline: ContinuousClock.Instant?
    /// The number that follows a piece of work through logs; 0 where there is none.
    package var trace: UInt64 = 0
    /// The node at the other end of the link, as its handshake named it; `nil` for a call made on this node.
    package var peer: NodeID?
    /// The person who makes the call, as the certificate on the link says; `nil` for a call of a node or of somebody who has the
    /// cluster key.
    package var person: Person?

    @TaskLocal package static var current = CallContext()
}

/// Follows one piece of work through the logs of every node it touches. It is metadata only: nothing is decided by it.
public enum CallTrace {
    /// The trace of the current task; it crosses the wire with each call.
    public static var current: UInt64 { CallContext.current.trace }

    /// Runs `body` under a trace. The value 0 ends the trace around it.
    public static func withValue<Result>(
        _ trace: UInt64, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        var context = CallContext.current
        context.trace = trace
        return try await CallContext.$current.withValue(context, operation: body)
    }
}

/// Who made the call that runs now.
public enum CallOrigin {
    /// The node at the other end of the link, as its handshake named it; `nil` for a call made on this node. A caller's statement
    /// about itself in a request proves nothing.
    public static var peer: NodeID? { CallContext.current.peer }

    /// The person who makes the call, as the certificate on the link says; `nil` for a call of a node, of somebody who has the
    /// cluster key, and of this process itself.
    public static var person: Person? { CallContext.current.person }
}
