import Glibc
import NIOConcurrencyHelpers

/// Room on the journal's disk that is taken beforehand and given back when the disk is full: to delete something, SQLite has
/// to write first.
final class JournalBallast: Sendable {
    private let path: String
    private let isThere = NIOLockedValueBox(false)

    init(folder: String) { path = folder + "/reserve" }

    /// Bytes of it: what a deletion of many results needs, or a part of a small disk.
    static func size(ofDisk size: Int) -> Int { min(8 << 20, size / 16) }

    /// Takes the room, where the disk has far more than that. Without it a deletion on a full disk may fail, and nothing else.
    func take() {
        // Asked for with every transaction.
        guard !isThere.withLockedValue({ $0 }), let disk = DiskSpace(of: path) else { return }
        let size = JournalBallast.size(ofDisk: disk.size)
        isThere.withLockedValue { isThere in
            guard !isThere, size > 0, disk.available > 3 * size else { return }
            let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { return }
            defer { close(descriptor) }
            guard posix_fallocate(descriptor, 0, off_t(size)) == 0 else {
                unlink(path)
                return
            }
            isThere = true
        }
    }

    /// Gives it back.
    ///
    /// - Returns: whether there was any.
    func release() -> Bool {
        isThere.withLockedValue { isThere in
            isThere = false
            return unlink(path) == 0
        }
    }
}
