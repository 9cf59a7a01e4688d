import Base
import Dispatch
import Foundation
import GRDB
import NIOCore
import NIOFoundationCompat

@testable import SkyCore
@testable import SkyJobs
@testable import Transport

/// A journal in whose rows anything stands, read as at a start. There is one database in memory for all runs, with a few rows in
/// each run.
enum JournalTarget: FuzzTarget {
    static let name = "journal"
    static let limit = RunLimit.brief

    private static let journal = honest { try Journal.inMemory() }
    private static let tasksPerJob: Int64 = 1 << 31

    static func run(_ input: FuzzInput) {
        var input = input
        do {
            try journal.queue.writeWithoutTransaction { database in
                try database.execute(sql: "SAVEPOINT run")
                for table in ["job", "result", "failure", "risk", "deletion", "cache"] {
                    try database.run("DELETE FROM \(table)", [])
                }
                write(&input, to: database)
                try database.execute(sql: "RELEASE run")
            }
        } catch {
            fatalError("does not hold: rows can be written: \(error)")
        }
        let wall = input.hostileUnsigned()
        finish { await start(wall: wall) }
    }

    /// Waits for work that would otherwise go on in a task.
    private static func finish(_ body: @escaping @Sendable () async -> Void) {
        let end = DispatchSemaphore(value: 0)
        Task {
            await body()
            end.signal()
        }
        end.wait()
    }

    // MARK: - Rows

    private static func write(_ input: inout FuzzInput, to database: Database) {
        let count = 1 + Int(input.byte() & 1)
        for number in 1...Int64(count) {
            let request = HonestRequests.job(&input)
            writeJob(number, request, &input, to: database)
            writeTasks(of: number, request, &input, to: database)
        }
    }

    /// A request as it was stored, or what a disk or somebody with an editor made of it.
    private static func writeJob(
        _ number: Int64, _ honest: JobRequest, _ input: inout FuzzInput, to database: Database
    ) {
        var text: Data?
        if let request = input.hostile(honest) { text = try? JournalText.encode(request) }
        var report: Data?
        if input.byte() & 3 == 3 {
            let sample = JobReport(
                state: .done, reason: nil, scheduled: 3, completed: 2, failed: 1, retries: 0, duration: .seconds(9),
                nodes: [NodeShare(name: "anna", completed: 2, running: 0)], cached: 0, work: [NodeWork(name: "anna")])
            report = input.hostile(sample).flatMap { try? JournalText.encode($0) }
        }
        let id = input.byte() & 7 == 7 ? input.hostileInteger() : number
        let token = input.bool() ? nil : "night \(number)"
        let request = text ?? Data(input.take(8))
        var columns: [(any DatabaseValueConvertible)?] = [
            number, id, token, request, Int64(1_800_000_000_000), report, nil, JobKinds.arithmetic.text, 5000, 6000,
            nil,
            RowChecksum.job(id, token, request), report.map { RowChecksum.report(id, $0) },
        ]
        for _ in 0..<input.byte() & 3 {
            let place = 2 + Int(input.byte()) % (columns.count - 2)
            columns[place] = column(&input)
        }
        // Values that no row can hold are left out.
        try? database.run(
            """
            INSERT INTO job(number, id, token, request, submitted, report, ended, program, submittedRun, endedRun, since,
            checksum, reportChecksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, StatementArguments(columns))
    }

    private static func writeTasks(
        of number: Int64, _ request: JobRequest, _ input: inout FuzzInput, to database: Database
    ) {
        // The plan goes on with what was stored, as it did when that came.
        var plan = request.kind.request.plan()
        var tasks = plan.begin().newTasks
        for task in 0..<24 where task < tasks {
            let key = number * tasksPerJob + Int64(task)
            guard let work = plan.task(task)?.work else { break }
            switch input.byte() & 31 {
            case 0:
                let reason = input.hostileText()
                try? database.run(
                    "INSERT INTO failure(key, reason, isBadInput, checksum) VALUES (?, ?, ?, ?)",
                    [key, reason, input.bool(), input.bool() ? nil : RowChecksum.failure(key, reason, false)])
                tasks += plan.failed(task, reason, isBadInput: false).newTasks
            case 1: writeDamaged(key, &input, to: database)
            case 2: continue
            default:
                let honest = HonestResults.result(
                    of: work, in: (plan as? SkyPlan)?.phases.info, richness: input.byte())
                guard let result = input.hostile(honest), let bytes = try? WireCoder.encode(result) else { continue }
                let payload = Data(buffer: bytes)
                try? database.run(
                    "INSERT INTO result(key, node, duration, payload, checksum) VALUES (?, ?, ?, ?, ?)",
                    [key, "anna", 5_000_000, payload, RowChecksum.result(key, "anna", 5_000_000, payload)])
                tasks += plan.completed(task, result).newTasks
            }
        }
        if input.byte() & 7 == 7 {
            let key = number * tasksPerJob + (input.hostileInteger() & (1 << 31 - 1))
            try? database.run("INSERT INTO risk VALUES (?, ?, ?)", [key, column(&input), column(&input)])
        }
    }

    private static func writeDamaged(_ key: Int64, _ input: inout FuzzInput, to database: Database) {
        if input.bool() {
            try? database.run(
                "INSERT INTO result(key, node, duration, payload, checksum) VALUES (?, ?, ?, ?, NULL)",
                [key, column(&input), column(&input), column(&input)])
        } else {
            try? database.run(
                "INSERT INTO failure(key, reason, isBadInput, checksum) VALUES (?, ?, ?, NULL)",
                [key, column(&input), column(&input)])
        }
    }

    /// A column of SQLite's holds a value of any type, whatever the table says.
    private static func column(_ input: inout FuzzInput) -> (any DatabaseValueConvertible)? {
        switch input.byte() % 5 {
        case 0: nil
        case 1: input.hostileInteger()
        case 2: input.hostileReal()
        case 3: input.hostileText()
        default: Data(input.take(12))
        }
    }

    // MARK: - A start

    /// Starts as `Coordinator.restore` does, and asks for what is asked of each job then.
    private static func start(wall: UInt64) async {
        var core = CoordinatorCore(
            incarnation: CoordinatorIncarnation(HostileCluster.coordinator, generation: 3), secret: [1, 2, 3],
            node: HostileCluster.own, name: "anna", ranBefore: .seconds(9))
        guard let (jobs, damaged) = try? await journal.jobs() else {
            fatalError("does not hold: one row does not keep a node from starting")
        }
        require(jobs.count + damaged.count <= 2, "a job for a row")
        for words in damaged { require(isOneLine(PrintableText.of(words)), "a line of a log") }
        for job in jobs {
            var replay = JobReplay(job.request)
            if job.report == nil {
                guard let whole = try? await journal.replay(job) else { continue }
                replay = whole
            }
            _ = core.at(.zero, wall: wall) { $0.restore(job, replay) }
            _ = try? await journal.failures(of: job.id, count: 20)
        }
        _ = core.at(.milliseconds(1), wall: wall) { $0.forgetOldJobs() }
        _ = core.at(.milliseconds(2), wall: wall) { $0.joined(HostileCluster.own, name: "anna", isDraining: false) }
        let lease = Lease(coordinator: HostileCluster.coordinator, fencingToken: 1, slots: 3)
        let outputs = core.at(.milliseconds(3), wall: wall) { $0.reserved(lease, on: HostileCluster.own) }
        for case .effect(.call(let call)) in outputs where call.kind == .assign {
            while let assignment = core.nextAssignment(for: call.node) {
                require((try? assignment.validate()) != nil, "a node takes what a coordinator sends")
            }
        }
        _ = core.at(.seconds(400 * 86_400), wall: 0) { $0.tick() }
        for job in core.jobs.order {
            require(core.explain(job, now: core.now) != nil, "there is a reason for everything")
        }
    }

    static func seeds() -> [[UInt8]] {
        let kinds: [UInt8] = [0, 2, 3, 7, 11, 19, 35, 67, 131]
        var seeds: [[UInt8]] = []
        for kind in kinds {
            let honest: [UInt8] = [0, kind, 0, 0, 0, 0, 1, 0]
            seeds.append(honest + [UInt8](repeating: 4, count: 40))
            let reported: [UInt8] = [1, kind, 0, 0, 3, 0, 1, 0]
            seeds.append(reported + [UInt8](repeating: 12, count: 40))
            let damaged: [UInt8] = [0, kind, 0, 1, 0, 5, 9, 0, 0, 1, 2]
            seeds.append(damaged + (0..<40).map { $0 &* 11 })
        }
        return seeds
    }
}
