/// The tasks of all jobs of a coordinator since its start, counted by outcome.
package struct TaskCounts: Hashable, Sendable {
    /// Tasks that a node completed.
    package var completed = 0
    /// Tasks that an earlier result answered.
    package var cached = 0
    /// Tasks that were given up.
    package var failed = 0
    /// Attempts after one that failed.
    package var retries = 0

    package init() {}
}
