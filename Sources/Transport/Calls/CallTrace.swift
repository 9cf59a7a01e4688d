/// Follows one piece of work through the logs of every node it touches. Metadata only: nothing decides by it.
public enum CallTrace {
    /// The trace of the current task; it crosses the wire with each call.
    @TaskLocal public static var current: UInt64 = 0
}
