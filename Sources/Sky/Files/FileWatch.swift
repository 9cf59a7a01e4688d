import Base

/// Decides whether a file still holds what it did when it was looked at first, as a value.
///
/// Told apart are a file that has changed, with which a job must end because its earlier results are of another image, and a
/// file that never was the right one on this node, which another node may have.
package struct FileWatch {
    package enum Verdict: Equatable {
        /// It holds what it did.
        case right
        /// It was the right one here, and is not any more.
        case changed
        /// It never was the right one here.
        case other
    }

    /// Whom a file is for.
    package enum Use {
        case ownTask
        /// Another node, which gets nothing unless it knows what the file holds: its size and time are no secret.
        case others
    }

    private struct Right {
        var path: String
        var content: FileContent
        /// As it was when it was last seen to be right.
        var stamp: FileStamp
    }

    /// The last ones, the latest at the end.
    private var right: [Right] = []
    /// What files held that were read through.
    private var digests: [(path: String, stamp: FileStamp, digest: [UInt8]?)] = []

    /// As many as a worker may have to do with at a time.
    private static let limit = 64

    /// - Parameters:
    ///   - content: What the file is to hold.
    ///   - now: How the file looks now.
    ///   - digest: Reads the file through, or a sample of it. `nil` where it changed meanwhile.
    package mutating func verdict(
        on content: FileContent, of path: String, looking now: FileStamp, for use: Use = .ownTask,
        digest: () throws(SkyError) -> FileContent?
    ) throws(SkyError) -> Verdict {
        let known = right.first { $0.path == path && $0.content == content }?.stamp
        if known == now { return .right }
        let isSample = content.isSample ?? false
        if content.identity == now.identity, now.resembles(content) { return note(content, path, now) }
        let wasHere = known != nil || content.identity?.place == now.identity.place
        // One file of a server has one number on all machines: it was rewritten, and got its old time back.
        let isRewritten =
            content.identity.map { $0.inode == now.identity.inode && $0.changed != now.identity.changed } ?? false
        if !wasHere, !isRewritten, now.resembles(content), use == .ownTask { return note(content, path, now) }
        // A sample does not tell whether all of a file is as before; it tells whether somebody knows what it holds.
        let sampleCounts = use == .others && !wasHere && !isRewritten && now.resembles(content)
        if now.size == content.size, !isSample || sampleCounts {
            let found = try found(path, now, isSample: isSample, digest)
            if found == content.digest { return note(content, path, now) }
        }
        return wasHere ? .changed : .other
    }

    /// What a file was just seen to hold.
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

    private mutating func found(
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
