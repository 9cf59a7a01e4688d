import Transport

/// What is known of a task that has been tried and is not done. Untouched and finished tasks have no record.
struct TaskRecord {
    enum Phase: Equatable {
        /// The newest attempt is on this node.
        case running(on: NodeID)
        /// Waits for a slot.
        case ready
        /// Waits for the end of a back-off.
        case backingOff
    }

    /// What follows from a failure.
    enum Verdict: Equatable {
        /// Try again after the back-off for this many faults.
        case retryAfterFault(count: Int)
        /// Try again at once: the task is not to blame.
        case retryNow
        /// It never ran: try again when the node had time to say why.
        case refused
        case fail(reason: String)
    }

    private enum Trouble {
        case fault(NodeID)
        /// The node, or the way to it, went away.
        case loss(NodeID)
        /// The node cannot reach the input.
        case outOfReach(NodeID)
    }

    var phase: Phase
    /// Attempts made; also the number of the newest.
    var attempts = 1
    /// Tells the task's newest entry in a queue from older ones. Changes with the phase.
    var ticket: UInt32 = 0

    /// What went wrong, and where, in order. One list: most tasks have none, and those waiting may be many.
    private var troubles: [Trouble] = []
    private var refusals = 0
    /// The last failure, in the words of whoever saw it.
    private(set) var lastReason = ""

    init(runningOn node: NodeID) {
        phase = .running(on: node)
    }

    /// Charges a failure to the budget it belongs to.
    mutating func charge(_ failure: AttemptFailure, on node: NodeID, policy: JobScheduler.Policy) -> Verdict {
        switch failure {
        case .fault(let reason):
            lastReason = reason
            troubles.append(.fault(node))
            guard faults <= policy.maximumFaults else {
                return .fail(reason: "failed \(faults) times, last on node \(node): \(reason)")
            }
            return .retryAfterFault(count: faults)
        case .permanent(let reason):
            return .fail(reason: reason)
        case .unavailable(let reason):
            lastReason = reason
            troubles.append(.outOfReach(node))
            return .retryNow
        case .nodeLost(let reason):
            lastReason = reason
            troubles.append(.loss(node))
            // A node dies once; the same one lost again is a bad link, which is not the task's doing.
            let nodes = Set(lostOn)
            guard nodes.count < policy.maximumNodeLosses else {
                let names = nodes.sorted().map(\.description).joined(separator: ", ")
                return .fail(reason: "poison: \(nodes.count) nodes died while running it (\(names))")
            }
            guard lostOn.count < policy.maximumNodeLosses * 10 else {
                return .fail(reason: "lost \(lostOn.count) times with the way to its nodes: \(reason)")
            }
            return .retryNow
        case .refused(let reason):
            refusals += 1
            guard refusals < policy.maximumRefusals else {
                return .fail(reason: "refused \(refusals) times, last by node \(node): \(reason)")
            }
            return .refused
        }
    }

    /// Where it may be tried next. Nodes that are gone are left out, so that tasks that differ only in those wait together.
    func placement(in roster: Roster) -> RetryPlacement {
        var placement = RetryPlacement()
        for trouble in troubles {
            switch trouble {
            case .fault(let node), .loss(let node):
                placement.sparesLocal = true
                if roster.isLive(node), !placement.avoid.contains(node) { placement.avoid.append(node) }
            case .outOfReach(let node):
                if roster.isLive(node), !placement.never.contains(node) { placement.never.append(node) }
            }
        }
        placement.avoid.sort()
        placement.never.sort()
        return placement
    }

    private var faults: Int {
        troubles.count { if case .fault = $0 { true } else { false } }
    }

    private var lostOn: [NodeID] {
        troubles.compactMap { if case .loss(let node) = $0 { node } else { nil } }
    }
}
