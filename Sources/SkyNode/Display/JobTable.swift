import Base
import Foundation
import SkyCore
import Transport

/// The list of jobs as a person reads it.
struct JobTable {
    let lines: [String]

    /// - Parameters:
    ///   - namesNodes: whether each line says which node has the job.
    ///   - width: the columns that there are; `nil` for as many as the table takes.
    ///   - now: the time from which "2 min ago" counts; `nil` for times of day.
    init(
        _ jobs: [(node: String?, job: JobListing)], namesNodes: Bool, width: Int? = nil, now: Date? = nil,
        style: TextStyle = .plain
    ) {
        let listings = jobs.map(\.job)
        let ids = listings.map { "\($0.id)" }
        let states = listings.map { JobState($0) }
        let titles = listings.map { PrintableText.of($0.title) }
        var columns = [
            TableColumn("JOB", ids, shortCells: TableColumn.shortened(ids)),
            TableColumn("STATE", states.map(\.words), meanings: states.map(\.meaning)),
            TableColumn("DONE", listings.map { "\($0.status.completed)/\($0.status.scheduled)" }),
            TableColumn(
                "FAILED", listings.map { "\($0.status.failed)" },
                meanings: listings.map { $0.status.failed > 0 ? .bad : nil }),
            TableColumn("RUNNING", listings.map { "\($0.status.running)" }),
            TableColumn("PRIORITY", listings.map { "\($0.priority)" }),
            TableColumn("SUBMITTED", listings.map { JobTable.submitted($0, now) }),
            TableColumn("TIME", listings.map { DurationText.taken($0.status.elapsed.inSeconds) }),
        ]
        let copies = listings.map { CopyWords.short($0.copies) }
        let haveCopies = copies.contains { !$0.isEmpty }
        if haveCopies { columns.append(TableColumn("COPIES", copies)) }
        if listings.contains(where: { $0.submitter != nil }) {
            columns.append(TableColumn("BY", listings.map { PrintableText.of($0.submitter ?? "-") }))
        }
        if namesNodes { columns.append(TableColumn("NODE", jobs.map { $0.node ?? "" })) }
        // The column about what a job does may be of any length, so it comes last.
        columns.append(TableColumn("WHAT", titles, shortCells: titles.map(JobTable.withoutFolders)))
        let isUsual = listings.allSatisfy { $0.priority == 0 }
        let steps: [TextTable.Step] =
            (isUsual ? [.drop("PRIORITY")] : []) + [
                .shorten("JOB"), .shorten("WHAT"), .squeeze("WHAT", to: 20), .drop("COPIES"), .drop("BY"),
                .drop("RUNNING"),
                .drop("PRIORITY"),
                .drop("FAILED"),
            ]
        lines = TextTable(columns, steps: steps, width: width, style: style).lines
    }

    private static func submitted(_ job: JobListing, _ now: Date?) -> String {
        guard let now else { return time(job.submitted) }
        return DurationText.ago(now.timeIntervalSince1970 - Double(job.submitted) / 1000)
    }

    /// What a job does, with its files by their names.
    private static func withoutFolders(_ title: String) -> String {
        title.split(separator: " ").map { word in
            word.hasPrefix("/") ? word.split(separator: "/").last ?? word : word
        }.joined(separator: " ")
    }

    /// Why jobs cannot go on, once for each node.
    static func pauses(_ jobs: [(node: String?, job: JobListing)]) -> [String] {
        var published: Set<String> = []
        return jobs.compactMap { node, job in
            guard job.state == nil, let reason = job.reason else { return nil }
            let line = "\(node.map { "jobs of \($0) are" } ?? "jobs are") paused: \(PrintableText.of(reason))"
            return published.insert(line).inserted ? line : nil
        }
    }

    /// The state as programs read it. A job that has not ended and has a reason is paused: it cannot go on.
    static func state(_ job: JobListing) -> String {
        job.state?.rawValue ?? (job.reason == nil ? "running" : "paused")
    }

    /// The time in universal time.
    static func time(_ milliseconds: UInt64) -> String {
        Date(timeIntervalSince1970: Double(min(milliseconds, 253_402_300_799_000)) / 1000)
            .formatted(Date.ISO8601FormatStyle())
    }
}

/// One job in full, for people.
struct JobDetailLines {
    let lines: [String]

    init(_ job: JobListing, _ details: JobDetails, style: TextStyle = .plain) {
        let status = job.status
        let state = JobState(job)
        var lines = [
            "job        \(job.id)", "what       \(PrintableText.of(job.title))",
            "state      \(style.apply(state.meaning, to: state.words))",
        ]
        if let reason = job.reason { lines.append("because    \(PrintableText.of(reason))") }
        lines += [
            "submitted  \(JobTable.time(job.submitted))", "time       \(DurationText.taken(status.elapsed.inSeconds))",
            "priority   \(job.priority)",
            "tasks      \(status.scheduled) scheduled, \(status.running) running, \(status.completed) completed, "
                + "\(status.failed) failed, \(status.retries) retried",
        ]
        if let submitter = job.submitter {
            let limits = LimitWords.of(details.request.limits).map { "; \($0)" } ?? ""
            lines.append("by         \(PrintableText.of(submitter))\(limits)")
        }
        if let copies = job.copies, copies.wanted > 0 || !copies.copies.isEmpty {
            lines.append("copies     \(CopyWords.long(copies))")
        }
        if let cached = status.cached, cached > 0 {
            lines.append("cached     \(cached) of the completed, from earlier results")
        }
        for share in status.nodes {
            lines.append(
                "node       \(PrintableText.of(share.name)): \(share.completed) completed, \(share.running) running")
        }
        for failure in details.failures {
            lines.append("failed     \(PrintableText.of(failure.task)): \(PrintableText.of(failure.reason))")
        }
        if details.hiddenFailures > 0 { lines.append("failed     and \(details.hiddenFailures) more") }
        self.lines = lines
    }
}

/// One job as a program reads it.
struct JobLine: Encodable {
    var job: String
    var what: String
    var state: String
    var reason: String?
    var priority: Int
    var submitted: String
    var seconds: Double
    var scheduled: Int
    var running: Int
    var completed: Int
    var failed: Int
    var retried: Int
    var nodes: [String: Int]
    var cached: Int?
    var failures: [String: String]?
    /// The node that has the job, where several were asked.
    var coordinator: String?
    /// The person who submitted it, by their credential.
    var submitter: String?
    /// The limits of that person, by the credential that submitted it.
    var limits: PersonalLimits?
    var copies: CopyLine?

    init(_ job: JobListing, _ details: JobDetails? = nil, coordinator: String? = nil) {
        self.coordinator = coordinator
        self.job = "\(job.id)"
        what = job.title
        state = JobTable.state(job)
        reason = job.reason
        submitter = job.submitter
        limits = details?.request.limits
        copies = job.copies.map(CopyLine.init)
        priority = job.priority
        submitted = JobTable.time(job.submitted)
        seconds = job.status.elapsed.inSeconds
        scheduled = job.status.scheduled
        running = job.status.running
        completed = job.status.completed
        failed = job.status.failed
        retried = job.status.retries
        cached = job.status.cached
        nodes = Dictionary(job.status.nodes.map { ($0.name, $0.completed) }, uniquingKeysWith: +)
        failures = details.map { Dictionary($0.failures.map { ($0.task, $0.reason) }) { first, _ in first } }
    }
}

/// Jobs that are at no node now, as a program reads them.
struct WaitingLine: Encodable {
    /// The node that had them.
    var node: String
    var jobs: Int?
    /// Whether they wait for a person's word.
    var needsWord: Bool

    init(_ waiting: WaitingJobs) {
        (node, jobs, needsWord) = (waiting.node, waiting.jobs, waiting.needsWord)
    }
}
