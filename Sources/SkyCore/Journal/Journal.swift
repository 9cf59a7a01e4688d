import GRDB
import NIOConcurrencyHelpers
import NIOCore
import Transport

/// How the cache of results has done since the journal was opened.
struct CacheCounts {
    var hits = 0
    var misses = 0
    var evictions = 0
}

/// What a coordinator must not forget, in SQLite: its jobs, each result once, each failure, each end.
///
/// One writer, which stores many entries in one transaction, with a write-ahead log: what was stored survives the end of the
/// process at any point. Where the machine itself loses power, the last moments may be gone; their tasks are done again then.
package final class Journal: Sendable {
    /// Of this opening; every one is a new life.
    package let life: CoordinatorLife
    /// Whether the life before it ended in order.
    package let wasClosed: Bool
    let queue: DatabaseQueue
    /// What it may hold; new ones hold from the next entry on.
    var limits: JournalLimits {
        get { currentLimits.withLockedValue { $0 } }
        set { currentLimits.withLockedValue { $0 = newValue } }
    }
    private let currentLimits: NIOLockedValueBox<JournalLimits>
    let counts = NIOLockedValueBox(CacheCounts())
    private let path: String?
    /// Held as long as the journal is open.
    private let folder: JournalFolder?

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
            let queue =
                try path.map { try DatabaseQueue(path: $0, configuration: configuration) }
                ?? DatabaseQueue(configuration: configuration)
            try Journal.migrate(queue)
            (life, wasClosed) = try queue.write(Journal.beginLife)
            self.queue = queue
            // The limits may be lower than they were.
            try queue.write { [self] in try evict(from: $0) }
        } catch let error as JournalError {
            throw JournalError(error.kind, "\(path ?? "the journal"): \(error.message)")
        } catch {
            throw Journal.failure(error, path)
        }
    }

    // MARK: - Writing

    /// Stores entries, all or none, and returns when that is done.
    ///
    /// - Throws: `JournalError`; of kind `full` it may go better later.
    @discardableResult
    package func append(_ entries: [JournalEntry]) async throws(JournalError) -> Appended {
        try await write { [self] database in
            var repeated = 0
            var mayEvict = false
            for entry in entries {
                let isNew = try append(entry, to: database)
                if !isNew { repeated += 1 }
                if case .result(let result) = entry, result.cacheKey != nil { mayEvict = true }
            }
            var (bytes, spare) = try Journal.bytes(database)
            if mayEvict || bytes > limits.bytes {
                try evict(from: database)
                (bytes, spare) = try Journal.bytes(database)
            }
            return Appended(repeated: repeated, bytes: bytes, mayShrink: spare >= Journal.shrinkStep)
        }
    }

    package struct Appended: Sendable {
        /// Results and failures that were left out because their task has one already, which is nobody's intention.
        package var repeated: Int
        /// What the journal holds now.
        package var bytes: Int
        /// Whether `shrink` would give something back.
        package var mayShrink: Bool
    }

    /// Notes that this life ends in order.
    package func close() async throws(JournalError) {
        try await write { try $0.execute(sql: "UPDATE coordinator SET closed = 1") }
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
