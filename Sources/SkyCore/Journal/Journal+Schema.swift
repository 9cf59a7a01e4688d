import Foundation
import GRDB
import Glibc
import NIOConcurrencyHelpers
import Transport

extension Journal {
    /// "SkyN": this number tells a journal from any other database.
    private static let applicationID = 0x536B_794E

    static func prepare(_ database: Database, inMemory: Bool) throws {
        // If the file belongs to another program, not even a setting is changed.
        if try isEmpty(database) {
            // First, because it has no effect in a file that has its first page (https://sqlite.org/pragma.html#pragma_auto_vacuum).
            try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
            try database.execute(sql: "PRAGMA application_id = \(applicationID)")
        }
        if !inMemory { try database.execute(sql: "PRAGMA journal_mode = WAL") }
        // Until the start of this incarnation is stored: two incarnations must never have the same number, even after a
        // loss of power.
        try database.execute(sql: "PRAGMA synchronous = FULL")
        // Damage within a page is found when the page is read.
        try database.execute(sql: "PRAGMA cell_size_check = ON")
    }

    /// Lets a journal that an earlier version made give the room of deleted jobs back, as new ones do. Its file is written anew for that,
    /// once (https://sqlite.org/lang_vacuum.html), so a large one stays as it is, and one for which the disk has no room.
    static func giveBackRoom(_ database: Database, pageSize: Int, path: String) throws {
        let held = try (database.number("PRAGMA page_count") - database.number("PRAGMA freelist_count")) * pageSize
        guard try database.number("PRAGMA auto_vacuum") == 0, held <= mostRewritten,
            let disk = DiskSpace(of: path), disk.available > 4 * held + JournalRoom.reserve(ofDisk: disk.size)
        else { return }
        try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// A file with more bytes in it is not written anew: a start would wait for it for more than a second.
    private static let mostRewritten = 64 << 20

    /// Whether there is nothing in a database yet.
    ///
    /// - Throws: `JournalError` where it is another program's.
    private static func isEmpty(_ database: Database) throws -> Bool {
        let isEmpty = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") == 0
        let owner = try Int.fetchOne(database, sql: "PRAGMA application_id")
        guard isEmpty || owner == applicationID else {
            throw JournalError(.damaged, "it is a database, but not a journal of this program")
        }
        return isEmpty
    }

    /// Looks whether a start could open the databases of a folder, and changes nothing.
    ///
    /// - Throws: `JournalError`.
    static func check(in folder: String) throws(JournalError) {
        for name in ["journal.sqlite", "replicas.sqlite"] {
            let path = folder + "/" + name
            var status = stat()
            guard stat(path, &status) == 0 else { continue }
            guard status.st_mode & S_IFMT == S_IFREG else { throw JournalError(.inaccessible, "\(path) is no file") }
            guard status.st_size > 0 else { continue }
            guard faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0 else {
                throw JournalError(.inaccessible, "\(path): \(String(cString: strerror(errno)))")
            }
            // SQLite makes files beside a database even to read it. Made by root, they would lock the service's user out.
            guard status.st_uid == geteuid() else { continue }
            do {
                var configuration = Configuration()
                configuration.readonly = true
                let queue = try DatabaseQueue(path: path, configuration: configuration)
                guard name == "journal.sqlite" else {
                    _ = try queue.read { try Int64.fetchOne($0, sql: "SELECT id FROM own") }
                    continue
                }
                _ = try queue.read(isEmpty)
                try refuseNewer(queue, migrator)
            } catch let error as JournalError {
                throw JournalError(error.kind, "\(path): \(error.message)")
            } catch {
                throw failure(error, path)
            }
        }
    }

    private static func refuseNewer(_ queue: DatabaseQueue, _ migrator: DatabaseMigrator) throws {
        if try queue.read(migrator.hasBeenSuperseded) {
            throw JournalError(.newer, "it was made by a later version of this program")
        }
    }

    private static let secretLength = 32

    /// Lets SQLite sync less often. A process may still die at any time without losing what was stored; see `Journal` about
    /// a loss of power.
    ///
    /// - Parameters:
    ///   - diskSize: the size of the disk that the journal is on, or less where its limit is low.
    ///   - isReplicated: whether others rely on what is stored, also after a loss of power.
    static func relax(_ database: Database, pageSize: Int, diskSize: Int, isReplicated: Bool) throws {
        if !isReplicated { try database.execute(sql: "PRAGMA synchronous = NORMAL") }
        let pages = logPages(ofDisk: diskSize, pageSize: pageSize)
        try database.execute(sql: "PRAGMA wal_autocheckpoint = \(pages)")
        try database.execute(sql: "PRAGMA journal_size_limit = \(logLimit(pages, pageSize: pageSize))")
    }

    /// The number of pages in the write-ahead log at which they are brought into the file. They need as much room again there, which
    /// the ballast gives on a full disk. An entry waits some milliseconds for it: of those of small jobs, fewer than one in a hundred.
    static func logPages(ofDisk size: Int, pageSize: Int) -> Int {
        max(1, min(JournalBallast.size(ofDisk: size) / 2 / pageSize, 2000))
    }

    /// The bytes that the log keeps: a quarter more than those pages. It gives back what a large transaction has taken, but not what it
    /// usually needs: to free that room and to take it again costs more than to bring the pages into the file.
    static func logLimit(_ pages: Int, pageSize: Int) -> Int { (pages + pages / 4) * pageSize }

    static func migrate(_ queue: DatabaseQueue) throws {
        try refuseNewer(queue, migrator)
        try migrator.migrate(queue)
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in
            try database.execute(
                sql: """
                    -- closed: whether its last incarnation ended in order.
                    CREATE TABLE coordinator(
                        id INTEGER NOT NULL, generation INTEGER NOT NULL, closed INTEGER NOT NULL);
                    -- request and report are JSON; times are milliseconds since 1970.
                    CREATE TABLE job(
                        number INTEGER PRIMARY KEY AUTOINCREMENT, id INTEGER NOT NULL UNIQUE, token TEXT UNIQUE,
                        request BLOB NOT NULL, submitted INTEGER NOT NULL, report BLOB, ended INTEGER);
                    -- key: the job's number times 2^31, plus the task. One tree for all, in the order of tasks.
                    CREATE TABLE result(
                        key INTEGER PRIMARY KEY, node TEXT NOT NULL, duration INTEGER NOT NULL, payload BLOB NOT NULL);
                    CREATE TABLE failure(
                        key INTEGER PRIMARY KEY, reason TEXT NOT NULL, isBadInput INTEGER NOT NULL);
                    CREATE TABLE risk(
                        key INTEGER NOT NULL, node INTEGER NOT NULL, alone INTEGER NOT NULL, PRIMARY KEY (key, node))
                        WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("2") { database in
            try database.execute(
                sql: """
                    -- Earlier results, by what decides them. used: when last, in milliseconds since 1970; size: bytes of payload.
                    CREATE TABLE cache(
                        key BLOB PRIMARY KEY, used INTEGER NOT NULL, size INTEGER NOT NULL, payload BLOB NOT NULL)
                        WITHOUT ROWID;
                    CREATE INDEX cacheUse ON cache(used, size);
                    """)
        }
        migrator.registerMigration("3") { database in
            // What the program measures by that makes the job's results, or its version.
            try database.execute(sql: "ALTER TABLE job ADD COLUMN program TEXT")
        }
        migrator.registerMigration("4") { database in
            try database.execute(
                sql: """
                    -- secret: see AttemptReceipts. ran: milliseconds that all incarnations ran together, as last noted.
                    ALTER TABLE coordinator ADD COLUMN secret BLOB;
                    ALTER TABLE coordinator ADD COLUMN ran INTEGER NOT NULL DEFAULT 0;
                    -- How long the coordinator had run when the job was submitted and when it ended, in milliseconds.
                    ALTER TABLE job ADD COLUMN submittedRun INTEGER;
                    ALTER TABLE job ADD COLUMN endedRun INTEGER;
                    -- The first generation whose results count.
                    ALTER TABLE job ADD COLUMN since INTEGER;
                    -- CRC-32 of the rest of the row; NULL where an earlier version wrote it.
                    ALTER TABLE job ADD COLUMN checksum INTEGER;
                    ALTER TABLE job ADD COLUMN reportChecksum INTEGER;
                    ALTER TABLE result ADD COLUMN checksum INTEGER;
                    ALTER TABLE failure ADD COLUMN checksum INTEGER;
                    ALTER TABLE cache ADD COLUMN checksum INTEGER;
                    -- Jobs that are deleted, by number, while there are still rows of their tasks.
                    CREATE TABLE deletion(number INTEGER PRIMARY KEY);
                    """)
        }
        migrator.registerMigration("5") { database in
            try database.execute(
                sql: """
                    -- How far the journal is, as the nodes that have copies of it count. members: JSON. One row at most.
                    CREATE TABLE replica(term INTEGER, number INTEGER, hash INTEGER, members BLOB);
                    -- The last batches, for copies that lack them.
                    CREATE TABLE batch(
                        number INTEGER PRIMARY KEY, term INTEGER, hash INTEGER, previousTerm INTEGER, previousHash INTEGER,
                        members BLOB, body BLOB);
                    """)
        }
        return migrator
    }

    /// What a journal tells about its coordinator at a start.
    struct Beginning {
        var incarnation: CoordinatorIncarnation
        /// Whether the incarnation before ended in order.
        var wasClosed: Bool
        var secret: [UInt8]
        /// How long all earlier incarnations ran together.
        var ran: Duration

        /// A copy tells nothing before it is taken over.
        static var ofCopy: Beginning {
            Beginning(
                incarnation: CoordinatorIncarnation(CoordinatorID(rawValue: 0), generation: 0), wasClosed: true,
                secret: [], ran: .zero)
        }
    }

    static func newSecret() -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<secretLength).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    /// Stores that the coordinator has started once more.
    ///
    /// - Parameter term: the term of the journal where there are copies. Its generations are higher than those of earlier terms.
    static func beginIncarnation(_ database: Database, term: UInt64 = 0) throws -> Beginning {
        if try Int.fetchOne(database, sql: "SELECT count(*) FROM coordinator") == 0 {
            let secret = newSecret()
            let id = Int64(bitPattern: IdentityKey.coordinator(secret: secret).coordinator.rawValue)
            try database.execute(
                sql: "INSERT INTO coordinator(id, generation, closed, secret) VALUES (?, 0, 1, ?)",
                arguments: [id, Data(secret)])
        }
        guard let row = try Row.fetchOne(database, sql: "SELECT * FROM coordinator"),
            let id = Int64.fromDatabaseValue(row["id"]), let closed = Bool.fromDatabaseValue(row["closed"]),
            let generation = Int64.fromDatabaseValue(row["generation"]), (0..<Int64.max).contains(generation)
        else { throw JournalError(.damaged, "it does not say whose it is") }
        // The low half of a generation counts the starts within a term.
        let stored = try Int64.fetchOne(database, sql: "SELECT term FROM replica") ?? 0
        let term = min(max(term, UInt64(clamping: stored)), 1 << 30)
        let next = max(generation, Int64(term << 32)) + 1
        var secret = Data.fromDatabaseValue(row["secret"]).map { Array($0) } ?? []
        if secret.count != secretLength { secret = newSecret() }
        try database.execute(
            sql: "UPDATE coordinator SET generation = ?, closed = 0, secret = ?",
            arguments: [next, Data(secret)])
        let coordinator = CoordinatorID(rawValue: UInt64(bitPattern: id))
        // A clock that shows more than a thousand years is damaged.
        let ran = max(0, min(Int64.fromDatabaseValue(row["ran"]) ?? 0, 1000 * 366 * 86_400_000))
        return Beginning(
            incarnation: CoordinatorIncarnation(coordinator, generation: UInt64(next)), wasClosed: closed,
            secret: secret,
            ran: .milliseconds(ran))
    }
}

extension DatabaseQueue {
    /// Runs `body` on the queue's thread, also where the caller's task has been cancelled. GRDB's own calls end with
    /// `CancellationError` then: whoever hangs up in the middle of a call, or a node that stops, would look like a disk that fails.
    func uninterrupted<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let statements = Statements(body)
        return try await withUnsafeThrowingContinuation { continuation in
            asyncWriteWithoutTransaction { database in
                continuation.resume(with: statements.run(in: database))
            }
        }
    }

    /// What is to be run once. Nothing of it is left when it has been: the last owner of a journal is never its own thread, which could
    /// not wait there until it is closed.
    private final class Statements<Value: Sendable>: Sendable {
        private let body: NIOLockedValueBox<(@Sendable (Database) throws -> Value)?>

        init(_ body: @escaping @Sendable (Database) throws -> Value) { self.body = NIOLockedValueBox(body) }

        func run(in database: Database) -> Result<Value, any Error> {
            guard let body = body.withLockedValue({ $0.take() }) else { return .failure(CancellationError()) }
            return Result { try body(database) }
        }
    }

    /// Runs a transaction, also where the caller's task has been cancelled.
    func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await uninterrupted { try $0.transaction(body) }
    }
}

/// Statements that most transactions need. Each is compiled once.
extension Database {
    func run(_ sql: String, _ arguments: StatementArguments) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// Makes all changes of `body`, or none. GRDB's own transactions have their beginning and end compiled each time.
    func transaction<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try run("BEGIN IMMEDIATE", [])
        do {
            let value = try body(self)
            try run("COMMIT", [])
            return value
        } catch {
            try? rollback()
            throw error
        }
    }

    /// The first column of the first row, or 0 if there is no row.
    func number(_ sql: String) throws -> Int {
        try Int.fetchOne(cachedStatement(sql: sql)) ?? 0
    }
}
