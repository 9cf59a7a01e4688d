import Transport

/// What is known of a task that has been tried and is not done. Tasks that were never tried and tasks that are done have no
/// record.
struct TaskRecord {
    enum Phase: Equatable {
        /// At least one attempt is on some node.
        case running
        /// The task waits for a slot.
        case ready
        /// The task waits for the end of a back-off, or for a node of its own.
        case backingOff
    }

    /// An attempt that is under way.
    struct Runner: Equatable {
        var number: Int
        var generation: UInt64
        var node: NodeID
    }

    /// What follows from a failure.
    enum Verdict: Equatable {
        /// Try again after the back-off for this many faults.
        case retryAfterFault(count: Int)
        /// Try again at once: the task is not to blame.
        case retryNow
        /// Try again where nothing else runs: the task has been on so many nodes that died that it may be what kills them.
        case retryAlone
        /// Another attempt is still under way.
        case wait
        /// The attempt never ran: try again when the node has had time to send a new lease.
        case refused
        case fail(reason: FailureReason)
    }

    private enum Trouble {
        case fault(NodeID)
        /// A worker process died of the task, which is a fault too.
        case crash(NodeID)
        /// The node, or the connection to it, went away.
        case loss(NodeID, alone: Bool)
        /// The node cannot reach the input.
        case outOfReach(NodeID)
    }

    var phase: Phase
    /// The number of attempts in this incarnation of the coordinator, which is also the number of the newest one.
    var attempts = 1
    private(set) var runner: Runner?
    /// The speculative attempt, which runs because the first attempt takes long.
    private(set) var speculative: Runner?
    /// The ticket tells the task's newest entry in a queue from older ones. It changes with the phase.
    var ticket: UInt32 = 0

    /// What went wrong, and where, in order. There is one list for all, because most tasks have no troubles and many tasks
    /// may wait.
    private var troubles: [Trouble] = []
    private var refusals = 0
    /// The reason of the last failure.
    private(set) var lastReason: FailureReason = ""

    init(_ runner: Runner) {
        phase = .running
        attempts = 0
        add(runner)
    }

    /// Makes the record of a task that is not under way and was not tried in this incarnation.
    init() {
        phase = .backingOff
        attempts = 0
    }

    var runners: [Runner] { [runner, speculative].compactMap(\.self) }

    mutating func add(_ added: Runner) {
        if runner == nil { runner = added } else { speculative = added }
        phase = .running
    }

    /// Removes an attempt. Returns `false` if the attempt is not under way.
    mutating func remove(_ attempt: AttemptID, on node: NodeID) -> Bool {
        let removed = Runner(number: attempt.number, generation: attempt.generation, node: node)
        if speculative == removed {
            speculative = nil
        } else if runner == removed {
            (runner, speculative) = (speculative, nil)
        } else {
            return false
        }
        return true
    }

    /// Charges a failure to the budget it belongs to.
    ///
    /// - Parameters:
    ///   - alone: whether nothing else ran on the node.
    ///   - retries: how many faults are forgiven.
    ///   - crashes: how many of these faults may be crashes.
    mutating func charge(
        _ failure: AttemptFailure, on node: NodeID, alone: Bool, retries: Int, crashes: Int,
        policy: SchedulerPolicy
    ) -> Verdict {
        let verdict = judge(failure, on: node, alone: alone, retries: retries, crashes: crashes, policy: policy)
        if case .permanent = failure { return verdict }
        return runner == nil ? verdict : .wait
    }

    private mutating func judge(
        _ failure: AttemptFailure, on node: NodeID, alone: Bool, retries: Int, crashes: Int,
        policy: SchedulerPolicy
    ) -> Verdict {
        switch failure {
        case .fault(let reason), .crash(let reason):
            lastReason = reason
            if case .crash = failure { troubles.append(.crash(node)) } else { troubles.append(.fault(node)) }
            guard faults <= retries, crashedOn.count <= crashes else {
                let nodes = Set(faultyOn).sorted()
                return .fail(
                    reason: nodes.count == 1
                        ? "failed \(faults) times on \(nodes): \(reason)"
                        : "failed \(faults) times on \(nodes.count) nodes (\(nodes)): \(reason)")
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
            troubles.append(.loss(node, alone: alone))
            // A node dies once. If the same node is lost again, the cause is a bad link and not the task.
            let nodes = Set(lostOn)
            guard Set(lostAlone).count < policy.maximumLossesAlone else {
                return .fail(
                    reason: "poison: \(nodes.count) nodes died while running it (\(nodes.sorted()))")
            }
            guard lostOn.count < policy.maximumLosses else {
                return .fail(reason: "lost \(lostOn.count) times with the way to its nodes: \(reason)")
            }
            return nodes.count < policy.suspicionAfter ? .retryNow : .retryAlone
        case .refused(let reason):
            refusals += 1
            guard refusals < policy.maximumRefusals else {
                return .fail(reason: "refused \(refusals) times, last by \(node): \(reason)")
            }
            return .refused
        }
    }

    /// Where the task may be tried next. Nodes that are gone are left out, so that tasks that differ only in those wait together.
    ///
    /// - Parameters:
    ///   - barred: live nodes that the task's job does not use, sorted.
    ///   - sendsInput: whether its input is sent rather than waited for.
    func placement(in roster: Roster, barred: [NodeID], sendsInput: Bool) -> RetryPlacement {
        var placement = RetryPlacement(barred: barred, sendsInput: sendsInput)
        for trouble in troubles {
            switch trouble {
            case .fault(let node), .crash(let node), .loss(let node, alone: _):
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

    /// Whether anything has gone wrong with the task in this incarnation.
    var hasFailed: Bool { !troubles.isEmpty }

    private var faults: Int { faultyOn.count }

    private var faultyOn: [NodeID] {
        troubles.compactMap {
            switch $0 {
            case .fault(let node), .crash(let node): node
            case .loss, .outOfReach: nil
            }
        }
    }

    private var crashedOn: [NodeID] {
        troubles.compactMap { if case .crash(let node) = $0 { node } else { nil } }
    }

    private var lostOn: [NodeID] {
        troubles.compactMap { if case .loss(let node, alone: _) = $0 { node } else { nil } }
    }

    private var lostAlone: [NodeID] {
        troubles.compactMap { if case .loss(let node, alone: true) = $0 { node } else { nil } }
    }
}
