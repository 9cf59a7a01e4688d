import SkyCore
import Transport

/// A node of the simulation: its lease book, and what really runs on it.
struct SimulatedNode {
    let id: NodeID
    let slots: Int
    var book: LeaseBook
    /// Attempts that run, or were stopped and have not ended yet, with the link they arrived by.
    var attempts: [AttemptID: SimulatedLink] = [:]
    /// When the book is next looked at for expired leases.
    var expiryCheck: Duration?

    init(id: NodeID, slots: Int) {
        self.id = id
        self.slots = slots
        book = LeaseBook(slots: slots, duration: SimulatedCluster.leaseDuration)
    }

    /// What is wrong with the node now, if anything.
    var violation: String? {
        if attempts.count > slots { return "node \(id) runs \(attempts.count) on \(slots) slots" }
        if book.running != attempts.count { return "node \(id) books \(book.running), runs \(attempts.count)" }
        return nil
    }
}

/// One connection of a coordinator with a node. When it breaks, what is under way on it is lost; a new one has a new number.
struct SimulatedLink: Hashable {
    var coordinator: NodeID
    var node: NodeID
    var number: Int
}
