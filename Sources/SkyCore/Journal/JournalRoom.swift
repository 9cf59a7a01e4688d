/// What a journal holds, and how much it may.
struct JournalRoom: Hashable, Sendable {
    /// Bytes of what is kept, and of the file beside it that it was written to first.
    var held: Int
    /// Bytes that it may hold.
    var limit: Int
    /// Whether it is the disk that sets the limit, and not the operator.
    var isOfDisk = false

    var isFull: Bool { held > limit }

    /// - Parameters:
    ///   - limit: the operator's.
    ///   - disk: what the disk has left, in all and for this user; `nil` where that is not known.
    init(held: Int, limit: Int, disk: (size: Int, available: Int)?) {
        (self.held, self.limit) = (held, limit)
        guard let disk else { return }
        let most = max(0, held + disk.available - JournalRoom.reserve(ofDisk: disk.size))
        guard most < limit else { return }
        (self.limit, isOfDisk) = (most, true)
    }

    init(held: Int, limit: Int) { self.init(held: held, limit: limit, disk: nil) }

    /// Bytes of the disk that are left free: a twentieth of a small one, of others what a deletion of many results and one
    /// transaction under way need.
    static func reserve(ofDisk size: Int) -> Int { min(64 << 20, size / 20) }

    /// Why nothing more may be stored.
    var reason: String {
        isOfDisk
            ? "there is no room on the disk of the journal but for what is kept free to delete jobs with; delete jobs or make room"
            : "the journal holds \(held >> 20) MiB and may hold \(limit >> 20) MiB (--data-limit); delete jobs or raise it"
    }
}
