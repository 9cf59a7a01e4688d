/// Tasks of all jobs of a coordinator since its start, by what became of them.
package struct TaskCounts: Hashable, Sendable {
    /// By a node.
    package var completed = 0
    /// By an earlier result.
    package var cached = 0
    /// Given up.
    package var failed = 0
    /// Tries after one that failed.
    package var retries = 0

    package init() {}
}
