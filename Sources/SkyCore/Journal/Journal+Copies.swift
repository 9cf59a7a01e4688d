import Foundation
import GRDB
import NIOCore
import NIOFoundationCompat
import Transport

// MARK: - Reading a whole journal, page by page

extension Journal {
    /// The tables of a copy, in the order in which they are read.
    private enum CopiedTable: UInt64 {
        case job, result, failure, risk
    }

    /// Two bits of a cursor are the table; the others are the next key in it.
    private static let cursorBits: UInt64 = 61
    /// The most rows and bytes of a page.
    private static let pageLimit = (rows: 10_000, bytes: 1 << 20)

    /// The next page of everything that is stored.
    ///
    /// - Parameter cursor: 0 for the first page.
    /// - Returns: the page, and where the next one begins; `nil` after the last.
    func page(from cursor: UInt64) async throws(JournalError) -> (page: CopiedRows, next: UInt64?) {
        try await read { database in
            var rows = cursor == 0 ? try Journal.identity(database) : []
            var (cursor, bytes) = (cursor as UInt64?, 0)
            while let place = cursor, rows.count < Journal.pageLimit.rows, bytes < Journal.pageLimit.bytes {
                guard let table = CopiedTable(rawValue: place >> Journal.cursorBits) else { break }
                let key = Int64(place & (1 << Journal.cursorBits - 1))
                let (found, next) = try Journal.rows(
                    of: table, from: key, count: Journal.pageLimit.rows - rows.count,
                    bytes: Journal.pageLimit.bytes - bytes, database)
                rows += found
                bytes += found.reduce(0) { $0 + $1.byteCount }
                if let next {
                    guard next < 1 << Journal.cursorBits else {
                        throw JournalError(.inaccessible, "it holds too many jobs to be copied")
                    }
                    cursor = table.rawValue << Journal.cursorBits | UInt64(next)
                } else {
                    cursor = CopiedTable(rawValue: table.rawValue + 1).map { $0.rawValue << Journal.cursorBits }
                }
            }
            return (CopiedRows(rows, ran: nil), cursor)
        }
    }

    /// Rows of one table, and the key of the next one; `nil` where there is none.
    private static func rows(
        of table: CopiedTable, from key: Int64, count: Int, bytes limit: Int, _ database: Database
    ) throws -> (rows: [JournalRow], next: Int64?) {
        var (found, bytes): ([JournalRow], Int) = ([], 0)
        func isFull(_ row: JournalRow) -> Bool {
            bytes += row.byteCount
            return !found.isEmpty && (bytes > limit || found.count >= count)
        }
        if table == .job {
            let rows = try Row.fetchCursor(
                database, sql: "SELECT * FROM job WHERE number >= ? ORDER BY number", arguments: [key])
            while let row = try rows.next() {
                let id = JobID(rawValue: UInt64(bitPattern: row["id"]))
                let job = JournalRow.job(
                    JournalRow.JobRow(
                        id: id, token: row["token"], request: row["request"], submitted: row["submitted"],
                        program: row["program"], submittedRun: row["submittedRun"], since: row["since"]))
                if isFull(job) { return (found, row["number"]) }
                found.append(job)
                guard let text = row["report"] as Data? else { continue }
                found.append(
                    .report(job: id, text: text, ended: row["ended"] ?? 0, endedRun: row["endedRun"] ?? 0))
            }
            return (found, nil)
        }
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT \(table).*, job.id AS jobID, \(table).key - job.number * \(tasksPerJob) AS task
                FROM \(table) JOIN job ON job.number = \(table).key / \(tasksPerJob)
                WHERE \(table).key >= ? ORDER BY \(table).key
                """, arguments: [key])
        while let row = try rows.next() {
            let job = JobID(rawValue: UInt64(bitPattern: row["jobID"]))
            let task: Int = row["task"]
            let next: JournalRow
            switch table {
            case .result:
                next = .result(
                    JournalRow.ResultRow(
                        job: job, task: task, node: row["node"], duration: row["duration"],
                        payload: ByteBuffer(data: row["payload"])))
            case .failure: next = .failure(job: job, task: task, reason: row["reason"], isBadInput: row["isBadInput"])
            case .risk, .job:
                next = .risk(
                    job: job,
                    TaskRisk(
                        task: TaskID(task), node: NodeID(rawValue: UInt64(bitPattern: row["node"])),
                        isAlone: row["alone"]))
            }
            if isFull(next) { return (found, row["key"]) }
            found.append(next)
        }
        return (found, nil)
    }

    /// The payload of a task's result; `nil` if there is none.
    static func payload(of task: Int, in job: JobID, _ database: Database) throws -> ByteBuffer? {
        let statement = try database.cachedStatement(
            sql: "SELECT payload FROM result WHERE key = (SELECT number FROM job WHERE id = ?) * \(tasksPerJob) + ?")
        // A damaged column may hold anything.
        let payload = try DatabaseValue.fetchOne(statement, arguments: [key(job), task]) ?? .null
        return Data.fromDatabaseValue(payload).map { ByteBuffer(data: $0) }
    }

    /// Whose journal it is, as it is stored: a copy of which pages are read has no incarnation. An earlier version stored no secret.
    private static func identity(_ database: Database) throws -> [JournalRow] {
        let row = try Row.fetchOne(database, sql: "SELECT id, secret FROM coordinator")
        guard let row, let id = Int64.fromDatabaseValue(row["id"]), let secret = Data.fromDatabaseValue(row["secret"])
        else { return [] }
        return [.coordinator(CoordinatorID(rawValue: UInt64(bitPattern: id)), secret: secret)]
    }

    /// Notes whose journal a copy is.
    static func note(_ coordinator: CoordinatorID, _ secret: Data, in database: Database) throws {
        let id = key(coordinator)
        if try database.number("SELECT count(*) FROM coordinator") == 0 {
            // The copy is taken over when its coordinator is lost, which may be because of one of its tasks.
            try database.run(
                "INSERT INTO coordinator(id, generation, closed, secret) VALUES (?, 0, 0, ?)", [id, secret])
        } else {
            try database.run("UPDATE coordinator SET id = ?, secret = ?", [id, secret])
        }
    }
}
