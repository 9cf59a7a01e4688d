import Foundation
import GRDB
import NIOConcurrencyHelpers
import Transport

/// What a node must not forget as a keeper of copies: who it is, and what it has promised. It lies in the data folder, so that a
/// folder that was emptied is a new replica.
final class ReplicaBook: Sendable {
    let own: ReplicaID
    private let queue: DatabaseQueue
    private let path: String
    private let ended: NIOLockedValueBox<Set<CoordinatorID>>

    /// - Parameter folder: the node's data folder.
    /// - Throws: `JournalError` where the file cannot be made, read or written.
    init(in folder: String) throws(JournalError) {
        path = folder + "/replicas.sqlite"
        do {
            var configuration = Configuration()
            configuration.label = "replicas"
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            queue = try DatabaseQueue(path: path, configuration: configuration)
            let (own, ended) = try queue.write { database in
                try database.execute(
                    sql: """
                        CREATE TABLE IF NOT EXISTS own(id INTEGER NOT NULL);
                        CREATE TABLE IF NOT EXISTS promise(
                            coordinator INTEGER PRIMARY KEY, term INTEGER NOT NULL, replica INTEGER);
                        CREATE TABLE IF NOT EXISTS peer(replica INTEGER PRIMARY KEY, name TEXT NOT NULL);
                        CREATE TABLE IF NOT EXISTS ended(
                            number INTEGER PRIMARY KEY AUTOINCREMENT, coordinator INTEGER NOT NULL UNIQUE);
                        """)
                let ended = try Int64.fetchAll(database, sql: "SELECT coordinator FROM ended")
                    .map { CoordinatorID(rawValue: UInt64(bitPattern: $0)) }
                if let id = try Int64.fetchOne(database, sql: "SELECT id FROM own") {
                    return (ReplicaID(rawValue: UInt64(bitPattern: id)), Set(ended))
                }
                let id = ReplicaID.random()
                try database.execute(
                    sql: "INSERT INTO own(id) VALUES (?)", arguments: [Journal.key(id)])
                return (id, [])
            }
            self.own = own
            self.ended = NIOLockedValueBox(ended)
        } catch {
            throw Journal.failure(error, path)
        }
    }

    /// What was promised about a coordinator's journal.
    func promise(about coordinator: CoordinatorID) async throws(JournalError) -> (term: UInt64, to: ReplicaID?) {
        do {
            return try await queue.read { database in
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

    /// Stores a promise, or who has won a term that was promised. A lower term than the one that is stored changes nothing.
    func promise(_ term: UInt64, to replica: ReplicaID, about coordinator: CoordinatorID) async throws(JournalError) {
        do {
            try await queue.write { database in
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
            try await queue.write { database in
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

    // MARK: - Names

    /// The names of the nodes that were met, by their replicas.
    func names() async throws(JournalError) -> [ReplicaID: String] {
        do {
            return try await queue.read { database in
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
            try await queue.write { database in
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
