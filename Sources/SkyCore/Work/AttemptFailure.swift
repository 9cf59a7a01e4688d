import Base

/// Why an attempt brought no result. What it says decides who is charged and where the task goes next.
package enum AttemptFailure: Error, Hashable, Sendable {
    /// The task itself failed. The failure is charged to the task's faults. The task is retried after a back-off, on
    /// another node if there is one.
    case fault(FailureReason)
    /// The process that did the work died of the task. This counts like a `fault`, but some jobs forgive fewer crashes than
    /// other faults.
    case crash(FailureReason)
    /// The input is bad. Another attempt is certain to fail too, so the task is never retried.
    case permanent(FailureReason)
    /// This node cannot reach the input. Nothing is charged. The task never comes back to this node, and it fails when no
    /// node is left that might reach the input.
    case unavailable(FailureReason)
    /// The node, or the connection to it, went away while the attempt ran. This is charged to the task's node losses, not
    /// to its faults. A worker process that crashed on a node that is still alive is a `crash`.
    case nodeLost(FailureReason)
    /// The node did not start the attempt, because its lease has gone or shrunk. Nothing is charged. The scheduler leaves
    /// the node alone briefly.
    case refused(FailureReason)

    /// What happened, in the words of the part of the program that saw it.
    package var reason: FailureReason {
        switch self {
        case .fault(let reason), .crash(let reason), .permanent(let reason), .unavailable(let reason),
            .nodeLost(let reason), .refused(let reason):
            reason
        }
    }

    /// Whether it is about the input, and not about the work or the node.
    var isOfInput: Bool {
        switch self {
        case .permanent, .unavailable: true
        case .fault, .crash, .nodeLost, .refused: false
        }
    }

    /// What an error that ended the work says of another try.
    init(of error: any Error) {
        guard let error = error as? SkyError else {
            self = .fault(FailureReason(String(describing: error)))
            return
        }
        let reason = FailureReason(error.message)
        switch error.kind {
        case .badInput: self = .permanent(reason)
        case .unavailable: self = .unavailable(reason)
        case .failed: self = .fault(reason)
        }
    }
}
