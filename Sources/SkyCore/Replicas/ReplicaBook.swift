import Foundation
import GRDB
import NIOConcurrencyHelpers
import Transport

/// What a node must not forget as a keeper of copies: who it is, and what it has promised. It lies in the data folder, so that a
/// folder that was emptied is a new replica.
final class ReplicaBook: Sendable {
    let own: ReplicaID
    /// The key from which this folder's id follows; `nil` where an earlier version drew that.
    let key: IdentityKey?
    private let proved: NIOLockedValueBox<Set<ReplicaID>>
    private let queue: DatabaseQueue
    private let path: String
    /// The file that was opened.
    private let file: FileInode?
    private let ended: NIOLockedValueBox<Set<CoordinatorID>>

    /// - Parameter folder: the node's data folder.
    /// - Throws: `JournalError` where the file cannot be made, read or written.
    init(in folder: String) throws(JournalError) {
        path = folder + "/replicas.sqlite"
        do {
            var configuration = Configuration()
            configuration.label = "replicas"
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            DatabaseFile.close(path)
            queue = try DatabaseQueue(path: path, configuration: configuration)
            let (own, key, ended, proved) = try queue.write { database -> (_, IdentityKey?, _, _) in
                try database.execute(
                    sql: """
                        CREATE TABLE IF NOT EXISTS own(id INTEGER NOT NULL);
                        CREATE TABLE IF NOT EXISTS promise(
                            coordinator INTEGER PRIMARY KEY, term INTEGER NOT NULL, replica INTEGER);
                        CREATE TABLE IF NOT EXISTS peer(replica INTEGER PRIMARY KEY, name TEXT NOT NULL);
                        CREATE TABLE IF NOT EXISTS ended(
                            number INTEGER PRIMARY KEY AUTOINCREMENT, coordinator INTEGER NOT NULL UNIQUE);
                        -- Folders that have proved whose they are.
                        CREATE TABLE IF NOT EXISTS proved(
                            number INTEGER PRIMARY KEY AUTOINCREMENT, replica INTEGER NOT NULL UNIQUE);
                        """)
                if try !database.columns(in: "own").contains(where: { $0.name == "secret" }) {
                    try database.execute(sql: "ALTER TABLE own ADD COLUMN secret BLOB")
                }
                let proved = try Int64.fetchAll(database, sql: "SELECT replica FROM proved")
                    .map { ReplicaID(rawValue: UInt64(bitPattern: $0)) }
                let ended = try Int64.fetchAll(database, sql: "SELECT coordinator FROM ended")
                    .map { CoordinatorID(rawValue: UInt64(bitPattern: $0)) }
                if let row = try Row.fetchOne(database, sql: "SELECT id, secret FROM own"),
                    let id = Int64.fromDatabaseValue(row["id"])
                {
                    let key = Data.fromDatabaseValue(row["secret"]).map { IdentityKey.replica(secret: Array($0)) }
                    return (ReplicaID(rawValue: UInt64(bitPattern: id)), key, Set(ended), Set(proved))
                }
                let secret = Journal.newSecret()
                let key = IdentityKey.replica(secret: secret)
                try database.execute(
                    sql: "INSERT INTO own(id, secret) VALUES (?, ?)",
                    arguments: [Journal.key(key.replica), Data(secret)])
                return (key.replica, key, [], [])
            }
            (self.own, self.key) = (own, key)
            file = FileInode(path)
            self.proved = NIOLockedValueBox(proved)
            self.ended = NIOLockedValueBox(ended)
        } catch {
            throw Journal.failure(error, path)
        }
    }

    /// What was promised about a coordinator's journal.
    func promise(about coordinator: CoordinatorID) async throws(JournalError) -> (term: UInt64, to: ReplicaID?) {
        do {
            return try await queue.uninterrupted { database in
                let row = try Row.fetchOne(
                    database, sql: "SELECT term, replica FROM promise WHERE coordinator = ?",
                    arguments: [Journal.key(coordinator)])
                guard let row, let term = Int64.fromDatabaseValue(row["term"]) else { return (0, nil) }
                let replica = Int64.fromDatabaseValue(row["replica"])
                return (UInt64(clamping: term), replica.map { ReplicaID(rawValue: UInt64(bitPattern: $0)) })
            }
        } catch {
            throw Journal.failure(error, path)
        }
    }

    /// - Throws: `JournalError` where the file was deleted or replaced: what is promised then is forgotten at the next start.
    func checkFile() throws(JournalError) {
        if let file { try DatabaseFile.check(path, is: file) }
    }

    /// Stores a promise, or who has won a term that was promised. A lower term than the one that is stored changes nothing.
    func promise(_ term: UInt64, to replica: ReplicaID, about coordinator: CoordinatorID) async throws(JournalError) {
        try checkFile()
        do {
            try await queue.transaction { database in
                try database.execute(
                    sql: """
                        INSERT INTO promise(coordinator, term, replica) VALUES (?, ?, ?) ON CONFLICT(coordinator)
                        DO UPDATE SET term = excluded.term, replica = excluded.replica WHERE excluded.term >= term
                        """,
                    arguments: [
                        Journal.key(coordinator), Int64(clamping: term), Journal.key(replica),
                    ])
            }
        } catch {
            throw Journal.failure(error, path)
        }
    }

    // MARK: - Coordinators that have ended

    /// Whether a coordinator has ended for good, as far as is known here.
    func hasEnded(_ coordinator: CoordinatorID) -> Bool { ended.withLockedValue { $0.contains(coordinator) } }

    /// Stores that a coordinator has ended for good. What was promised about its journal need not be known any more.
    func end(_ coordinator: CoordinatorID) async throws(JournalError) {
        do {
            try await queue.transaction { database in
                try database.execute(
                    sql: "INSERT OR IGNORE INTO ended(coordinator) VALUES (?)", arguments: [Journal.key(coordinator)])
                try database.execute(
                    sql: "DELETE FROM promise WHERE coordinator = ?", arguments: [Journal.key(coordinator)])
                try database.execute(
                    sql: "DELETE FROM ended WHERE number <= (SELECT max(number) FROM ended) - ?",
                    arguments: [ReplicaBook.endedLimit])
            }
        } catch {
            throw Journal.failure(error, path)
        }
        ended.withLockedValue { _ = $0.insert(coordinator) }
    }

    /// How many ended coordinators are remembered. There is one for each loss of a node; a copy of an earlier one would be kept, and
    /// would do no other harm.
    private static let endedLimit = 16384

    // MARK: - Proofs

    /// Whether a folder's node has proved before that the folder is its own. So it can always prove it.
    func hasProved(_ replica: ReplicaID) -> Bool { proved.withLockedValue { $0.contains(replica) } }

    /// Stores that a folder's node has proved that the folder is its own.
    func noteProof(of replica: ReplicaID) async throws(JournalError) {
        guard proved.withLockedValue({ $0.insert(replica).inserted }) else { return }
        do {
            try await queue.transaction { database in
                try database.execute(
                    sql: "INSERT OR IGNORE INTO proved(replica) VALUES (?)", arguments: [Journal.key(replica)])
                try database.execute(
                    sql: "DELETE FROM proved WHERE number <= (SELECT max(number) FROM proved) - ?",
                    arguments: [ReplicaBook.endedLimit])
            }
        } catch {
            throw Journal.failure(error, path)
        }
    }

    // MARK: - Names

    /// The names of the nodes that were met, by their replicas.
    func names() async throws(JournalError) -> [ReplicaID: String] {
        do {
            return try await queue.uninterrupted { database in
                try Row.fetchAll(database, sql: "SELECT replica, name FROM peer").reduce(into: [:]) { names, row in
                    guard let id = Int64.fromDatabaseValue(row["replica"]) else { return }
                    names[ReplicaID(rawValue: UInt64(bitPattern: id))] = String.fromDatabaseValue(row["name"])
                }
            }
        } catch {
            throw Journal.failure(error, path)
        }
    }

    /// Stores what the node of a replica is called, so that a person can name it when it is lost.
    func store(_ name: String, of replica: ReplicaID) async throws(JournalError) {
        do {
            try await queue.transaction { database in
                try database.execute(
                    sql: "INSERT OR REPLACE INTO peer(replica, name) VALUES (?, ?)",
                    arguments: [Journal.key(replica), name])
                // Those that are here are met again, so nothing but names of the dead is lost.
                try database.execute(
                    sql: "DELETE FROM peer WHERE replica != ? AND (SELECT count(*) FROM peer) > ?",
                    arguments: [Journal.key(replica), ReplicaBook.nameLimit])
            }
        } catch {
            throw Journal.failure(error, path)
        }
    }

    private static let nameLimit = 4096
}
