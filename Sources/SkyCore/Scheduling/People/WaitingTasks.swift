import Transport

/// The tasks of one person's jobs that wait, by the nodes that may take them. They are rounded up to powers of two, separately for each
/// selection of nodes, so that a change of one task seldom concerns the nodes.
struct WaitingTasks {
    /// Tasks that wait for each selection of nodes.
    private var counts: [Int: Int] = [:]
    /// The tasks that any node may take.
    private var free = 0
    /// Those, rounded up.
    private(set) var anywhere = 0
    /// How many more a node may take, rounded up; 0 is left out.
    private var extra: [NodeID: Int] = [:]

    /// Whether some nodes may take more than others.
    var isSelective: Bool { !counts.isEmpty }

    func count(for node: NodeID) -> Int { anywhere + (extra[node] ?? 0) }

    static func roundedUp(_ count: Int) -> Int {
        guard count > 1 else { return count }
        return 1 << (Int.bitWidth - (count - 1).leadingZeroBitCount)
    }

    /// So many more tasks wait for the nodes of a selection.
    ///
    /// - Returns: whether a rounded number has changed.
    mutating func add(_ change: Int, for selection: Int, of selections: NodeSelections) -> Bool {
        guard change != 0 else { return false }
        guard selection != NodeSelections.everyNode else {
            free += change
            let rounded = WaitingTasks.roundedUp(free)
            defer { anywhere = rounded }
            return rounded != anywhere
        }
        let before = counts[selection] ?? 0
        counts[selection] = before + change == 0 ? nil : before + change
        let more = WaitingTasks.roundedUp(before + change) - WaitingTasks.roundedUp(before)
        guard more != 0 else { return false }
        for node in selections.nodes(selection) { add(more, to: node) }
        return true
    }

    mutating func nodeJoined(_ node: NodeID, in selections: [Int]) {
        for selection in selections { add(WaitingTasks.roundedUp(counts[selection] ?? 0), to: node) }
    }

    mutating func nodeLost(_ node: NodeID) { extra[node] = nil }

    private mutating func add(_ more: Int, to node: NodeID) {
        let sum = (extra[node] ?? 0) + more
        extra[node] = sum == 0 ? nil : sum
    }
}
