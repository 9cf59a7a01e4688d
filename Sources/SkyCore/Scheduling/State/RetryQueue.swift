import DequeModule
import Transport

/// A task's place in a queue. The entry counts only while the task still has the same ticket.
struct RetryEntry {
    var task: Int
    var ticket: UInt32
}

/// The tasks of one job that are ready to be tried again. There is one line for each kind of `RetryPlacement`.
///
/// The search for a free slot looks at kinds, not at tasks, so its cost does not grow with the number of tasks that wait.
struct RetryQueue {
    private struct Line {
        let placement: RetryPlacement
        var entries: Deque<RetryEntry> = []
        var choice: RetryPlacement.Choice
        /// The roster's version that `choice` was made for.
        var version: Int
    }

    private var lines: [Line] = []
    private var position: [RetryPlacement: Int] = [:]
    /// Where the next search begins, so that no line is passed over for ever.
    private var cursor = 0

    mutating func append(_ entry: RetryEntry, _ placement: RetryPlacement, roster: Roster) {
        if let index = position[placement] {
            lines[index].entries.append(entry)
        } else {
            position[placement] = lines.count
            let choice = placement.choice(in: roster)
            lines.append(Line(placement: placement, entries: [entry], choice: choice, version: roster.version))
        }
    }

    /// Takes the first task that may go to `node`, looking at no more than `limit` lines.
    ///
    /// - Parameter isCurrent: whether an entry still counts; the others are dropped.
    /// - Returns: the task's entry, and whether the search ended at the limit with lines unseen.
    mutating func pop(
        for node: NodeID, roster: Roster, limit: Int, isCurrent: (RetryEntry) -> Bool
    ) -> (entry: RetryEntry?, isCutShort: Bool) {
        let total = lines.count
        for _ in 0..<min(limit, total) {
            if cursor >= lines.count { cursor = 0 }
            guard cursor < lines.count else { break }
            refreshChoice(at: cursor, roster: roster)
            guard lines[cursor].placement.allows(node, choice: lines[cursor].choice, local: roster.local) else {
                cursor += 1
                continue
            }
            let found = popCurrent(at: cursor, isCurrent: isCurrent)
            if lines[cursor].entries.isEmpty { removeLine(at: cursor) } else { cursor += 1 }
            if let found { return (found, false) }
        }
        return (nil, total > limit)
    }

    /// Takes every task that no live node may take.
    mutating func popStranded(roster: Roster, isCurrent: (RetryEntry) -> Bool) -> [RetryEntry] {
        var stranded: [RetryEntry] = []
        for index in lines.indices.reversed() {
            refreshChoice(at: index, roster: roster)
            guard lines[index].choice == .none else { continue }
            stranded += lines[index].entries.filter(isCurrent)
            removeLine(at: index)
        }
        return stranded
    }

    /// The nodes that can reach the input of none of the tasks.
    var outOfReach: Set<NodeID> {
        guard let first = lines.first else { return [] }
        return lines.dropFirst().reduce(into: Set(first.placement.never)) { $0.formIntersection($1.placement.never) }
    }

    private mutating func popCurrent(at index: Int, isCurrent: (RetryEntry) -> Bool) -> RetryEntry? {
        while let entry = lines[index].entries.popFirst() {
            if isCurrent(entry) { return entry }
        }
        return nil
    }

    private mutating func refreshChoice(at index: Int, roster: Roster) {
        guard lines[index].version != roster.version else { return }
        lines[index].choice = lines[index].placement.choice(in: roster)
        lines[index].version = roster.version
    }

    private mutating func removeLine(at index: Int) {
        position[lines[index].placement] = nil
        let last = lines.removeLast()
        guard index < lines.count else { return }
        lines[index] = last
        position[last.placement] = index
    }
}
