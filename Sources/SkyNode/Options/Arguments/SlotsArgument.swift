import SkyCore

/// Slots on the command line.
enum SlotsArgument {
    /// A node without slots keeps copies and takes jobs, but runs no tasks. One inside a command is there to run some.
    static func check(_ slots: Int, isInCommand: Bool = false) throws -> Int {
        let range = (isInCommand ? 1 : 0)...NodeSettings.slotLimit
        guard range.contains(slots) else {
            let node = isInCommand ? "a node inside a command" : "a node"
            throw CommandFailure(
                .usage, "--slots \(slots): \(node) has \(range.lowerBound) to \(range.upperBound) slots")
        }
        return slots
    }
}
