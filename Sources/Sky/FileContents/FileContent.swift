import Base
import Cryptography
import Glibc

/// What a file held when it was first read: enough to notice that it has changed, or that another machine has another file.
public struct FileContent: Hashable, Codable, Sendable {
    /// SHA-256 of all bytes of the file, or of a sample of them.
    public var digest: [UInt8]
    /// The size in bytes.
    public var size: Int
    /// When it was last modified, in nanoseconds since 1970.
    public var modified: Int
    /// Whether only its beginning, its end and some blocks in between were digested; `nil` as `false`.
    public var isSample: Bool?
    /// Which file it was on the machine that read it; `nil` if an earlier version of the program read it.
    public var identity: FileIdentity?

    /// The number of blocks of a sample. They cover the headers and a part of every image.
    private static let sampleBlocks = 16
    private static let blockSize = 64 << 10

    package init(digest: [UInt8], size: Int, modified: Int, isSample: Bool? = nil, identity: FileIdentity? = nil) {
        (self.digest, self.size, self.modified) = (digest, size, modified)
        (self.isSample, self.identity) = (isSample, identity)
    }

    /// Reads the whole file, or only some blocks of it, which takes almost no time. It reads no more bytes than the file had at
    /// the beginning.
    ///
    /// - Parameters:
    ///   - limit: How long it may take; `nil` if the caller has a time limit of its own.
    ///   - isCancelled: Whether nobody needs the result any more. It is asked again and again.
    /// - Throws: `SkyError` of kind `unavailable` if the file cannot be read, or if it is not needed any more; of kind `badInput` if
    ///   it changes meanwhile.
    package init(
        of path: String, sampled: Bool = false, within limit: Duration? = nil,
        unless isCancelled: () -> Bool = { false }
    ) throws(SkyError) {
        let file = try RegularFile(path)
        let stamp = try file.stamp()
        var hash = SHA256()
        if sampled {
            try FileContent.sample(file, size: stamp.size, &hash)
        } else {
            let end = limit.map { ContinuousClock.now + $0 }
            try FileContent.digest(file, size: stamp.size, before: end, unless: isCancelled, of: path, &hash)
        }
        // The file is opened anew, as the next reader will do.
        guard try FileStamp(of: path) == stamp else { throw FileContent.changed(path) }
        self.init(
            digest: hash.finalize(), size: stamp.size, modified: stamp.modified, isSample: sampled ? true : nil,
            identity: stamp.identity)
    }

    private static func digest(
        _ file: borrowing RegularFile, size: Int, before end: ContinuousClock.Instant?, unless isCancelled: () -> Bool,
        of path: String, _ hash: inout SHA256
    ) throws(SkyError) {
        posix_fadvise(file.descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { buffer.deallocate() }
        var left = size
        while left > 0 {
            if let end, ContinuousClock.now >= end {
                throw SkyError(.unavailable, "\(FITSSniff.quoted(path)): it takes too long to read")
            }
            if isCancelled() { throw SkyError(.unavailable, "\(FITSSniff.quoted(path)): it is not needed any more") }
            let count = read(file.descriptor, buffer.baseAddress, min(buffer.count, left))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw file.failure() }
            // The file is shorter than it was a moment ago.
            guard count > 0 else { throw changed(path) }
            hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            left -= count
        }
    }

    private static func sample(
        _ file: borrowing RegularFile, size: Int, _ hash: inout SHA256
    ) throws(SkyError) {
        hash.update(Array("sample of \(size) bytes\n".utf8))
        var block = [UInt8](repeating: 0, count: blockSize)
        // The last block ends with the file.
        let last = max(0, size - blockSize)
        for index in 0..<sampleBlocks {
            let (numerator, isLarge) = last.multipliedReportingOverflow(by: index)
            let offset = isLarge ? last / (sampleBlocks - 1) * index : numerator / (sampleBlocks - 1)
            let count = pread(file.descriptor, &block, blockSize, offset)
            guard count >= 0 else { throw file.failure() }
            hash.update(block[..<count])
        }
    }

    /// SHA-256 of the whole file in hexadecimal; `nil` where only a sample is known.
    package var hexadecimal: String? {
        isSample == true ? nil : HexText.of(digest)
    }

    /// Whether both values are of one file that nobody touched in between, as far as size, time and identity tell.
    package func isOfSameFile(as other: FileContent) -> Bool {
        guard (size, modified) == (other.size, other.modified) else { return false }
        guard let identity, let theirs = other.identity, identity.place == theirs.place else { return true }
        return identity == theirs
    }

    /// The same, as it is in another file.
    func held(by stamp: FileStamp) -> FileContent {
        FileContent(
            digest: digest, size: stamp.size, modified: stamp.modified, isSample: isSample, identity: stamp.identity)
    }

    /// What is wrong with a value that a peer sent; `nil` if nothing is.
    package var objection: String? {
        if digest.count != SHA256.length { return "a digest has \(SHA256.length) bytes" }
        if size < 0 { return "a file has no negative size" }
        return nil
    }

    /// The error for a file that changed. It is the user's to repair: a catalogue of two images in one is worse than none.
    package static func changed(_ path: String) -> SkyError {
        SkyError(
            .badInput,
            "\(FITSSniff.quoted(path)): \(changedWords); scan it again when nobody writes to it any more")
    }

    private static let changedWords = "it changed while it was scanned"

    /// Whether a task failed because its file changed. A job recognises that by these words, which nodes of earlier versions do
    /// not use.
    static func saysChanged(_ reason: String) -> Bool { reason.contains(changedWords) }
}

extension FileContent {
    package func validate() throws(SkyError) {
        if let objection { throw SkyError(.badInput, objection) }
    }
}
