/// What a batch of a replicated journal carries. The protocol of the copies does not look into it.
protocol LogContent: Sendable {
    /// Stands for the content in the hash of its batch.
    var digest: UInt64 { get }
    /// About how many bytes it takes.
    var byteCount: Int { get }
    /// Whether it only stands for a content, so that its batch can be sent to nobody.
    var isMark: Bool { get }
    /// Whether it waits where there is little room. What is small, deletions above all, does not: deletions make room.
    var needsRoom: Bool { get }
    /// Whether something in it makes room, as a deletion does.
    var makesRoom: Bool { get }
}

extension LogContent {
    var needsRoom: Bool { byteCount > 16 << 10 }
}

/// Entries that are stored together, with their place in the journal.
struct LogBatch<Content: LogContent>: Sendable {
    /// The position before this batch.
    var previous: LogPosition
    /// The position after this batch.
    var position: LogPosition
    var content: Content?
    /// The members from this batch on; `nil` if they stay as they are.
    var set: ReplicaSet?

    /// The batch after `previous`.
    init(after previous: LogPosition, term: UInt64, content: Content?, set: ReplicaSet? = nil) {
        self.previous = previous
        (self.content, self.set) = (content, set)
        position = previous.next(in: term, digest: LogBatch.digest(content, set))
    }

    /// Whether the position is that of this content after that previous position.
    var isWhole: Bool {
        position == previous.next(in: position.term, digest: LogBatch.digest(content, set))
    }

    var byteCount: Int { 128 + (content?.byteCount ?? 0) }

    private static func digest(_ content: Content?, _ set: ReplicaSet?) -> UInt64 {
        var digest = content?.digest ?? 0
        guard let set else { return digest }
        for member in set.members + set.former { digest = digest &* 31 &+ member.rawValue }
        return digest &* 31 &+ UInt64(set.members.count)
    }
}

extension LogBatch: Codable where Content: Codable {}
