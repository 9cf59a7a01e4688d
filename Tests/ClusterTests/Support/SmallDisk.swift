import Foundation
import Glibc

/// A file system of a few megabytes, in memory.
final class SmallDisk: Sendable {
    let path: String
    private let folder: ScratchFolder

    convenience init(megabytes: Int) throws { try self.init(kilobytes: megabytes << 10) }

    init(kilobytes: Int) throws {
        folder = try ScratchFolder()
        path = folder.path
        guard mount("none", path, "tmpfs", 0, "size=\(kilobytes)k") == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    deinit { umount2(path, Int32(MNT_DETACH)) }

    /// Fills the disk so that hardly anything is left, or so many megabytes. It never leaves less on the way there, or those who
    /// write at the same time would find no room at all.
    func fill(leaving megabytes: Int = 0) throws {
        let file = open(path + "/filler", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        defer { close(file) }
        let block = [UInt8](repeating: 1, count: 64 * 1024)
        while free > megabytes << 20 || megabytes == 0, write(file, block, block.count) > 0 {}
    }

    /// The free room, in bytes.
    private var free: Int {
        var room = statvfs()
        return statvfs(path, &room) == 0 ? Int(room.f_bavail) * Int(room.f_frsize) : 0
    }

    func empty() { unlink(path + "/filler") }
}
