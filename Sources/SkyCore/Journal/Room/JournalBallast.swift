import Glibc
import NIOConcurrencyHelpers

/// Room on the journal's disk that is taken in advance and given back when the disk is full. It is needed because SQLite
/// has to write before it can delete something.
final class JournalBallast: Sendable {
    private let path: String
    private let isThere = NIOLockedValueBox(false)

    static let name = "reserve"

    init(folder: String) { path = folder + "/" + JournalBallast.name }

    /// The size of the ballast in bytes: what a deletion of many results needs, or a part of a small disk. Half of it is for the usual
    /// write-ahead log.
    static func size(ofDisk size: Int) -> Int { min(16 << 20, size / 16) }

    var isReserved: Bool { isThere.withLockedValue { $0 } }

    /// Reserves the room if the disk has far more than that. Without the ballast, only a deletion on a full disk may fail.
    func reserve() {
        // This is called with every transaction, so it does nothing when the room is already taken.
        guard !isReserved, let disk = DiskSpace(of: path) else { return }
        let size = JournalBallast.size(ofDisk: disk.size)
        isThere.withLockedValue { isThere in
            guard !isThere, size > 0, disk.available > 3 * size else { return }
            guard isOwn else { return }
            let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
            guard descriptor >= 0 else { return }
            defer { close(descriptor) }
            guard posix_fallocate(descriptor, 0, off_t(size)) == 0 else {
                unlink(path)
                return
            }
            isThere = true
        }
    }

    /// Whether there is room for entries that make none. While the ballast is not there, as much is left on the disk: the entries would
    /// take what was given back for deletions.
    func leavesRoom(for bytes: Int) -> Bool {
        guard !isReserved, let disk = DiskSpace(of: path) else { return true }
        // They are in the write-ahead log and in the file.
        return disk.available >= JournalBallast.size(ofDisk: disk.size) + 2 * bytes
    }

    /// Gives the room back.
    ///
    /// - Returns: whether there was any ballast.
    func release() -> Bool {
        isThere.withLockedValue { isThere in
            isThere = false
            return isOwn && unlink(path) == 0
        }
    }

    /// Whether nothing of somebody else has the ballast's name: there is no file, or one that begins with zeros.
    private var isOwn: Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return errno == ENOENT }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        var start = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &start, start.count)
        return count >= 0 && start.prefix(count).allSatisfy { $0 == 0 }
    }
}
