/// What one node has delivered: which of its results have arrived, and which may be forgotten there because they are stored.
struct Delivery {
    /// The sequence number up to which results have arrived.
    private(set) var received: UInt64 = 0
    /// The sequence number up to which what followed from them is stored.
    private(set) var acknowledged: UInt64 = 0
    /// The sequence number up to which the node knows that.
    private(set) var said: UInt64 = 0
    /// Arrived and not stored: the journal's entry that has to be, and the sequence number.
    private var pending: [(entry: UInt64, sequence: UInt64)] = []
    /// Bytes stored since the node was last told.
    var unsaid = 0

    /// Nothing of what has arrived is kept at the node any more.
    var isSettled: Bool { received == said }

    /// The node has heard an acknowledgement.
    mutating func heard(_ sequence: UInt64) { said = max(said, min(sequence, acknowledged)) }

    /// Whether a result is new here.
    mutating func receive(_ sequence: UInt64) -> Bool {
        guard sequence > received else { return false }
        received = sequence
        return true
    }

    /// All that has arrived rests on this entry, or on none after it.
    mutating func rests(on entry: UInt64) {
        if pending.last?.entry == entry {
            pending[pending.count - 1].sequence = received
        } else {
            pending.append((entry, received))
        }
    }

    mutating func stored(_ entry: UInt64) {
        guard let count = pending.firstIndex(where: { $0.entry > entry }) ?? (pending.isEmpty ? nil : pending.count),
            count > 0
        else { return }
        acknowledged = pending[count - 1].sequence
        pending.removeFirst(count)
    }
}
