import Crypto
import Glibc

/// What a file held when it was looked at: enough to notice that it has changed, or is another one on another machine.
public struct FileContent: Hashable, Codable, Sendable {
    /// SHA-256 of all its bytes, or of some.
    public var digest: [UInt8]
    /// In bytes.
    public var size: Int
    /// When it was last modified, in nanoseconds since 1970.
    public var modified: Int
    /// Whether only its beginning, its end and some blocks in between were digested; `nil` as `false`.
    public var isSample: Bool?

    /// Blocks of a sample, and the bytes of each: the headers and something of every image.
    private static let sampleBlocks = 16
    private static let blockSize = 64 << 10

    /// Reads the file through, or some blocks of it, which takes no time.
    ///
    /// - Throws: `SkyError` where it cannot be read.
    package init(of path: String, sampled: Bool = false) throws(SkyError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileContent.failure(path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileContent.failure(path) }
        (size, modified) = FileContent.stamp(status)
        isSample = sampled ? true : nil
        var hash = SHA256()
        guard !sampled else {
            digest = try FileContent.sample(descriptor, size: size, of: path, &hash)
            return
        }
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
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

    private static func sample(
        _ descriptor: Int32, size: Int, of path: String, _ hash: inout SHA256
    ) throws(SkyError) -> [UInt8] {
        hash.update(data: Array("sample of \(size) bytes\n".utf8))
        var block = [UInt8](repeating: 0, count: blockSize)
        // The last one ends with the file.
        let last = max(0, size - blockSize)
        for index in 0..<sampleBlocks {
            let count = pread(descriptor, &block, blockSize, last * index / (sampleBlocks - 1))
            guard count >= 0 else { throw failure(path) }
            hash.update(data: block[..<count])
        }
        return Array(hash.finalize())
    }

    /// SHA-256 of the whole file in hexadecimal; `nil` where only a sample is known.
    package var hexadecimal: String? {
        isSample == true ? nil : digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
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
