package import Transport

/// How far a job is. `waiting + running + completed + failed` is `scheduled`.
package struct JobProgress: Hashable, Codable, Sendable {
    /// Tasks added so far.
    package var scheduled = 0
    /// Tasks that do not run now: they were never tried, are ready for a retry, or are in back-off.
    package var waiting = 0
    /// Tasks with an attempt on some node.
    package var running = 0
    /// Tasks whose result was committed.
    package var completed = 0
    /// Tasks that failed for good.
    package var failed = 0
    /// The same number as `JobOutcome.retries`.
    package var retried = 0
    /// Committed results by the node that brought them. Nodes that have left are included.
    package var completedByNode: [NodeID: Int] = [:]

    package init() {}
}
