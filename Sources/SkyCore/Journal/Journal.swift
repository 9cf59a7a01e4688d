import CLinux
import GRDB
import Glibc
import NIOConcurrencyHelpers
import NIOCore
import Synchronization
import Transport

/// How well the cache of results has worked since the journal was opened.
struct CacheCounts {
    var hits = 0
    var misses = 0
    var evictions = 0
    /// Results that turned out to be damaged when they were looked up.
    var damaged = 0
}

/// The journal stores what a coordinator must not forget, in SQLite: its jobs, each result once, each failure, the end of
/// each job.
///
/// There is one writer, which stores many entries in one transaction, with a write-ahead log. What was stored survives the
/// end of the process at any point. If the machine itself loses power, the last moments may be lost; their tasks are then
/// done again.
package final class Journal: Sendable {
    /// The incarnation that began when the journal was opened. Each opening begins a new one.
    package let incarnation: CoordinatorIncarnation
    /// Whether the incarnation before this one ended in order.
    package let wasClosed: Bool
    /// The secret by which results of earlier incarnations are recognised.
    let secret: [UInt8]
    /// How long all earlier incarnations ran together.
    let ranBefore: Duration
    let queue: DatabaseQueue
    /// Whether other nodes have copies that count, as far as this one knows.
    let hasCopies: Bool
    /// How much the journal may hold. New limits are in force from the next entry on.
    var limits: JournalLimits {
        get { currentLimits.withLockedValue { $0 } }
        set { currentLimits.withLockedValue { $0 = newValue } }
    }
    private let currentLimits: NIOLockedValueBox<JournalLimits>
    /// What it may hold of the room that it shares with copies; `nil` where it shares none.
    let share = NIOLockedValueBox<(bytes: Int, bound: JournalRoom.Bound)?>(nil)
    /// How many bytes it may hold, whatever the disk has left, and why not more.
    var limit: (bytes: Int, bound: JournalRoom.Bound) {
        let own = (bytes: limits.bytes, bound: JournalRoom.Bound.operator)
        guard let share = share.withLockedValue({ $0 }), share.bytes < own.bytes else { return own }
        return share
    }
    let counts = NIOLockedValueBox(CacheCounts())
    private let isSyncedAlways: NIOLockedValueBox<Bool>
    private let appends = Atomic(0)
    let path: String?
    /// The lock on the folder, which is held as long as the journal is open.
    private let folder: JournalFolder?
    /// The size of a page in bytes. It is kept because SQLite compiles the question for it anew each time.
    private let pageSize: Int
    /// The file that was opened, by device and inode.
    private let file: FileInode?
    let ballast: JournalBallast?
    /// When it was last stored how long this incarnation has run.
    private let ranNoted = NIOLockedValueBox<Duration?>(nil)

    /// Opens the journal in a folder, or makes a new one there.
    ///
    /// - Throws: `JournalError`. A file that is not a journal, is damaged, or is newer than this program is left as it is.
    ///
    package convenience init(
        in folder: JournalFolder, limits: JournalLimits = JournalLimits()
    ) throws(JournalError) {
        DatabaseFile.closeAll(in: folder.path, named: Journal.asideName)
        try self.init(
            path: folder.path + "/journal.sqlite", folder, limits, JournalBallast(folder: folder.path))
    }

    /// Makes the journal of a coordinator that works beside the node's own.
    ///
    /// - Parameter ballast: that of all copies.
    convenience init(
        besideOwn folder: JournalFolder, limits: JournalLimits, ballast: JournalBallast
    ) throws(JournalError) {
        try self.init(path: folder.path + "/journal.sqlite", folder, limits, ballast)
    }

    /// Opens a copy as the journal of a coordinator that works here from now on.
    ///
    /// - Parameter term: the term of the incarnation.
    convenience init(
        takenOver folder: JournalFolder, limits: JournalLimits, ballast: JournalBallast, term: UInt64
    ) throws(JournalError) {
        try self.init(path: folder.path + "/journal.sqlite", folder, limits, ballast, term: term)
    }

    /// Opens a copy of another coordinator's journal, or makes a new one. No incarnation begins.
    convenience init(
        copy name: String, in folder: JournalFolder, limits: JournalLimits, ballast: JournalBallast
    ) throws(JournalError) {
        try self.init(path: folder.path + "/" + name, folder, limits, ballast, isCopy: true)
    }

    /// A journal in memory, for a node that ends with its command.
    package static func inMemory() throws(JournalError) -> Journal { try Journal(path: nil, nil, JournalLimits(), nil) }

    /// The folder that the journal is in; `nil` for one in memory.
    var folderPath: String? { folder?.path }

    /// How the names of journals begin that were set aside.
    static let asideName = "journal.aside-"

    /// Whether the journal's content is still there at the next start.
    var isLasting: Bool { path != nil }

    private init(
        path: String?, _ folder: JournalFolder?, _ limits: JournalLimits, _ ballast: JournalBallast?, term: UInt64 = 0,
        isCopy: Bool = false
    ) throws(JournalError) {
        currentLimits = NIOLockedValueBox(limits)
        self.path = path
        self.folder = folder
        do {
            var configuration = Configuration()
            configuration.label = "journal"
            configuration.prepareDatabase { try Journal.prepare($0, inMemory: path == nil) }
            // What is acknowledged to a primary, or by another node, must survive a loss of power.
            let isReplicated = isCopy || term > 0
            isSyncedAlways = NIOLockedValueBox(isReplicated)
            let (queue, pageSize, beginning) = try Journal.begin(
                path, configuration, ballast, limit: limits.bytes, term: term, isCopy: isCopy,
                isReplicated: isReplicated)
            (incarnation, wasClosed) = (beginning.incarnation, beginning.wasClosed)
            (secret, ranBefore) = (beginning.secret, beginning.ran)
            hasCopies = try queue.read { try StoredBatch.read($0)?.set.members.count ?? 0 > 1 }
            file = path.flatMap(FileInode.init)
            self.ballast = ballast
            (self.queue, self.pageSize) = (queue, pageSize)
            ballast?.reserve()
            // The limits may be lower than they were at the last opening.
            try queue.write { [self] in try evict(from: $0) }
        } catch let error as JournalError {
            throw JournalError(error.kind, "\(path ?? "the journal"): \(error.message)")
        } catch {
            throw Journal.failure(error, path)
        }
    }

    /// Opens the file and begins an incarnation in it. On a full disk, this uses the room that is kept for deletions,
    /// because nobody can ask a node to delete anything if it does not start.
    private static func begin(
        _ path: String?, _ configuration: Configuration, _ ballast: JournalBallast?, limit: Int, term: UInt64,
        isCopy: Bool, isReplicated: Bool
    ) throws -> (DatabaseQueue, pageSize: Int, Beginning) {
        func begin() throws -> (DatabaseQueue, pageSize: Int, Beginning) {
            if let path { DatabaseFile.close(path) }
            let queue =
                try path.map { try DatabaseQueue(path: $0, configuration: configuration) }
                ?? DatabaseQueue(configuration: configuration)
            try migrate(queue)
            let beginning = try queue.write { try isCopy ? .ofCopy : beginIncarnation($0, term: term) }
            let pageSize = try queue.writeWithoutTransaction { database in
                let pageSize = max(1, try database.number("PRAGMA page_size"))
                if let path { try? giveBackRoom(database, pageSize: pageSize, path: path) }
                // A small limit has a small log: it counts, and a node has one for each journal.
                let size = min(path.flatMap(DiskSpace.init(of:))?.size ?? .max, limit / 2)
                try relax(database, pageSize: pageSize, diskSize: size, isReplicated: isReplicated)
                return pageSize
            }
            return (queue, pageSize, beginning)
        }
        do {
            return try begin()
        } catch let error where failure(error, path).kind == .full && ballast?.release() == true {
            return try begin()
        }
    }

    // MARK: - Writing

    /// Stores entries, and returns when that is done. It stores all or none of them, apart from entries that can never be stored.
    ///
    /// - Parameter ran: how long the coordinator has run, in all its incarnations.
    /// - Throws: `JournalError`. If it is of kind `full`, a later attempt may succeed.
    @discardableResult
    package func append(_ entries: [JournalEntry], ran: Duration? = nil) async throws(JournalError) -> Appended {
        try await append(entries.map(JournalRow.init), ran: ran)
    }

    /// Stores rows, as `append` of entries does.
    ///
    /// - Parameter batches: what the rows are the content of, in a journal of which there are copies.
    func append(
        _ rows: [JournalRow], ran: Duration?, batches: [StoredBatch] = []
    ) async throws(JournalError) -> Appended {
        // Without the batch that begins a term, or one that changes the members, no job can be deleted.
        let makesRoom = rows.isEmpty || rows.contains(where: \.isDeletion)
        if !makesRoom, ballast?.leavesRoom(for: rows.reduce(0) { $0 + $1.byteCount }) == false {
            throw JournalError(
                .full,
                "\(path ?? "the journal"): there is no room on the disk but for what is kept free to delete jobs with")
        }
        var appended: Appended
        do {
            appended = try await store(rows, ran: ran, batches)
        } catch {
            guard error.kind == .full, makesRoom, ballast?.release() == true else { throw error }
            // The deletion makes room for everything that waits.
            await checkpoint()
            appended = try await store(rows, ran: ran, batches)
        }
        if rows.contains(where: \.isDeletion) {
            appended.room = try await sweep()
            appended.mayShrink = try await withQueue { [self] in try bytes($0).spare >= Journal.shrinkStep }
            // The next deletion needs room on the disk, too.
            if ballast?.isReserved == false, let room = try? await giveBack() { appended.room = room }
        }
        if appended.room.isFull, appended.logSize > 0 {
            // What is in the write-ahead log takes room twice until it is brought into the file.
            await checkpoint()
            appended.room = try await withQueue { [self] in try roomWithLog($0) }
        }
        prepareDisk()
        return appended
    }

    /// Reserves room where there is none, and has the disk begin with what was added to the write-ahead log. Nobody waits for it here,
    /// but an entry waits for all that is left of it when the log is brought into the file. Where others rely on what is stored, nothing
    /// is ever left.
    private func prepareDisk() {
        let count = appends.wrappingAdd(1, ordering: .relaxed).newValue
        let begins = count.isMultiple(of: Journal.appendsAtOnce) && !isSyncedAlways.withLockedValue { $0 }
        guard let path, begins || ballast?.isReserved == false else { return }
        // The queue's thread waits for the disk, after the entries that were just stored are published.
        queue.asyncWriteWithoutTransaction { [ballast] _ in
            ballast?.reserve()
            guard begins else { return }
            let descriptor = open(path + "-wal", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else { return }
            sync_file_range(descriptor, 0, 0, UInt32(SYNC_FILE_RANGE_WRITE))
            Glibc.close(descriptor)
        }
    }

    /// The disk begins with what was stored so many times: some 50 pages, where jobs are small.
    private static let appendsAtOnce = 8

    /// Brings the write-ahead log into the file, and gives back the room that the log took. If that fails, it is tried
    /// again later.
    func checkpoint() async {
        try? await queue.uninterrupted { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
    }

    /// Whether the disk has little more left than what is kept free. The queue's thread calls it.
    var isShortOfRoom: Bool { path.map(JournalRoom.isShort) ?? false }

    /// Bytes of the write-ahead log. It asks the disk, so the queue's thread calls it.
    private var logSize: Int { path.map { FileInode.size(of: $0 + "-wal") } ?? 0 }

    /// How many bytes the journal holds with its write-ahead log.
    func heldBytes() async throws(JournalError) -> Int {
        try await withQueue { [self] in try roomWithLog($0).held }
    }

    /// How much the journal holds with its write-ahead log.
    func roomWithLog(_ database: Database) throws -> JournalRoom {
        var room = try room(database)
        room.held += logSize
        return room
    }

    private func store(
        _ rows: [JournalRow], ran: Duration?, _ batches: [StoredBatch]
    ) async throws(JournalError) -> Appended {
        let noted = ranNoted.withLockedValue { $0 }
        let due = ran.flatMap { ran in noted.map { ran - $0 >= Journal.notingInterval } ?? true ? ran : nil }
        let appended: Appended = try await write { [self] database in
            do {
                try checkFile()
                return try store(rows, ran: due, batches, in: database, oneByOne: false)
            } catch let error where Journal.isOfEntry(error) {
                // The entries are stored one by one, which shows which of them is refused.
                throw EntryRefused()
            }
        } orIfRefused: { [self] database in
            try store(rows, ran: due, batches, in: database, oneByOne: true)
        }
        if let due { ranNoted.withLockedValue { $0 = due } }
        return appended
    }

    /// How often the running time of this incarnation is stored, if something is stored anyway.
    private static let notingInterval = Duration.seconds(10)

    private func store(
        _ rows: [JournalRow], ran: Duration?, _ batches: [StoredBatch], in database: Database, oneByOne: Bool
    ) throws -> Appended {
        var appended = Appended(room: JournalRoom(held: 0, limit: 0))
        var mayEvict = false
        var numbers: [JobID: Int64] = [:]
        for (index, row) in rows.enumerated() {
            var isNew = true
            if oneByOne {
                do {
                    try database.inSavepoint {
                        isNew = try append(row, to: database, &numbers)
                        return .commit
                    }
                } catch let error where Journal.isOfEntry(error) {
                    numbers = [:]
                    appended.refused.append((index, String(describing: error)))
                    continue
                }
            } else {
                isNew = try append(row, to: database, &numbers)
            }
            if !isNew { appended.repeated += 1 }
            if case .result(let result) = row, result.cacheKey != nil { mayEvict = true }
        }
        if let ran { try database.run("UPDATE coordinator SET ran = ?", [Journal.milliseconds(ran)]) }
        try StoredBatch.store(batches, in: database)
        var bytes = try bytes(database)
        appended.room = room(bytes)
        if mayEvict || appended.room.isFull {
            try evict(from: database)
            bytes = try self.bytes(database)
            appended.room = room(bytes)
        }
        appended.mayShrink = bytes.spare >= Journal.shrinkStep
        return appended
    }

    package struct Appended: Sendable {
        /// Results and failures that were left out because their task has one already. Nobody intends that.
        package var repeated = 0
        /// Entries that can never be stored: their place in the list, and why.
        package var refused: [(place: Int, reason: String)] = []
        /// How much the journal holds now with its write-ahead log, and how much it may hold.
        var room: JournalRoom
        /// Bytes of the write-ahead log.
        fileprivate var logSize = 0
        /// Whether `shrink` would give some room back.
        package var mayShrink = false
    }

    /// Whether an error is about the entry itself, and not about the disk or the file. Such an error would come again.
    private static func isOfEntry(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else {
            return !(error is JournalError) && !(error is CancellationError)
        }
        return [.SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_TOOBIG, .SQLITE_RANGE].contains(error.resultCode)
    }

    private struct EntryRefused: Error {}

    /// How much the journal holds, and how much it may hold.
    func room(_ database: Database) throws -> JournalRoom { room(try bytes(database)) }

    /// The bytes that the file holds; and the bytes that were deleted and not yet given back, which do not count.
    func bytes(_ database: Database) throws -> (held: Int, spare: Int) {
        let pages = try database.number("PRAGMA page_count")
        let free = try database.number("PRAGMA freelist_count")
        return ((pages - free) * pageSize, free * pageSize)
    }

    private func room(_ bytes: (held: Int, spare: Int)) -> JournalRoom {
        let (held, spare) = bytes
        let (limit, bound) = limit
        let disk = path.flatMap { DiskSpace(of: $0) }.map { ($0.size, $0.available + spare) }
        return JournalRoom(held: held, limit: limit, bound: bound, disk: disk)
    }

    /// Whether the file is still the one that was opened.
    var isInPlace: Bool { path.flatMap(FileInode.init) == file }

    /// - Throws: `JournalError` where the file was deleted or replaced.
    func checkFile() throws(JournalError) {
        if let path, let file { try DatabaseFile.check(path, is: file) }
    }

    /// Stores that this incarnation ends in order.
    package func close(ran: Duration? = nil) async throws(JournalError) {
        try await write { database in
            try database.execute(sql: "UPDATE coordinator SET closed = 1")
            if let ran { try database.run("UPDATE coordinator SET ran = ?", [Journal.milliseconds(ran)]) }
        }
    }

    /// Has everything that is stored from now on survive a loss of power, because others rely on it.
    func syncAlways() async throws(JournalError) {
        guard !isSyncedAlways.withLockedValue({ $0 }) else { return }
        do {
            try await queue.uninterrupted { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        } catch {
            throw Journal.failure(error, path)
        }
        isSyncedAlways.withLockedValue { $0 = true }
    }

    /// Closes the journal, keeps its file under another name, and opens a new one in its place.
    func replace(keptAs name: String) throws(JournalError) -> Journal {
        guard let folder else { return try Journal.inMemory() }
        end()
        // The files beside it may not be there. If the journal itself stayed, it would be opened as if it were new.
        for suffix in DatabaseFile.suffixes.reversed() {
            let path = folder.path + "/journal.sqlite" + suffix
            guard rename(path, folder.path + "/" + name + suffix) != 0, suffix.isEmpty || errno != ENOENT else {
                continue
            }
            throw JournalError(.inaccessible, "\(path): \(String(cString: strerror(errno)))")
        }
        folder.sync()
        return try Journal(in: folder, limits: limits)
    }

    /// The file is closed before the lock on its folder is gone. A statement that is just ending would close it later otherwise, when
    /// another one may have opened it.
    deinit { end() }

    /// Closes the file. Nothing can be read or stored from now on.
    func end() {
        // An error would mean that a statement is under way, which then ends the file when it is done.
        try? queue.close()
    }

    /// Frees the pages of the file that SQLite holds in memory for the next statement.
    func trim() async {
        // An error is ignored, because nothing depends on this.
        try? await queue.uninterrupted { try $0.execute(sql: "PRAGMA shrink_memory") }
    }

    /// Runs a transaction: all its changes are made, or none.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(JournalError) -> Value {
        try await withQueue { try $0.transaction(body) }
    }

    /// Runs `body` on the queue's thread, outside of a transaction.
    func withQueue<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(JournalError) -> Value {
        do {
            return try await queue.uninterrupted(body)
        } catch {
            throw Journal.failure(error, path)
        }
    }

    /// Stores entries in a transaction, and looks at the size of the log then. If `body` throws that an entry is refused, its changes are
    /// undone and `second` is run instead.
    private func write(
        _ body: @escaping @Sendable (Database) throws -> Appended,
        orIfRefused second: @escaping @Sendable (Database) throws -> Appended
    ) async throws(JournalError) -> Appended {
        @Sendable func store(_ body: (Database) throws -> Appended, _ database: Database) throws -> Appended {
            var appended = try database.transaction(body)
            appended.logSize = logSize
            appended.room.held += appended.logSize
            return appended
        }
        return try await withQueue { database in
            do {
                return try store(body, database)
            } catch is EntryRefused {
                return try store(second, database)
            }
        }
    }

    /// How many bytes are given back at a time. Less than that is kept for later entries.
    private static let shrinkStep = 4_000_000

    /// For how long room is given back after an entry. Other entries wait meanwhile.
    package static let shrinkTime = Duration.milliseconds(250)

    /// Gives room that deleted jobs took back to the file system, in steps. It cannot wait for further entries: a coordinator whose jobs
    /// have ended stores none, and many of them would fill a small disk with nothing.
    package func shrink(within time: Duration = Journal.shrinkTime) async throws(JournalError) {
        let end = ContinuousClock.now + time
        var isLarge = true
        while isLarge, ContinuousClock.now < end {
            isLarge = try await withQueue { [self] database in
                let spare = try bytes(database).spare
                guard spare >= Journal.shrinkStep else { return false }
                try database.execute(sql: "PRAGMA incremental_vacuum(\(Journal.shrinkStep / pageSize))")
                return try bytes(database).spare < spare
            }
        }
    }

    /// Gives room that deleted jobs took back to a full disk, until the ballast fits there again.
    private func giveBack() async throws(JournalError) -> JournalRoom {
        while true {
            let left = try await withQueue { [self] database in
                ballast?.reserve()
                let spare = ballast?.isReserved == true ? 0 : try bytes(database).spare
                // Little at a time: what is moved is in the write-ahead log first.
                if spare > 0 { try database.execute(sql: "PRAGMA incremental_vacuum(\(Journal.pagesGivenBack))") }
                return try spare > 0 && bytes(database).spare < spare
            }
            await checkpoint()
            guard left else { return try await withQueue { [self] in try roomWithLog($0) } }
        }
    }

    private static let pagesGivenBack = 64

    static func failure(_ error: any Error, _ path: String?) -> JournalError {
        let place = path ?? "the journal"
        if let error = error as? JournalError { return error }
        guard let error = error as? DatabaseError else { return JournalError(.inaccessible, "\(place): \(error)") }
        let words = error.message ?? error.resultCode.description
        switch error.resultCode {
        case .SQLITE_FULL: return JournalError(.full, "\(place): there is no room on the disk")
        case .SQLITE_NOTADB: return JournalError(.damaged, "\(place) is not a journal of this program")
        case .SQLITE_CORRUPT: return JournalError(.damaged, "\(place) is damaged (\(words))")
        case .SQLITE_IOERR:
            let limit = ProcessLimits.fileSize.map { "; or it is larger than \($0 >> 10) KiB (ulimit -f)" } ?? ""
            return JournalError(.full, "\(place): the disk refuses to write (\(words))\(limit)")
        default: return JournalError(.inaccessible, "\(place): \(words)")
        }
    }
}

extension Journal {
    /// That the coordinator speaks from a node; `nil` where its id does not follow from the journal's secret, because an earlier
    /// version made it.
    func proof(from node: NodeID) -> IdentityProof? {
        IdentityKey.of(incarnation.coordinator, secret: secret)?.proof(from: node, "\(incarnation.generation)")
    }
}
