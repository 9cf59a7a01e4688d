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

    var phase: Phase
    /// Attempts made; also the number of the newest.
    var attempts = 1
    /// Tells the task's newest entry in a queue from older ones. Changes with the phase.
    var ticket: UInt32 = 0

    private(set) var faults = 0
    private(set) var refusals = 0
    /// Nodes that died, or were cut off, under it.
    private(set) var lostOn: [NodeID] = []
    private(set) var failedOn: [NodeID] = []
    /// Nodes that cannot reach its input.
    private(set) var unreachableFrom: [NodeID] = []
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
            faults += 1
            if !failedOn.contains(node) { failedOn.append(node) }
            guard faults <= policy.maximumFaults else {
                return .fail(reason: "failed \(faults) times, last on node \(node): \(reason)")
            }
            return .retryAfterFault(count: faults)
        case .permanent(let reason):
            return .fail(reason: reason)
        case .unavailable(let reason):
            lastReason = reason
            if !unreachableFrom.contains(node) { unreachableFrom.append(node) }
            return .retryNow
        case .nodeLost(let reason):
            lastReason = reason
            lostOn.append(node)
            if !failedOn.contains(node) { failedOn.append(node) }
            guard lostOn.count < policy.maximumNodeLosses else {
                let names = lostOn.map(\.description).joined(separator: ", ")
                return .fail(reason: "poison: \(lostOn.count) nodes died while running it (\(names))")
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
        RetryPlacement(
            avoid: failedOn.filter(roster.isLive).sorted(),
            never: unreachableFrom.filter(roster.isLive).sorted(),
            sparesLocal: faults > 0 || !lostOn.isEmpty)
    }
}
