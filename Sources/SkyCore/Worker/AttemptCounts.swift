/// Attempts that have ended on a node, by how they ended. Attempts that never ran are not counted.
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

    mutating func count(_ outcome: AttemptOutcome) {
        switch outcome {
        case .done: completed += 1
        case .fault: faults += 1
        case .crash: crashes += 1
        case .badInput: badInputs += 1
        case .unavailable: unavailable += 1
        case .refused: break
        }
    }
}
