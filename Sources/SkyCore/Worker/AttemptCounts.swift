import NIOCore

/// Attempts that have ended on a node, by how. Those that never ran are not among them.
package struct AttemptCounts: Hashable, Sendable {
    package private(set) var completed = 0
    /// The task failed.
    package private(set) var faults = 0
    /// The task's worker process died.
    package private(set) var crashes = 0
    /// The task's input is damaged, or is not an input at all.
    package private(set) var badInputs = 0
    /// The task's input cannot be reached from this node.
    package private(set) var unavailable = 0

    package var failed: Int { faults + crashes + badInputs + unavailable }

    package init() {}

    mutating func count(_ end: AttemptEnd<ByteBuffer>) {
        switch end {
        case .success: completed += 1
        case .failure(.fault): faults += 1
        case .failure(.crash): crashes += 1
        case .failure(.permanent): badInputs += 1
        case .failure(.unavailable): unavailable += 1
        case .failure(.refused), .failure(.nodeLost): break
        }
    }
}
