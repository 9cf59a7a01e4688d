/// How much a journal holds, and how much it may hold.
struct JournalRoom: Hashable, Sendable {
    /// Bytes of what is kept, and of the write-ahead log beside it.
    var held: Int
    /// How many bytes it may hold.
    var limit: Int
    var bound = Bound.operator

    /// Where the limit comes from.
    enum Bound: Hashable, Sendable {
        /// The operator has set it.
        case `operator`
        case disk
        /// The node keeps copies of other nodes' journals, too.
        case copies
        /// A node that keeps a copy has no more room. Where that is a wish, jobs that have ended are deleted for it, and none waits.
        case standby(String, isWish: Bool = false)
    }

    /// Whether nothing waits for the limit.
    var isWish: Bool { if case .standby(_, isWish: true) = bound { true } else { false } }

    var isOfDisk: Bool { bound == .disk }
    var isFull: Bool { held > limit }

    /// - Parameters:
    ///   - limit: the limit that the operator set, or the journal's share.
    ///   - bound: where the limit comes from.
    ///   - disk: the size of the disk, and what it has left for this user; `nil` if that is not known.
    init(held: Int, limit: Int, bound: Bound = .operator, disk: (size: Int, available: Int)? = nil) {
        (self.held, self.limit, self.bound) = (held, limit, bound)
        guard let disk else { return }
        let most = max(0, held + disk.available - JournalRoom.reserve(ofDisk: disk.size))
        guard most < limit else { return }
        (self.limit, self.bound) = (most, .disk)
    }

    /// How many bytes of the disk are left free: a twentieth of a small disk. On other disks, it is what a deletion of many
    /// results and one transaction under way need.
    static func reserve(ofDisk size: Int) -> Int { min(64 << 20, size / 20) }

    /// Whether the disk of a file or folder has little more left than what is kept free.
    static func isShort(at path: String) -> Bool {
        guard let disk = DiskSpace(of: path) else { return false }
        return disk.available < 2 * reserve(ofDisk: disk.size)
    }

    /// Two limits of a small journal that differ are not the same number of MiB.
    private static func size(_ bytes: Int) -> String { bytes < 10 << 20 ? "\(bytes >> 10) KiB" : "\(bytes >> 20) MiB" }

    /// Why nothing more may be stored, as text for a person.
    var reason: String {
        let (held, limit) = (JournalRoom.size(held), JournalRoom.size(limit))
        return switch bound {
        case .operator:
            "the journal holds \(held) and may hold \(limit) (--data-limit); delete jobs or raise it"
        case .disk:
            "there is no room on the disk of the journal but for what is kept free to delete jobs with; delete jobs or make room"
        case .copies:
            """
            the journal holds \(held) and may hold \(limit) beside the copies of other nodes' jobs (--data-limit); delete jobs \
            or raise it
            """
        case .standby(let node, _):
            """
            the journal holds \(held), and \(node), which keeps a copy, has room for \(limit) of it (--data-limit there, or \
            its disk); delete jobs or make room there
            """
        }
    }
}
