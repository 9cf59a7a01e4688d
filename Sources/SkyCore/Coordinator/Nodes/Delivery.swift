/// The delivery of results by one node: which of them have arrived, and which the node may forget because they are stored.
struct Delivery {
    /// The sequence number up to which results have arrived.
    private(set) var received: UInt64 = 0
    /// The sequence number up to which the results, and what followed from them, are stored.
    private(set) var acknowledged: UInt64 = 0
    /// The sequence number up to which the node knows that they are stored.
    private(set) var confirmed: UInt64 = 0
    /// Results that have arrived and are not stored: the entry of the journal that has to be stored, and the sequence number.
    private var pending: [(entry: UInt64, sequence: UInt64)] = []
    /// Bytes that have arrived since the node was last sent an acknowledgement.
    var unconfirmedBytes = 0

    /// Whether the node keeps none of the results that have arrived.
    var isSettled: Bool { received == confirmed }

    /// The node has heard an acknowledgement.
    mutating func heard(_ sequence: UInt64) { confirmed = max(confirmed, min(sequence, acknowledged)) }

    /// Takes note of a result. Returns whether it is new here.
    mutating func receive(_ sequence: UInt64) -> Bool {
        guard sequence > received else { return false }
        received = sequence
        return true
    }

    /// All results that have arrived depend on this entry or an earlier one.
    mutating func depends(on entry: UInt64) {
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
