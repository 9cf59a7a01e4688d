import Base

/// Decides whether a file still holds what it held when it was first read, as a value.
///
/// It distinguishes two cases. A file has changed: the job must end, because its earlier results are of another image. Or the
/// file never was the right one on this node: another node may have the right one.
package struct FileWatch {
    package enum Verdict: Equatable {
        /// The file holds what it should.
        case right
        /// The file was the right one here, and no longer is.
        case changed
        /// The file never was the right one here.
        case other
    }

    /// Who uses a file.
    package enum Use {
        case ownTask
        /// Another node, which gets nothing unless it knows what the file holds. The size and the time of a file are not
        /// secret.
        case others
    }

    private struct Right {
        var path: String
        var content: FileContent
        /// The file's stamp when the file was last seen to be right.
        var stamp: FileStamp
    }

    /// The files that were last seen to be right, the latest at the end.
    private var right: [Right] = []
    /// The digests of the files that were read completely.
    private var digests: [(path: String, stamp: FileStamp, digest: [UInt8]?)] = []

    /// A worker hardly uses more files than this at a time.
    private static let limit = 64

    /// - Parameters:
    ///   - content: What the file should hold.
    ///   - now: The file's stamp now.
    ///   - digest: Reads the file, or a sample of it. `nil` if the file changed meanwhile.
    package mutating func verdict(
        on content: FileContent, of path: String, looking now: FileStamp, for use: Use = .ownTask,
        digest: () throws(SkyError) -> FileContent?
    ) throws(SkyError) -> Verdict {
        let known = right.first { $0.path == path && $0.content == content }?.stamp
        if known == now { return .right }
        let isSample = content.isSample ?? false
        if content.identity == now.identity, now.resembles(content) { return note(content, path, now) }
        let wasHere = known != nil || content.identity?.place == now.identity.place
        // A file on a server has the same number on all machines, so this one was rewritten and got its old time back.
        let isRewritten =
            content.identity.map { $0.inode == now.identity.inode && $0.changed != now.identity.changed } ?? false
        if !wasHere, !isRewritten, now.resembles(content), use == .ownTask { return note(content, path, now) }
        // A sample does not prove that the whole file is as before, but it proves that the other node knows what the file
        // holds.
        let sampleCounts = use == .others && !wasHere && !isRewritten && now.resembles(content)
        if now.size == content.size, !isSample || sampleCounts {
            let found = try self.digest(path, now, isSample: isSample, digest)
            if found == content.digest { return note(content, path, now) }
        }
        return wasHere ? .changed : .other
    }

    /// Notes what a file was just seen to hold.
    mutating func saw(_ content: FileContent, of path: String, looking stamp: FileStamp) {
        _ = note(content, path, stamp)
        if content.isSample != true { keep(content.digest, path, stamp) }
    }

    private mutating func keep(_ digest: [UInt8]?, _ path: String, _ stamp: FileStamp) {
        digests.removeAll { $0.path == path }
        digests.append((path, stamp, digest))
        if digests.count > FileWatch.limit { digests.removeFirst() }
    }

    private mutating func note(_ content: FileContent, _ path: String, _ stamp: FileStamp) -> Verdict {
        right.removeAll { $0.path == path && $0.content == content }
        right.append(Right(path: path, content: content, stamp: stamp))
        if right.count > FileWatch.limit { right.removeFirst() }
        return .right
    }

    private mutating func digest(
        _ path: String, _ stamp: FileStamp, isSample: Bool, _ digest: () throws(SkyError) -> FileContent?
    ) throws(SkyError) -> [UInt8]? {
        // Samples are read so quickly that they need not be kept.
        if !isSample, let known = digests.first(where: { $0.path == path && $0.stamp == stamp }) { return known.digest }
        let found = try digest()
        let isOfStamp = found.map { $0.identity == stamp.identity && stamp.resembles($0) } ?? false
        guard isOfStamp else { return nil }
        if !isSample { keep(found?.digest, path, stamp) }
        return found?.digest
    }
}
