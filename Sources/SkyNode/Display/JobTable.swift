import Base
import Foundation
import SkyCore
import Transport

/// The list of jobs as a person reads it.
struct JobTable {
    let lines: [String]

    private static let head = ["JOB", "STATE", "DONE", "FAILED", "RUNNING", "PRIORITY", "SUBMITTED", "TIME", "WHAT"]

    /// - Parameter namesNodes: whether each line says which node has the job.
    init(_ jobs: [(node: String?, job: JobListing)], namesNodes: Bool) {
        func line(_ cells: [String], _ node: String) -> [String] {
            // What a job does is of any length, and last.
            namesNodes ? cells.dropLast() + [node] + cells.suffix(1) : cells
        }
        lines =
            TextTable(
                head: line(JobTable.head, "NODE"), rows: jobs.map { line(JobTable.row($0.job), $0.node ?? "") }
            ).lines
    }

    /// Why jobs cannot go on, once for each node.
    static func pauses(_ jobs: [(node: String?, job: JobListing)]) -> [String] {
        var told: Set<String> = []
        return jobs.compactMap { node, job in
            guard job.state == nil, let reason = job.reason else { return nil }
            let line = "\(node.map { "jobs of \($0) are" } ?? "jobs are") paused: \(PrintableText.of(reason))"
            return told.insert(line).inserted ? line : nil
        }
    }

    private static func row(_ job: JobListing) -> [String] {
        let status = job.status
        return [
            "\(job.id)", JobTable.state(job), "\(status.completed)/\(status.scheduled)", "\(status.failed)",
            "\(status.running)", "\(job.priority)", JobTable.time(job.submitted),
            NodeTable.age(status.elapsed.inSeconds), PrintableText.of(job.title),
        ]
    }

    /// A job that goes on and has a reason is one that cannot.
    static func state(_ job: JobListing) -> String {
        job.state?.rawValue ?? (job.reason == nil ? "running" : "paused")
    }

    /// In universal time.
    static func time(_ milliseconds: UInt64) -> String {
        Date(timeIntervalSince1970: Double(min(milliseconds, 253_402_300_799_000)) / 1000)
            .formatted(Date.ISO8601FormatStyle())
    }
}

/// One job in full, for people.
struct JobDetailLines {
    let lines: [String]

    init(_ job: JobListing, _ details: JobDetails) {
        let status = job.status
        var lines = [
            "job        \(job.id)", "what       \(PrintableText.of(job.title))", "state      \(JobTable.state(job))",
        ]
        if let reason = job.reason { lines.append("because    \(PrintableText.of(reason))") }
        lines += [
            "submitted  \(JobTable.time(job.submitted))", "time       \(NodeTable.age(status.elapsed.inSeconds))",
            "priority   \(job.priority)",
            "tasks      \(status.scheduled) scheduled, \(status.running) running, \(status.completed) completed, "
                + "\(status.failed) failed, \(status.retries) retried",
        ]
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

    init(_ job: JobListing, _ details: JobDetails? = nil, coordinator: String? = nil) {
        self.coordinator = coordinator
        self.job = "\(job.id)"
        what = job.title
        state = JobTable.state(job)
        reason = job.reason
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
