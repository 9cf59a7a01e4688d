/// How a job ended. `completed + failed + cancelled` is the number of its tasks.
package struct JobOutcome: Hashable, Codable, Sendable {
    /// Tasks whose result was committed.
    package var completed = 0
    /// Tasks that failed for good, each with its reason reported before.
    package var failed = 0
    /// Tasks that were given up when the job was cancelled.
    package var cancelled = 0
    /// Attempts that failures, lost nodes and inputs out of reach made necessary. Refused attempts are not counted, because
    /// they never started.
    package var retries = 0

    package init(completed: Int = 0, failed: Int = 0, cancelled: Int = 0, retries: Int = 0) {
        self.completed = completed
        self.failed = failed
        self.cancelled = cancelled
        self.retries = retries
    }
}
