import Crypto
import Glibc

/// What a file held when it was looked at: enough to notice that it has changed, or is another one on another machine.
public struct FileContent: Hashable, Codable, Sendable {
    /// SHA-256 of all its bytes.
    public var digest: [UInt8]
    /// In bytes.
    public var size: Int
    /// When it was last modified, in nanoseconds since 1970.
    public var modified: Int

    /// Reads the file through.
    ///
    /// - Throws: `SkyError` where it cannot be read.
    package init(of path: String) throws(SkyError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileContent.failure(path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileContent.failure(path) }
        (size, modified) = FileContent.stamp(status)
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
        var hash = SHA256()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { buffer.deallocate() }
        while true {
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            if count == 0 { break }
            if count < 0 {
                if errno == EINTR { continue }
                throw FileContent.failure(path)
            }
            hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
        digest = Array(hash.finalize())
    }

    /// The digest in hexadecimal.
    package var hexadecimal: String {
        digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Size and time of modification.
    static func stamp(_ status: stat) -> (size: Int, modified: Int) {
        (Int(status.st_size), status.st_mtim.tv_sec &* 1_000_000_000 &+ status.st_mtim.tv_nsec)
    }

    /// Whether a file with this size and time may be taken for the same without reading it.
    func resembles(_ status: stat) -> Bool { FileContent.stamp(status) == (size, modified) }

    private static func failure(_ path: String) -> SkyError {
        SkyError(.unavailable, "\(FITSSniff.quoted(path)): \(String(cString: strerror(errno)))")
    }
}
