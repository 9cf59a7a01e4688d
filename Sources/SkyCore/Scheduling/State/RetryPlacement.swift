import Transport

/// Where a task that has been tried before may go. Tasks with equal placements wait in one queue.
///
/// The order of preference is: first, a node where the task has not failed; second, the local node, because a task that has
/// troubled other nodes must not bring it down; last, a node where the task failed before. A worse choice is made only when
/// no better node is alive.
struct RetryPlacement: Hashable {
    /// Live nodes where the task failed, sorted.
    var avoid: [NodeID] = []
    /// Live nodes that cannot reach the task's input, sorted.
    var never: [NodeID] = []
    /// Live nodes that the task's job does not use, sorted. If all live nodes are among them, the task waits for others.
    var barred: [NodeID] = []
    /// Whether the task has failed or lost a node, and therefore stays off the local node while there is another.
    var sparesLocal = false
    /// Whether the input is sent rather than waited for. Nodes that take no tasks now do not count then.
    var sendsInput = false

    /// The best kind of node among those that are alive.
    enum Choice {
        case preferred, local, any
        /// No live node can reach the input, or none that takes tasks now where it is sent.
        case none
    }

    /// The placement without a preference. A retry that has waited too long gets it. Nodes that cannot reach the input stay
    /// excluded.
    var relaxed: RetryPlacement {
        RetryPlacement(never: never, barred: barred, sendsInput: sendsInput)
    }

    /// Whether relaxing the placement could shorten the wait.
    var isChoosy: Bool { sparesLocal || !avoid.isEmpty }

    func choice(in roster: Roster) -> Choice {
        let isOut = { (node: NodeID) in never.contains(node) || barred.contains(node) }
        if isOutOfReach(roster.workingCount, roster.isWorking) { return .none }
        if sendsInput, isOutOfReach(roster.usableCount, roster.isUsable) { return .none }
        let localIsFree = !avoid.contains(roster.local) && !isOut(roster.local)
        var unwanted = never.count { roster.isUsable($0) && !barred.contains($0) }
        unwanted += barred.count(where: roster.isUsable)
        unwanted += avoid.count { !isOut($0) && roster.isUsable($0) }
        if sparesLocal, localIsFree, roster.isUsable(roster.local) { unwanted += 1 }
        if roster.usableCount > unwanted { return .preferred }
        return sparesLocal && localIsFree && roster.isUsable(roster.local) ? .local : .any
    }

    /// Whether none of some nodes can reach the input, and there are any.
    private func isOutOfReach(_ count: Int, _ isOne: (NodeID) -> Bool) -> Bool {
        guard !never.isEmpty else { return false }
        let reachable = count - barred.count(where: isOne)
        return reachable > 0 && never.count { isOne($0) && !barred.contains($0) } == reachable
    }

    /// Whether a node that is alive may come to take the task.
    func mayBeReached(in roster: Roster) -> Bool {
        roster.order.contains { roster.isWorking($0) && !never.contains($0) && !barred.contains($0) }
    }

    func allows(_ node: NodeID, choice: Choice, local: NodeID) -> Bool {
        guard !never.contains(node), !barred.contains(node) else { return false }
        switch choice {
        case .preferred: return !avoid.contains(node) && !(sparesLocal && node == local)
        case .local: return node == local
        case .any: return true
        case .none: return false
        }
    }
}
