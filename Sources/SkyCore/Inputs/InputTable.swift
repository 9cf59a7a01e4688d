import Base
import Transport

/// Decides which files persons may send to a node, and which of those that are here are removed, as a value.
///
/// A file is known by the digest of all its bytes, so a name that somebody chooses never becomes a path.
struct InputTable {
    /// The digest of a file.
    typealias Digest = [UInt8]

    /// How many bytes there may be.
    struct Room: Equatable {
        /// All files of the node together, and those that are still coming.
        var node: Int
        /// Those of one person.
        var person: Int
    }

    /// A file that is being sent, by whom.
    struct Upload: Hashable {
        var owner: String
        var digest: Digest
    }

    struct Progress {
        var size: Int
        /// The byte that is wanted next.
        var next = 0
        var touched: Duration
    }

    struct Stored: Equatable {
        var size: Int
        /// Who sent it; empty for somebody before the node was started.
        var owner: String
        /// When it was last sent, asked for, or needed by a job.
        var used: Duration
    }

    /// The files for which a command is about to submit jobs.
    private struct Hold {
        var files: Set<Digest>
        var end: Duration
    }

    private(set) var stored: [Digest: Stored] = [:]
    private(set) var uploads: [Upload: Progress] = [:]
    /// By the commands. `nil` is this node itself.
    private var holds: [NodeID?: Hold] = [:]

    /// How many files may come at the same time, and how many of one person.
    static let (uploadLimit, uploadLimitOfPerson) = (16, 4)
    /// An upload ends if nothing comes for so long.
    static let patience = Duration.seconds(600)
    /// A command that has not said for so long that it holds files is gone or frozen, and so is one that sends nothing.
    static let holdTime = Duration.seconds(60)
    /// A file is kept for so long after its last use.
    static let keepingTime = Duration.seconds(86_400)

    /// A file that was there when the node was started.
    mutating func found(_ digest: Digest, size: Int, used: Duration) {
        stored[digest] = Stored(size: size, owner: "", used: used)
    }

    /// Whether the file is here or on its way, so that it needs no room any more.
    func knows(_ upload: Upload) -> Bool { stored[upload.digest] != nil || uploads[upload] != nil }

    /// Whether the file is here or on its way from anybody.
    func knows(_ digest: Digest) -> Bool { stored[digest] != nil || uploads.keys.contains { $0.digest == digest } }

    /// What follows a part or a question about a file.
    enum Answer: Equatable {
        /// It is here.
        case whole
        /// Its bytes are wanted from here on. The files that had to go for its room are removed first.
        case wanted(from: Int, removing: [Digest])
    }

    /// - Parameters:
    ///   - together: the size of all files that its job needs at the same time; `nil` for this one alone.
    ///   - room: how many bytes there may be. A file that is in nobody's way stays.
    ///   - needed: the files that jobs need that have not ended. Those that are held stay, too.
    /// - Throws: `SkyError` where this person cannot send it, `PassingRefusal` where that may change by itself.
    mutating func handle(
        _ upload: Upload, size: Int, together: Int? = nil, in room: Room, needed: Set<Digest>, at now: Duration
    ) throws -> Answer {
        if stored[upload.digest] != nil {
            stored[upload.digest]?.used = now
            uploads[upload] = nil
            return .whole
        }
        if let progress = uploads[upload] {
            guard progress.size == size else { throw SkyError(.badInput, "a file has one size") }
            uploads[upload]?.touched = now
            return .wanted(from: progress.next, removing: [])
        }
        guard uploads.count < Self.uploadLimit,
            uploads.keys.count(where: { $0.owner == upload.owner }) < Self.uploadLimitOfPerson
        else { throw PassingRefusal(.jobs, "other files are being sent to it; more are taken when they are there") }
        let own = bytes { $0 == upload.owner }
        let all = max(size, together ?? size)
        guard all <= room.person else {
            let words = all > size ? "it and the other files of its job have" : "it has"
            throw SkyError(
                .failed, "\(words) \(Self.words(all)), and \(Self.words(room.person)) of one person may be there")
        }
        let needed = needed.union(filesOnHold(at: now))
        // Own files go first, so that nobody drives others' out, and of these what was used longest ago.
        var removed: [Digest] = []
        func free(_ most: Int, held: Int, _ isTheirs: (String) -> Bool) -> Bool {
            var held = held
            let idle = stored.filter {
                isTheirs($0.value.owner) && !needed.contains($0.key) && !removed.contains($0.key)
            }
            for (digest, file) in idle.sorted(by: { $0.value.used < $1.value.used }) where held + size > most {
                removed.append(digest)
                held -= file.size
            }
            return held + size <= most
        }
        guard free(room.person, held: own, { $0 == upload.owner }) else {
            throw PassingRefusal(
                .jobs,
                "jobs of this person need \(Self.words(own)) of files there, and \(Self.words(room.person)) may be there; "
                    + "more are taken when some have ended")
        }
        let freed = removed.reduce(0) { $0 + (stored[$1]?.size ?? 0) }
        guard free(room.node, held: bytes { _ in true } - freed, { _ in true }) else {
            throw PassingRefusal(
                .jobs,
                "jobs need what there is room for there, \(Self.words(room.node)) of files; more are taken when some have ended"
            )
        }
        for digest in removed { stored[digest] = nil }
        uploads[upload] = Progress(size: size, touched: now)
        return .wanted(from: 0, removing: removed)
    }

    /// So many bytes of a file have come.
    ///
    /// - Returns: whether it is whole.
    mutating func received(_ count: Int, of upload: Upload, at now: Duration) -> Bool {
        guard var progress = uploads[upload] else { return false }
        progress.next += min(count, progress.size - progress.next)
        progress.touched = now
        uploads[upload] = progress
        return progress.next == progress.size
    }

    /// A whole file has its name.
    mutating func complete(_ upload: Upload, at now: Duration) {
        guard let progress = uploads.removeValue(forKey: upload) else { return }
        stored[upload.digest] = Stored(size: progress.size, owner: upload.owner, used: now)
    }

    // MARK: - Files that are held

    /// A command is about to submit jobs that need these files, and no others that it has named before.
    mutating func hold(_ files: Set<Digest>, by holder: NodeID?, at now: Duration) {
        holds = holds.filter { $0.value.end > now }
        holds[holder] = files.isEmpty ? nil : Hold(files: files, end: now + Self.holdTime)
    }

    /// The files that are held.
    func filesOnHold(at now: Duration) -> Set<Digest> {
        holds.values.reduce(into: []) { if $1.end > now { $0.formUnion($1.files) } }
    }

    /// Gives up uploads whose senders are gone, so that they take no room any more.
    mutating func endIdle(at now: Duration) -> [Upload] {
        let held = filesOnHold(at: now)
        let ended = uploads.filter { now - $0.value.touched >= Self.holdTime && !held.contains($0.key.digest) }.map(
            \.key)
        for upload in ended { uploads[upload] = nil }
        return ended
    }

    /// Somebody has removed a file.
    mutating func lost(_ digest: Digest) { stored[digest] = nil }

    mutating func abandon(_ upload: Upload) { uploads[upload] = nil }

    /// Removes what nobody has used for long.
    mutating func sweep(needed: Set<Digest>, at now: Duration) -> (files: [Digest], uploads: [Upload]) {
        for digest in needed.union(filesOnHold(at: now)) { stored[digest]?.used = now }
        let files = stored.filter { now - $0.value.used >= Self.keepingTime }.map(\.key)
        for digest in files { stored[digest] = nil }
        let ended = uploads.filter { now - $0.value.touched >= Self.patience }.map(\.key)
        for upload in ended { uploads[upload] = nil }
        return (files, ended)
    }

    /// The bytes of files that are here or will be, of some persons.
    private func bytes(_ isTheirs: (String) -> Bool) -> Int {
        stored.values.reduce(0) { $0 + (isTheirs($1.owner) ? $1.size : 0) }
            + uploads.reduce(0) { $0 + (isTheirs($1.key.owner) ? $1.value.size : 0) }
    }

    /// The bytes of all files that are here.
    var held: Int { stored.values.reduce(0) { $0 + $1.size } }

    private static func words(_ bytes: Int) -> String {
        bytes < 10 << 20 ? "\(bytes >> 10) KiB" : "\(bytes >> 20) MiB"
    }
}
