import Foundation
import GRDB
import NIOCore
import NIOFoundationCompat

/// A batch as a journal keeps it beside the rows that it brought.
struct StoredBatch: Sendable {
    var batch: LogBatch<CopiedRows>
    /// What is kept of its content; see `CopiedRows.trimmed`.
    var body: ByteBuffer?
    /// The members after the batch.
    var set: ReplicaSet
    /// The first batch that is still wanted; `nil` where none is, because nobody keeps a copy.
    var keepFrom: UInt64?

    /// Stores batches that follow each other, those that are wanted, and how far the journal is with them.
    static func store(_ batches: [StoredBatch], in database: Database) throws {
        guard let last = batches.last else { return }
        for batch in batches {
            if let keepFrom = batch.keepFrom {
                try batch.store(keeping: keepFrom, in: database)
            } else {
                try database.run("DELETE FROM batch", [])
            }
        }
        let position = last.batch.position
        if !batches.contains(where: { $0.batch.set != nil }) {
            try database.run(
                "UPDATE replica SET term = ?, number = ?, hash = ?",
                [Int64(position.term), Int64(position.number), Int64(bitPattern: position.hash)])
            if database.changesCount > 0 { return }
        }
        try store(position, last.set, in: database)
    }

    private func store(keeping keepFrom: UInt64, in database: Database) throws {
        let members = try batch.set.map { try JournalText.encode($0) }
        let (position, previous) = (batch.position, batch.previous)
        try database.run(
            """
            INSERT OR REPLACE INTO batch(number, term, hash, previousTerm, previousHash, members, body)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                Int64(position.number), Int64(position.term), Int64(bitPattern: position.hash), Int64(previous.term),
                Int64(bitPattern: previous.hash), members, body.map { Data(buffer: $0) },
            ])
        // Those that are not wanted any more are deleted a few at a time: each deletion costs pages of the disk.
        guard position.number.isMultiple(of: StoredBatch.deletionInterval) else { return }
        try database.run("DELETE FROM batch WHERE number < ?", [Int64(keepFrom)])
    }

    /// How many batches are stored until those that are not wanted any more are deleted.
    private static let deletionInterval: UInt64 = 16

    /// Stores how far a journal is.
    static func store(_ position: LogPosition, _ set: ReplicaSet, in database: Database) throws {
        try database.run("DELETE FROM replica", [])
        try database.run(
            "INSERT INTO replica(term, number, hash, members) VALUES (?, ?, ?, ?)",
            [
                Int64(position.term), Int64(position.number), Int64(bitPattern: position.hash),
                try JournalText.encode(set),
            ])
    }

    /// How far a journal is, and its last batches; `nil` if there have never been copies of it.
    static func read(
        _ database: Database
    ) throws -> (position: LogPosition, set: ReplicaSet, recent: RecentBatches<CopiedRows>)? {
        guard let row = try Row.fetchOne(database, sql: "SELECT * FROM replica"),
            let term = Int64.fromDatabaseValue(row["term"]), let number = Int64.fromDatabaseValue(row["number"]),
            let hash = Int64.fromDatabaseValue(row["hash"]), let members = Data.fromDatabaseValue(row["members"])
        else { return nil }
        let position = LogPosition(
            term: UInt64(clamping: term), number: UInt64(clamping: number), hash: UInt64(bitPattern: hash))
        let set = try JournalText.decode(ReplicaSet.self, members)
        var recent = RecentBatches<CopiedRows>()
        let rows = try Row.fetchCursor(database, sql: "SELECT * FROM batch ORDER BY number")
        while let row = try rows.next() {
            // A damaged batch, or a gap, costs a whole copy later.
            guard let batch = try LogBatch(row, in: database), batch.isWhole, recent.isNext(batch) else {
                recent.removeAll()
                continue
            }
            recent.append(batch)
        }
        if !recent.contains(position) { recent.removeAll() }
        return (position, set, recent)
    }
}

extension LogBatch<CopiedRows> {
    fileprivate init?(_ row: Row, in database: Database) throws {
        guard let number = Int64.fromDatabaseValue(row["number"]), number > 0,
            let term = Int64.fromDatabaseValue(row["term"]), let hash = Int64.fromDatabaseValue(row["hash"]),
            let previousTerm = Int64.fromDatabaseValue(row["previousTerm"]),
            let previousHash = Int64.fromDatabaseValue(row["previousHash"])
        else { return nil }
        previous = LogPosition(
            term: UInt64(clamping: previousTerm), number: UInt64(number - 1), hash: UInt64(bitPattern: previousHash))
        position = LogPosition(
            term: UInt64(clamping: term), number: UInt64(number), hash: UInt64(bitPattern: hash))
        if let body = Data.fromDatabaseValue(row["body"]) {
            let content = try CopiedRows(kept: ByteBuffer(data: body)) { try Journal.payload(of: $1, in: $0, database) }
            guard let content else { return nil }
            self.content = content
        }
        set = Data.fromDatabaseValue(row["members"]).flatMap { try? JournalText.decode(ReplicaSet.self, $0) }
    }
}
