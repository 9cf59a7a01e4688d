import NIOCore

/// Attempts that have ended on a node, by how. Those that never ran are not among them.
package struct AttemptCounts: Hashable, Sendable {
    package private(set) var completed = 0
    /// The task failed.
    package private(set) var faults = 0
    /// Its worker process died.
    package private(set) var crashes = 0
    /// Its input is damaged, or is none.
    package private(set) var badInputs = 0
    /// Its input cannot be reached from here.
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
