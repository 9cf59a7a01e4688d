/// Why a primary has ended.
enum ReplicaClosure: Hashable, Sendable {
    /// Another replica is the primary of a later term, or is about to be.
    case superseded(term: UInt64)
    /// A standby was asked to take over.
    case handedOver(to: ReplicaID)
    /// The disk holds an earlier state than others have seen: it was put back.
    case rolledBack
    /// Another replica knows that the coordinator has ended for good.
    case ended
    /// The primary keeps its copies elsewhere.
    case unneeded
}

/// What is to be stored durably, before anybody hears of it.
enum ReplicaWrite<Content: LogContent>: Sendable {
    case promise(UInt64, to: ReplicaID)
    /// Batches at the end of the copy, and the term as promised where it is higher than that on the disk.
    case append([LogBatch<Content>], promised: UInt64, to: ReplicaID)
    /// A part of a copy that is to replace this one. The first part, with the number 0, begins it anew.
    case part(SnapshotRequest<Content>)
    /// The new copy is whole, and replaces the old one.
    case finish(LogPosition, ReplicaSet)
    /// What is stored was put back from an earlier time. It does not count any more.
    case discard

    /// Whether it waits where there is little room. The batch that begins a term does not, nor what comes before it, so that a full
    /// node does not keep a coordinator from being taken over; nor do changes of the members.
    ///
    /// - Parameter hasCopy: whether there is a copy, whose room a whole new one gets.
    func needsRoom(hasCopy: Bool) -> Bool {
        switch self {
        case .append(let batches, let term, _):
            batches.first?.previous.term == term && batches.contains { $0.content?.needsRoom == true }
        case .part: !hasCopy
        case .promise, .finish, .discard: false
        }
    }

    /// Whether a full node stores it all the same, from the room that is kept for that: a deletion is stored after what came before it,
    /// which nobody could take back otherwise.
    var makesRoom: Bool {
        guard case .append(let batches, _, _) = self else { return false }
        return batches.contains { $0.content?.makesRoom == true }
    }
}
