import Base
package import Transport

/// What one replica asks of another, checked where it arrives: behind this, nothing that is reckoned with it can overflow.
extension ReplicaCall: ValidatedMessage {
    package func validate() throws(InvalidMessage) {
        switch request {
        case .append(let request):
            try ReplicaLimits.check(request.term)
            for position in [request.previous, request.head] { try ReplicaLimits.check(position) }
            try ReplicaLimits.check(request.batches)
            try InvalidMessage.unless(request.acked.count <= ReplicaLimits.followers, "a primary has some followers")
        case .snapshot(let request):
            try ReplicaLimits.check(request.term)
            try InvalidMessage.unless(request.number < ReplicaLimits.number, "a part has a number below 2^62")
            switch request.part {
            case .page: break
            case .batches(let batches): try ReplicaLimits.check(batches)
            case .end(let position, let set, _):
                try ReplicaLimits.check(position)
                try ReplicaLimits.check(set)
            }
        case .promise(let request):
            try ReplicaLimits.check(request.term)
            try ReplicaLimits.check(request.position)
        case .takeOver(let request):
            try ReplicaLimits.check(request.term)
            try ReplicaLimits.check(request.position)
        }
    }
}

extension ReplicaReply: ValidatedMessage {
    package func validate() throws(InvalidMessage) {
        try ReplicaLimits.check(promised)
        if let position { try ReplicaLimits.check(position) }
        if let reason {
            try InvalidMessage.unless(reason.utf8.count <= 4 * PrintableText.limit, "a reason is one line")
        }
    }
}

/// What numbers in messages about copies may be.
private enum ReplicaLimits {
    /// Terms fit into the upper half of a generation.
    static let term: UInt64 = 1 << 30
    static let number: UInt64 = 1 << 62
    /// Those that are members, that were, and that are to be.
    static let followers = 4 * ReplicaSet.limit

    static func check(_ term: UInt64) throws(InvalidMessage) {
        try InvalidMessage.unless(term < ReplicaLimits.term, "a term is below 2^30")
    }

    static func check(_ position: LogPosition) throws(InvalidMessage) {
        try check(position.term)
        try InvalidMessage.unless(position.number < number, "a batch has a number below 2^62")
    }

    static func check(_ set: ReplicaSet) throws(InvalidMessage) {
        try InvalidMessage.unless(
            set.members.count <= ReplicaSet.limit && set.former.count <= ReplicaSet.limit,
            "a journal has \(ReplicaSet.limit) members at most")
    }

    static func check(_ batches: [LogBatch<CopiedRows>]) throws(InvalidMessage) {
        for batch in batches {
            try check(batch.previous)
            try check(batch.position)
            if let set = batch.set { try check(set) }
        }
    }
}
