import Foundation
import Glibc

/// A file system of a few megabytes, in memory.
final class SmallDisk: Sendable {
    let path: String
    private let folder: ScratchFolder

    init(megabytes: Int) throws {
        folder = try ScratchFolder()
        path = folder.path
        guard mount("none", path, "tmpfs", 0, "size=\(megabytes)m") == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    deinit { umount2(path, Int32(MNT_DETACH)) }

    /// Leaves hardly anything, or so many megabytes.
    func fill(leaving megabytes: Int = 0) throws {
        let file = open(path + "/filler", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        defer {
            if megabytes > 0 { ftruncate(file, lseek(file, 0, SEEK_END) - off_t(megabytes << 20)) }
            close(file)
        }
        let block = [UInt8](repeating: 1, count: 64 * 1024)
        while write(file, block, block.count) > 0 {}
    }

    func empty() { unlink(path + "/filler") }
}
