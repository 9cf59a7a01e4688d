import DequeModule

/// A bounded number of dials under way, and the addresses that wait for a place, as a value.
struct DialQueue {
    let limit: Int
    private var underWay = 0
    private var waiting = Deque<NodeAddress>()

    init(limit: Int) {
        self.limit = limit
    }

    /// Takes a place; `false` where there is none, and the address waits for one.
    mutating func take(_ address: NodeAddress) -> Bool {
        guard underWay < limit else {
            waiting.append(address)
            return false
        }
        underWay += 1
        return true
    }

    /// Gives back a place, because a dial has ended.
    mutating func release() {
        underWay -= 1
    }

    /// Removes the addresses that need no place any more.
    mutating func keep(_ isWaiting: (NodeAddress) -> Bool) {
        waiting.removeAll { !isWaiting($0) }
    }

    /// The address that has waited longest, where there is a place for it.
    mutating func next() -> NodeAddress? {
        underWay < limit ? waiting.popFirst() : nil
    }
}
