/// The words for a task that no node could begin, because none has its input. A command recognises by them that it has to send its
/// files.
package enum OutOfReach {
    private static let ending = " can reach its input: "
    private static let ofFreeNodes = "no node that is free"

    /// - Parameters:
    ///   - mayBeElsewhere: whether a node may have it that takes no task now.
    ///   - isRestricted: whether the job may not use all nodes.
    static func reason(_ last: FailureReason, mayBeElsewhere: Bool, isRestricted: Bool) -> FailureReason {
        let nodes = mayBeElsewhere ? ofFreeNodes : isRestricted ? "no node that the job may use" : "no node"
        return "\(nodes + ending)\(last)"
    }

    /// Whether a job has ended for this reason.
    package static func isReason(_ reason: String) -> Bool { reason.contains(ending) }

    /// Whether a node may have the input that took no task.
    package static func mayBeElsewhere(_ reason: String) -> Bool { reason.contains(ofFreeNodes + ending) }
}
