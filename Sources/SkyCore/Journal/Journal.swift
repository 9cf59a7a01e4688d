import GRDB
import NIOConcurrencyHelpers
import NIOCore
import Transport

/// How the cache of results has done since the journal was opened.
struct CacheCounts {
    var hits = 0
    var misses = 0
    var evictions = 0
    /// Those that were damaged when they were looked for.
    var damaged = 0
}

/// What a coordinator must not forget, in SQLite: its jobs, each result once, each failure, each end.
///
/// One writer, which stores many entries in one transaction, with a write-ahead log: what was stored survives the end of the
/// process at any point. Where the machine itself loses power, the last moments may be gone; their tasks are done again then.
package final class Journal: Sendable {
    /// Of this opening; every one is a new life.
    package let incarnation: CoordinatorIncarnation
    /// Whether the life before it ended in order.
    package let wasClosed: Bool
    /// By which results of earlier lives are known.
    let secret: [UInt8]
    /// How long all earlier lives ran together.
    let ranBefore: Duration
    let queue: DatabaseQueue
    /// What it may hold; new ones hold from the next entry on.
    var limits: JournalLimits {
        get { currentLimits.withLockedValue { $0 } }
        set { currentLimits.withLockedValue { $0 = newValue } }
    }
    private let currentLimits: NIOLockedValueBox<JournalLimits>
    let counts = NIOLockedValueBox(CacheCounts())
    let path: String?
    /// Held as long as the journal is open.
    private let folder: JournalFolder?
    /// The file that was opened, by device and inode.
    private let file: FileInode?
    let ballast: JournalBallast?
    /// When it was last noted how long this life has run.
    private let ranNoted = NIOLockedValueBox<Duration?>(nil)

    /// Opens the journal in a folder, or makes one there.
    ///
    /// - Throws: `JournalError`; a file that is not a journal, is damaged or newer than this program is left as it is.
    package convenience init(in folder: JournalFolder, limits: JournalLimits = JournalLimits()) throws(JournalError) {
        try self.init(path: folder.path + "/journal.sqlite", folder, limits)
    }

    /// A journal in memory, for a node that ends with its command.
    package static func inMemory() throws(JournalError) -> Journal { try Journal(path: nil, nil, JournalLimits()) }

    /// Whether anything of it is there at the next start.
    var isLasting: Bool { path != nil }

    private init(path: String?, _ folder: JournalFolder?, _ limits: JournalLimits) throws(JournalError) {
        currentLimits = NIOLockedValueBox(limits)
        self.path = path
        self.folder = folder
        do {
            var configuration = Configuration()
            configuration.label = "journal"
            configuration.prepareDatabase { try Journal.prepare($0, inMemory: path == nil) }
            let ballast = folder.map { JournalBallast(folder: $0.path) }
            let (queue, beginning) = try Journal.begin(path, configuration, ballast)
            (incarnation, wasClosed) = (beginning.incarnation, beginning.wasClosed)
            (secret, ranBefore) = (beginning.secret, beginning.ran)
            file = path.flatMap(FileInode.init)
            self.ballast = ballast
            self.queue = queue
            ballast?.take()
            // The limits may be lower than they were.
            try queue.write { [self] in try evict(from: $0) }
        } catch let error as JournalError {
            throw JournalError(error.kind, "\(path ?? "the journal"): \(error.message)")
        } catch {
            throw Journal.failure(error, path)
        }
    }

    /// Opens the file and begins a life in it. On a full disk the room that is kept for deletions lets it: a node that does not
    /// start cannot be asked to delete anything.
    private static func begin(
        _ path: String?, _ configuration: Configuration, _ ballast: JournalBallast?
    ) throws -> (DatabaseQueue, Beginning) {
        func begin() throws -> (DatabaseQueue, Beginning) {
            let queue =
                try path.map { try DatabaseQueue(path: $0, configuration: configuration) }
                ?? DatabaseQueue(configuration: configuration)
            try migrate(queue)
            let beginning = try queue.write(beginIncarnation)
            try queue.writeWithoutTransaction { try relax($0, disk: path.flatMap(DiskSpace.init(of:))) }
            return (queue, beginning)
        }
        do {
            return try begin()
        } catch let error where failure(error, path).kind == .full && ballast?.release() == true {
            return try begin()
        }
    }

    // MARK: - Writing

    /// Stores entries and returns when that is done: all or none, but for those that can never be stored.
    ///
    /// - Parameter ran: how long the coordinator has run, in all its lives.
    /// - Throws: `JournalError`; of kind `full` it may go better later.
    @discardableResult
    package func append(_ entries: [JournalEntry], ran: Duration? = nil) async throws(JournalError) -> Appended {
        try checkFile()
        var appended: Appended
        do {
            appended = try await store(entries, ran: ran)
        } catch {
            guard error.kind == .full, entries.contains(where: \.isDeletion), ballast?.release() == true else {
                throw error
            }
            // What is to be deleted makes room for all that waits.
            await checkpoint()
            appended = try await store(entries, ran: ran)
        }
        if entries.contains(where: \.isDeletion) {
            try await sweep()
            appended.room = try await write { [self] in try room($0) }
        }
        appended.room.held += logSize
        if appended.room.isFull, logSize > 0 {
            // What was written beside the file takes room twice until it is brought into it.
            await checkpoint()
            appended.room = try await write { [self] in try room($0) }
            appended.room.held += logSize
        }
        ballast?.take()
        return appended
    }

    /// Brings what was written beside the file into it, and gives the room that it took back. Where that fails it is tried later.
    func checkpoint() async {
        try? await queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
    }

    /// Whether the disk has no more left than what is kept free.
    var isShortOfRoom: Bool {
        guard let path, let disk = DiskSpace(of: path) else { return false }
        return disk.available < 2 * JournalRoom.reserve(ofDisk: disk.size)
    }

    /// Bytes of the file that is written to first.
    private var logSize: Int { path.map { FileInode.size(of: $0 + "-wal") } ?? 0 }

    private func store(_ entries: [JournalEntry], ran: Duration?) async throws(JournalError) -> Appended {
        let noted = ranNoted.withLockedValue { $0 }
        let due = ran.flatMap { ran in noted.map { ran - $0 >= Journal.notingInterval } ?? true ? ran : nil }
        let appended: Appended = try await write { [self] database in
            do {
                return try store(entries, ran: due, in: database, oneByOne: false)
            } catch let error where Journal.isOfEntry(error) {
                // Which one it is shows when they are stored by themselves.
                throw EntryRefused()
            }
        } orIfRefused: { [self] database in
            try store(entries, ran: due, in: database, oneByOne: true)
        }
        if let due { ranNoted.withLockedValue { $0 = due } }
        return appended
    }

    /// How often it is noted how long this life has run, where something is stored anyway.
    private static let notingInterval = Duration.seconds(10)

    private func store(
        _ entries: [JournalEntry], ran: Duration?, in database: Database, oneByOne: Bool
    ) throws -> Appended {
        var appended = Appended(room: JournalRoom(held: 0, limit: 0))
        var mayEvict = false
        var numbers: [JobID: Int64] = [:]
        for (index, entry) in entries.enumerated() {
            var isNew = true
            if oneByOne {
                do {
                    try database.inSavepoint {
                        isNew = try append(entry, to: database, &numbers)
                        return .commit
                    }
                } catch let error where Journal.isOfEntry(error) {
                    numbers = [:]
                    appended.refused.append((index, String(describing: error)))
                    continue
                }
            } else {
                isNew = try append(entry, to: database, &numbers)
            }
            if !isNew { appended.repeated += 1 }
            if case .result(let result) = entry, result.cacheKey != nil { mayEvict = true }
        }
        if let ran { try database.run("UPDATE coordinator SET ran = ?", [Journal.milliseconds(ran)]) }
        appended.room = try room(database)
        if mayEvict || appended.room.isFull {
            try evict(from: database)
            appended.room = try room(database)
        }
        appended.mayShrink = try Journal.bytes(database).spare >= Journal.shrinkStep
        return appended
    }

    package struct Appended: Sendable {
        /// Results and failures that were left out because their task has one already, which is nobody's intention.
        package var repeated = 0
        /// Entries that can never be stored, by their place, and why.
        package var refused: [(place: Int, reason: String)] = []
        /// What the journal holds now, and may.
        var room: JournalRoom
        /// Whether `shrink` would give something back.
        package var mayShrink = false
    }

    /// Whether an error is about what was to be stored, and not about the disk or the file: it would come again.
    private static func isOfEntry(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else {
            return !(error is JournalError) && !(error is CancellationError)
        }
        return [.SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_TOOBIG, .SQLITE_RANGE].contains(error.resultCode)
    }

    private struct EntryRefused: Error {}

    /// What it holds, and may hold.
    func room(_ database: Database) throws -> JournalRoom {
        let (held, spare) = try Journal.bytes(database)
        guard let path else { return JournalRoom(held: held, limit: limits.bytes) }
        let disk = DiskSpace(of: path).map { ($0.size, $0.available + spare) }
        return JournalRoom(held: held, limit: limits.bytes, disk: disk)
    }

    /// A file that is deleted while it is open can be written to, and all of it is gone at the end.
    private func checkFile() throws(JournalError) {
        guard let path, let file, FileInode(path) != file else { return }
        throw JournalError(
            .gone, "\(path) was deleted or replaced while it is in use; start the node again, or put the file back")
    }

    /// Notes that this life ends in order.
    package func close(ran: Duration? = nil) async throws(JournalError) {
        try await write { database in
            try database.execute(sql: "UPDATE coordinator SET closed = 1")
            if let ran { try database.run("UPDATE coordinator SET ran = ?", [Journal.milliseconds(ran)]) }
        }
    }

    /// Gives back the pages of the file that it holds in memory for the next statement.
    func rest() async {
        // Nothing depends on it.
        try? await queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA shrink_memory") }
    }

    /// Changes something, wholly or not at all.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(JournalError) -> Value {
        do {
            return try await queue.write(body)
        } catch {
            throw Journal.failure(error, path)
        }
    }

    /// As `write`; where `body` says that an entry is refused, it is undone and `second` is done instead.
    private func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value,
        orIfRefused second: @escaping @Sendable (Database) throws -> Value
    ) async throws(JournalError) -> Value {
        do {
            return try await queue.write(body)
        } catch is EntryRefused {
            return try await write(second)
        } catch {
            throw Journal.failure(error, path)
        }
    }

    /// Bytes given back at a time; fewer are kept for later entries.
    private static let shrinkStep = 4_000_000

    /// Gives room that deleted jobs had back to the file system.
    package func shrink() async throws(JournalError) {
        do {
            try await queue.writeWithoutTransaction { database in
                guard try Journal.bytes(database).spare >= Journal.shrinkStep else { return }
                let size = try database.number("PRAGMA page_size")
                try database.execute(sql: "PRAGMA incremental_vacuum(\(Journal.shrinkStep / max(1, size)))")
            }
        } catch {
            throw Journal.failure(error, path)
        }
    }

    static func failure(_ error: any Error, _ path: String?) -> JournalError {
        let place = path ?? "the journal"
        if let error = error as? JournalError { return error }
        guard let error = error as? DatabaseError else { return JournalError(.inaccessible, "\(place): \(error)") }
        let words = error.message ?? error.resultCode.description
        switch error.resultCode {
        case .SQLITE_FULL: return JournalError(.full, "\(place): there is no room on the disk")
        case .SQLITE_NOTADB: return JournalError(.damaged, "\(place) is not a journal of this program")
        case .SQLITE_CORRUPT: return JournalError(.damaged, "\(place) is damaged (\(words))")
        case .SQLITE_IOERR: return JournalError(.full, "\(place): the disk refuses to write (\(words))")
        default: return JournalError(.inaccessible, "\(place): \(words)")
        }
    }
}
