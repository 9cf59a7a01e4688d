/// How much a journal holds, and how much it may hold.
struct JournalRoom: Hashable, Sendable {
    /// Bytes of what is kept, and of the write-ahead log beside it.
    var held: Int
    /// How many bytes it may hold.
    var limit: Int
    /// Whether the limit comes from the disk, and not from the operator.
    var isOfDisk = false

    var isFull: Bool { held > limit }

    /// - Parameters:
    ///   - limit: the limit that the operator set.
    ///   - disk: the size of the disk, and what it has left for this user; `nil` if that is not known.
    init(held: Int, limit: Int, disk: (size: Int, available: Int)?) {
        (self.held, self.limit) = (held, limit)
        guard let disk else { return }
        let most = max(0, held + disk.available - JournalRoom.reserve(ofDisk: disk.size))
        guard most < limit else { return }
        (self.limit, isOfDisk) = (most, true)
    }

    init(held: Int, limit: Int) { self.init(held: held, limit: limit, disk: nil) }

    /// How many bytes of the disk are left free: a twentieth of a small disk. On other disks, it is what a deletion of many
    /// results and one transaction under way need.
    static func reserve(ofDisk size: Int) -> Int { min(64 << 20, size / 20) }

    /// Whether the disk of a file or folder has little more left than what is kept free.
    static func isShort(at path: String) -> Bool {
        guard let disk = DiskSpace(of: path) else { return false }
        return disk.available < 2 * reserve(ofDisk: disk.size)
    }

    /// Why nothing more may be stored, as text for a person.
    var reason: String {
        isOfDisk
            ? "there is no room on the disk of the journal but for what is kept free to delete jobs with; delete jobs or make room"
            : "the journal holds \(held >> 20) MiB and may hold \(limit >> 20) MiB (--data-limit); delete jobs or raise it"
    }
}
