import Base
import Glibc

/// Which file it was, and when it last changed in any way. It tells a file that was rewritten and got its old time back from a
/// file that nobody touched.
public struct FileIdentity: Hashable, Codable, Sendable {
    /// The place where the numbers below have a meaning: one boot of one machine, and one view of its mounts.
    package var place: UInt64
    package var device: UInt64
    package var inode: UInt64
    /// When the content, name or rights of the file changed, in nanoseconds since 1970 (`st_ctim`). No program can set it.
    package var changed: Int

    /// The place of this process. The workers of a node share it with their daemon; two containers on one kernel do not share
    /// it.
    package static let here: UInt64 = {
        var status = stat()
        guard let start = text(of: "/proc/sys/kernel/random/boot_id"), stat("/proc/self/ns/mnt", &status) == 0 else {
            // The place equals no other one, so that only what a file holds counts.
            return UInt64.random(in: 1 ... .max)
        }
        return StableHash.of("\(start) \(status.st_dev) \(status.st_ino)")
    }()

    private static func text(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}

/// What the operating system knows of a file without reading it.
package struct FileStamp: Hashable {
    package var size: Int
    /// The time of the last change of the content, in nanoseconds since 1970.
    package var modified: Int
    package var identity: FileIdentity

    init(_ status: stat) {
        size = Int(status.st_size)
        modified = FileStamp.nanoseconds(status.st_mtim)
        identity = FileIdentity(
            place: FileIdentity.here, device: UInt64(truncatingIfNeeded: status.st_dev),
            inode: UInt64(truncatingIfNeeded: status.st_ino), changed: FileStamp.nanoseconds(status.st_ctim))
    }

    /// Opens the file anew, because NFS asks the server at every `open` but lets `stat` answer from memory for up to a minute
    /// (close-to-open consistency, nfs(5)).
    ///
    /// - Throws: `SkyError` of kind `unavailable` if it cannot be opened or is no regular file.
    package init(of path: String) throws(SkyError) {
        self = try RegularFile(path).stamp()
    }

    /// Whether size and time are the same as those of `content`.
    package func resembles(_ content: FileContent) -> Bool { (size, modified) == (content.size, content.modified) }

    private static func nanoseconds(_ time: timespec) -> Int {
        time.tv_sec &* 1_000_000_000 &+ time.tv_nsec
    }
}

/// A regular file that is open for reading. Nothing else may be opened, because a FIFO would block and a device has no end.
package struct RegularFile: ~Copyable {
    /// The descriptor for `read` and its like. It is closed at the end of this value.
    package let descriptor: Int32
    private let path: String

    /// Opens the file.
    ///
    /// - Throws: `SkyError` of kind `unavailable` if it cannot be opened or is no regular file.
    package init(_ path: String) throws(SkyError) {
        descriptor = try RegularFile.opened(path)
        self.path = path
    }

    private static func opened(_ path: String) throws(SkyError) -> Int32 {
        // Without O_NONBLOCK, the opening of a FIFO waits for a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw failure(path, errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw SkyError(.unavailable, "\(FITSSniff.quoted(path)): not a regular file")
        }
        return descriptor
    }

    deinit { close(descriptor) }

    /// What the operating system knows of the file now. Whoever reads the file compares the stamps before and after, to
    /// notice that another program wrote to it meanwhile.
    ///
    /// - Throws: `SkyError` of kind `unavailable` if the system does not tell.
    package func stamp() throws(SkyError) -> FileStamp {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure() }
        return FileStamp(status)
    }

    /// The error for the last call of the C library that failed, of kind `unavailable`.
    package func failure() -> SkyError { RegularFile.failure(path, errno) }

    private static func failure(_ path: String, _ code: Int32) -> SkyError {
        SkyError(.unavailable, "\(FITSSniff.quoted(path)): \(String(cString: strerror(code)))")
    }
}
