import SkyCore

/// Slots on the command line.
enum SlotsArgument {
    static func check(_ slots: Int) throws -> Int {
        guard (1...NodeSettings.slotLimit).contains(slots) else {
            throw CommandFailure(.usage, "--slots \(slots): a node has 1 to \(NodeSettings.slotLimit) slots")
        }
        return slots
    }
}
