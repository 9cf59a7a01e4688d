import Foundation
import GRDB
import NIOCore
import NIOFoundationCompat
import Transport

extension Journal {
    private static let tasksPerJob: Int64 = 1 << 31

    /// `false` where a task has a result or failure already.
    func append(_ entry: JournalEntry, to database: Database) throws -> Bool {
        switch entry {
        case .submitted(let job):
            try database.run(
                "INSERT OR IGNORE INTO job(id, token, request, submitted, program) VALUES (?, ?, ?, ?, ?)",
                [
                    Journal.key(job.id), job.token, try JSONEncoder().encode(job.request),
                    Int64(clamping: job.submitted), job.program,
                ])
        case .result(let result):
            try database.run(
                """
                INSERT OR IGNORE INTO result SELECT number * \(Journal.tasksPerJob) + ?, ?, ?, ? FROM job WHERE id = ?
                """,
                [
                    result.task.index, result.node, Journal.nanoseconds(result.duration), Data(buffer: result.payload),
                    Journal.key(result.job),
                ])
            guard database.changesCount > 0 else { return false }
            if let cacheKey = result.cacheKey { try remember(result.payload, as: cacheKey, in: database) }
        case .failed(let job, let task, let reason, let isBadInput):
            try database.run(
                "INSERT OR IGNORE INTO failure SELECT number * \(Journal.tasksPerJob) + ?, ?, ? FROM job WHERE id = ?",
                [task.index, reason, isBadInput, Journal.key(job)])
            return database.changesCount > 0
        case .ended(let job, let report, let time):
            try database.run(
                "UPDATE job SET report = ?, ended = ? WHERE id = ?",
                [try JSONEncoder().encode(report), Int64(clamping: time), Journal.key(job)])
        case .risked(let job, let risk):
            try database.run(
                "INSERT OR REPLACE INTO risk SELECT number * \(Journal.tasksPerJob) + ?, ?, ? FROM job WHERE id = ?",
                [risk.task.index, Int64(bitPattern: risk.node.rawValue), risk.isAlone, Journal.key(job)])
        case .deleted(let job):
            try deleteTasks(of: job, from: database)
            try database.run("DELETE FROM job WHERE id = ?", [Journal.key(job)])
        }
        return true
    }

    private func deleteTasks(of job: JobID, from database: Database) throws {
        for table in ["result", "failure", "risk"] {
            try database.run(
                """
                DELETE FROM \(table) WHERE key >= (SELECT number FROM job WHERE id = :id) * \(Journal.tasksPerJob)
                AND key < (SELECT number + 1 FROM job WHERE id = :id) * \(Journal.tasksPerJob)
                """, ["id": Journal.key(job)])
        }
    }

    /// Forgets what is stored of a job's tasks: its results will be of this version of the program.
    package func restart(_ job: JobID) async throws(JournalError) {
        try await write { [self] database in
            try deleteTasks(of: job, from: database)
            try database.run(
                "UPDATE job SET program = ? WHERE id = ?", [SkyNetVersion.current, Journal.key(job)])
        }
    }

    /// All jobs, the oldest first.
    package func jobs() async throws(JournalError) -> [StoredJob] {
        try await read { database in
            try Row.fetchAll(
                database, sql: "SELECT id, token, request, program, submitted, report, ended FROM job ORDER BY number"
            )
            .map { row in
                let (request, report) = (row["request"] as Data, row["report"] as Data?)
                return StoredJob(
                    id: JobID(rawValue: UInt64(bitPattern: row["id"])), token: row["token"],
                    request: try Journal.decode(JobRequest.self, request), program: row["program"],
                    submitted: UInt64(clamping: row["submitted"] as Int64),
                    report: try report.map { try Journal.decode(JobReport.self, $0) },
                    ended: (row["ended"] as Int64?).map { UInt64(clamping: $0) })
            }
        }
    }

    /// Results of a job in the order of tasks, as many as fit.
    ///
    /// - Parameters:
    ///   - task: the first wanted.
    ///   - count: how many at most.
    ///   - withPayloads: without them, payloads are empty: for jobs whose results mean nothing to anybody.
    package func results(
        of job: JobID, from task: Int, count: Int, withPayloads: Bool = true
    ) async throws(JournalError) -> [StoredResult] {
        try await read { database in
            let payload = withPayloads ? "result.payload" : "x''"
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT key - number * \(Journal.tasksPerJob) AS task, node, duration, \(payload) AS payload
                    FROM job JOIN result ON key >= number * \(Journal.tasksPerJob) + :task
                    AND key < (number + 1) * \(Journal.tasksPerJob)
                    WHERE id = :id ORDER BY key LIMIT :count
                    """, arguments: ["task": task, "id": Journal.key(job), "count": count])
            var results: [StoredResult] = []
            while let row = try rows.next() {
                results.append(
                    StoredResult(
                        job: job, task: TaskID(row["task"]), node: row["node"],
                        duration: .nanoseconds(row["duration"] as Int64),
                        payload: ByteBuffer(data: row["payload"])))
            }
            return results
        }
    }

    package func failures(of job: JobID) async throws(JournalError) -> [StoredFailure] {
        try await read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT key - number * \(Journal.tasksPerJob) AS task, reason, isBadInput
                    FROM job JOIN failure ON key >= number * \(Journal.tasksPerJob)
                    AND key < (number + 1) * \(Journal.tasksPerJob) WHERE id = ? ORDER BY key
                    """, arguments: [Journal.key(job)]
            ).map { StoredFailure(task: TaskID($0["task"]), reason: $0["reason"], isBadInput: $0["isBadInput"]) }
        }
    }

    /// Tasks that were about to be run on the coordinator's own node when that ended, and have neither result nor failure.
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
            ).map {
                TaskRisk(
                    task: TaskID($0["task"]), node: NodeID(rawValue: UInt64(bitPattern: $0["node"])),
                    isAlone: $0["alone"])
            }
        }
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(JournalError) -> Value {
        do {
            return try await queue.read(body)
        } catch let error as JournalError {
            throw error
        } catch {
            throw Journal.failure(error, nil)
        }
    }

    private static func decode<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            throw JournalError(.damaged, "the journal holds a job that cannot be read")
        }
    }

    private static func key(_ job: JobID) -> Int64 { Int64(bitPattern: job.rawValue) }

    private static func nanoseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
