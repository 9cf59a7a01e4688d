import Base
import Foundation
import GRDB
import NIOCore
import NIOFoundationCompat
import Transport

extension Journal {
    static let tasksPerJob: Int64 = 1 << 31

    /// - Parameter numbers: the numbers of jobs that were looked up in this transaction.
    /// - Returns: `false` if the task has a result or failure already.
    func append(_ row: JournalRow, to database: Database, _ numbers: inout [JobID: Int64]) throws -> Bool {
        switch row {
        case .job(let job):
            let id = Journal.key(job.id)
            try database.run(
                """
                INSERT OR IGNORE INTO job(id, token, request, submitted, program, submittedRun, since, checksum)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    id, job.token, job.request, job.submitted, job.program, job.submittedRun, job.since,
                    RowChecksum.job(id, job.token, job.request),
                ])
        case .result(let result):
            guard let key = try Journal.key(of: result.task, in: result.job, database, &numbers) else { return true }
            let payload = Data(buffer: result.payload)
            try database.run(
                "INSERT OR IGNORE INTO result(key, node, duration, payload, checksum) VALUES (?, ?, ?, ?, ?)",
                [
                    key, result.node, result.duration, payload,
                    RowChecksum.result(key, result.node, result.duration, payload),
                ])
            guard database.changesCount > 0 else { return false }
            if let cacheKey = result.cacheKey { try remember(payload, as: cacheKey, in: database) }
        case .failure(let job, let task, let reason, let isBadInput):
            guard let key = try Journal.key(of: task, in: job, database, &numbers) else { return true }
            try database.run(
                "INSERT OR IGNORE INTO failure(key, reason, isBadInput, checksum) VALUES (?, ?, ?, ?)",
                [key, reason, isBadInput, RowChecksum.failure(key, reason, isBadInput)])
            return database.changesCount > 0
        case .report(let job, let text, let ended, let endedRun):
            let id = Journal.key(job)
            try database.run(
                "UPDATE job SET report = ?, ended = ?, endedRun = ?, reportChecksum = ? WHERE id = ?",
                [text, ended, endedRun, RowChecksum.report(id, text), id])
        case .risk(let job, let risk):
            try database.run(
                "INSERT OR REPLACE INTO risk SELECT number * \(Journal.tasksPerJob) + ?, ?, ? FROM job WHERE id = ?",
                [risk.task.index, Int64(bitPattern: risk.node.rawValue), risk.isAlone, Journal.key(job)])
        case .deletion(let job):
            numbers[job] = nil
            // The job may have many tasks, so `sweep` deletes them a few at a time.
            try database.run("INSERT OR IGNORE INTO deletion SELECT number FROM job WHERE id = ?", [Journal.key(job)])
            try database.run("DELETE FROM job WHERE id = ?", [Journal.key(job)])
        case .restart(let job, let program, let since):
            for table in ["result", "failure", "risk"] {
                try database.execute(
                    sql: """
                        DELETE FROM \(table) WHERE key >= (SELECT number FROM job WHERE id = :id) * \(Journal.tasksPerJob)
                        AND key < (SELECT number + 1 FROM job WHERE id = :id) * \(Journal.tasksPerJob)
                        """, arguments: ["id": Journal.key(job)])
            }
            try database.run("UPDATE job SET program = ?, since = ? WHERE id = ?", [program, since, Journal.key(job)])
        case .coordinator(let id, let secret):
            try Journal.note(id, secret, in: database)
        case .unwritable(_, let reason): throw UnwritableRow(reason: reason)
        }
        return true
    }

    /// An entry that cannot be written down is refused, and its job given up.
    private struct UnwritableRow: Error, CustomStringConvertible {
        var reason: String
        var description: String { reason }
    }

    /// The key of a task's row; `nil` if its job is gone.
    private static func key(
        of task: Int, in job: JobID, _ database: Database, _ numbers: inout [JobID: Int64]
    ) throws -> Int64? {
        if numbers[job] == nil {
            let statement = try database.cachedStatement(sql: "SELECT number FROM job WHERE id = ?")
            numbers[job] = try Int64.fetchOne(statement, arguments: [key(job)])
        }
        return numbers[job].map { $0 * tasksPerJob + Int64(task) }
    }

    /// Deletes the remaining rows of deleted jobs, a few in each transaction. Other jobs can store their results in
    /// between, and a full disk has room for a small transaction.
    ///
    /// - Returns: how much the journal holds then.
    func sweep() async throws(JournalError) -> JournalRoom {
        while true {
            var swept: (goesOn: Bool, room: JournalRoom, isShort: Bool)
            do {
                swept = try await sweepStep()
            } catch {
                // The rows deleted so far are in the write-ahead log, and take room there.
                guard error.kind == .full else { throw error }
                _ = ballast?.release()
                await checkpoint()
                swept = try await sweepStep()
            }
            if swept.isShort { await checkpoint() }
            guard swept.goesOn else { return swept.room }
        }
    }

    /// Deletes some rows of deleted jobs in one transaction.
    ///
    /// - Returns: whether there may be more, how much the journal holds then, and whether the disk is short of room.
    private func sweepStep() async throws(JournalError) -> (goesOn: Bool, room: JournalRoom, isShort: Bool) {
        try await withQueue { [self] database in
            let goesOn = try database.transaction(Journal.deleteRows)
            return (goesOn, try roomWithLog(database), isShortOfRoom)
        }
    }

    /// - Returns: whether there may be more rows of deleted jobs.
    private static func deleteRows(_ database: Database) throws -> Bool {
        var left = Journal.sweepRows
        while left > 0,
            let number = try Int64.fetchOne(
                database.cachedStatement(sql: "SELECT number FROM deletion LIMIT 1"))
        {
            let keys = [number * Journal.tasksPerJob, (number + 1) * Journal.tasksPerJob]
            for table in ["result", "failure", "risk"] where left > 0 {
                try database.run(
                    """
                    DELETE FROM \(table) WHERE key IN
                    (SELECT key FROM \(table) WHERE key >= ? AND key < ? LIMIT ?)
                    """, [keys[0], keys[1], left])
                left -= database.changesCount
            }
            guard left > 0 else { break }
            try database.run("DELETE FROM deletion WHERE number = ?", [number])
            left -= 1
        }
        return left <= 0
    }

    /// The most rows that one transaction deletes.
    private static let sweepRows = 2000

    /// All jobs, the oldest first, and a message about each damaged job. Damaged jobs stay in the journal but are not in
    /// the list.
    package func jobs() async throws(JournalError) -> (jobs: [StoredJob], damaged: [String]) {
        try await read { database in
            var (jobs, damaged): ([StoredJob], [String]) = ([], [])
            let rows = try Row.fetchCursor(database, sql: "SELECT * FROM job ORDER BY number")
            while let row = try rows.next() {
                do throws(JournalError) {
                    jobs.append(try StoredJob(row))
                } catch {
                    let name = Int64.fromDatabaseValue(row["id"]).map { "\(JobID(rawValue: UInt64(bitPattern: $0)))" }
                    damaged.append("job \(name ?? "of unknown id"): \(error.message)")
                }
            }
            return (jobs, damaged)
        }
    }

    /// Results of a job in the order of tasks, `count` at most.
    ///
    /// - Parameters:
    ///   - task: the number of the first task.
    ///   - count: the most results that are returned.
    ///   - withPayloads: `false` leaves the payloads empty, for jobs that do not need to read their results.
    package func results(
        of job: JobID, from task: Int, count: Int, withPayloads: Bool = true
    ) async throws(JournalError) -> [StoredResult] {
        try await read { database in
            let payload = withPayloads ? "result.payload" : "x''"
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT key, key - number * \(Journal.tasksPerJob) AS task, node, duration, \(payload) AS payload,
                    result.checksum AS checksum FROM job JOIN result ON key >= number * \(Journal.tasksPerJob) + :task
                    AND key < (number + 1) * \(Journal.tasksPerJob)
                    WHERE id = :id ORDER BY key LIMIT :count
                    """, arguments: ["task": task, "id": Journal.key(job), "count": count])
            var results: [StoredResult] = []
            while let row = try rows.next() {
                let task: Int = row["task"]
                guard let node = String.fromDatabaseValue(row["node"]),
                    let duration = Int64.fromDatabaseValue(row["duration"]), duration >= 0,
                    let payload = Data.fromDatabaseValue(row["payload"]),
                    !withPayloads
                        || Journal.isWhole(row["checksum"], RowChecksum.result(row["key"], node, duration, payload))
                else { throw Journal.damagedTask(task, of: job) }
                results.append(
                    StoredResult(
                        job: job, task: TaskID(task), node: node, duration: .nanoseconds(duration),
                        payload: ByteBuffer(data: payload)))
            }
            return results
        }
    }

    /// Tasks of a job that failed for good, in the order of tasks.
    ///
    /// - Parameter count: the most failures that are returned.
    package func failures(of job: JobID, count: Int = .max) async throws(JournalError) -> [StoredFailure] {
        try await read { database in
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT key, key - number * \(Journal.tasksPerJob) AS task, reason, isBadInput,
                    failure.checksum AS checksum
                    FROM job JOIN failure ON key >= number * \(Journal.tasksPerJob)
                    AND key < (number + 1) * \(Journal.tasksPerJob) WHERE id = ? ORDER BY key LIMIT ?
                    """, arguments: [Journal.key(job), count])
            var failures: [StoredFailure] = []
            while let row = try rows.next() {
                let task: Int = row["task"]
                guard let reason = String.fromDatabaseValue(row["reason"]),
                    let isBadInput = Bool.fromDatabaseValue(row["isBadInput"]),
                    Journal.isWhole(row["checksum"], RowChecksum.failure(row["key"], reason, isBadInput))
                else { throw Journal.damagedTask(task, of: job) }
                failures.append(StoredFailure(task: TaskID(task), reason: reason, isBadInput: isBadInput))
            }
            return failures
        }
    }

    /// Whether a row is what was written. Rows of earlier versions have no checksum and pass.
    static func isWhole(_ stored: DatabaseValue, _ checksum: Int64) -> Bool {
        stored.isNull || Int64.fromDatabaseValue(stored) == checksum
    }

    private static func damagedTask(_ task: Int, of job: JobID) -> JournalError {
        JournalError(.damagedJob, "what is stored of task \(task + 1) of job \(job) is damaged; submit it once more")
    }

    /// Tasks that were about to run on the coordinator's own node when that ended, and that have neither a result nor a failure.
    package func risks(of job: JobID) async throws(JournalError) -> [TaskRisk] {
        try await read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT risk.key - number * \(Journal.tasksPerJob) AS task, node, alone
                    FROM job JOIN risk ON risk.key >= number * \(Journal.tasksPerJob)
                    AND risk.key < (number + 1) * \(Journal.tasksPerJob) WHERE id = ?
                    AND risk.key NOT IN (SELECT key FROM result) AND risk.key NOT IN (SELECT key FROM failure)
                    ORDER BY risk.key
                    """, arguments: [Journal.key(job)]
            ).compactMap { row in
                // A damaged row blames nobody.
                guard let node = Int64.fromDatabaseValue(row["node"]),
                    let isAlone = Bool.fromDatabaseValue(row["alone"])
                else { return nil }
                return TaskRisk(
                    task: TaskID(row["task"]), node: NodeID(rawValue: UInt64(bitPattern: node)), isAlone: isAlone)
            }
        }
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(JournalError) -> Value {
        do {
            // Not by GRDB's `read`, which asks SQLite about a connection that is gone where the journal was closed, and crashes.
            return try await queue.uninterrupted { database in
                guard database.sqliteConnection != nil else {
                    throw JournalError(.inaccessible, "the journal is closed")
                }
                var value = Result<Value, any Error>.failure(CancellationError())
                try database.readOnly {
                    try database.inSavepoint {
                        value = .success(try body(database))
                        return .commit
                    }
                }
                return try value.get()
            }
        } catch let error as JournalError {
            throw error
        } catch {
            throw Journal.failure(error, nil)
        }
    }

    /// An identity, as a column holds it.
    static func key<Subject>(_ id: Identity<Subject>) -> Int64 { Int64(bitPattern: id.rawValue) }

    /// The duration in nanoseconds, as a column holds it. Durations that peers send may be too long for a column, so they
    /// are cut.
    static func nanoseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = min(max(.zero, duration), longestDuration).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    static func milliseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = min(max(.zero, duration), longestDuration).components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }

    /// A hundred years, which fit into a column as nanoseconds.
    private static let longestDuration = Duration.seconds(100 * 366 * 86_400)
}

extension StoredJob {
    /// - Throws: `JournalError` if the row is not what was written.
    fileprivate init(_ row: Row) throws(JournalError) {
        guard let id = Int64.fromDatabaseValue(row["id"]), let request = Data.fromDatabaseValue(row["request"]),
            let submitted = Int64.fromDatabaseValue(row["submitted"])
        else { throw JournalError(.damagedJob, "a column has no value that can be read") }
        let token = String.fromDatabaseValue(row["token"])
        let report = Data.fromDatabaseValue(row["report"])
        guard Journal.isWhole(row["checksum"], RowChecksum.job(id, token, request)),
            Journal.isWhole(row["reportChecksum"], RowChecksum.report(id, report))
        else { throw JournalError(.damagedJob, "it is damaged: its checksum does not fit") }
        do {
            self.init(
                id: JobID(rawValue: UInt64(bitPattern: id)), token: token,
                request: try JournalText.decode(JobRequest.self, request),
                program: String.fromDatabaseValue(row["program"]), submitted: UInt64(clamping: submitted),
                report: try report.map { try JournalText.decode(JobReport.self, $0) },
                ended: Int64.fromDatabaseValue(row["ended"]).map { UInt64(clamping: $0) })
            try self.request.validate()
        } catch {
            throw JournalError(.damagedJob, "its request or report cannot be read: \(error)")
        }
        submittedRun = Int64.fromDatabaseValue(row["submittedRun"]).flatMap(StoredJob.run)
        endedRun = Int64.fromDatabaseValue(row["endedRun"]).flatMap(StoredJob.run)
        resultsSince = Int64.fromDatabaseValue(row["since"]).map { UInt64(clamping: $0) }
    }

    /// Returns `nil` for a time that no coordinator can have run.
    private static func run(_ milliseconds: Int64) -> Duration? {
        (0...1000 * 366 * 86_400_000).contains(milliseconds) ? .milliseconds(milliseconds) : nil
    }
}
