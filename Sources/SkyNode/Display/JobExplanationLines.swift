import Base
import SkyCore
import Transport

/// Why a job is where it is, for people.
struct JobExplanationLines {
    let lines: [String]

    init(_ job: JobListing, _ explanation: JobExplanation) {
        let status = job.status
        var lines = [
            "job \(job.id) (\(PrintableText.of(job.title))): \(JobState(job).words), "
                + "\(status.completed) of \(status.scheduled) tasks completed, \(status.failed) failed"
        ]
        lines += explanation.reasons.map { "  " + PrintableText.of($0) }
        if !explanation.requirements.isEmpty {
            lines.append("nodes that")
            let rows = explanation.requirements.map { ["  " + PrintableText.of($0.name), "\($0.nodes)"] }
            lines += TextTable(rows: rows).lines
        }
        if !explanation.tasks.isEmpty {
            let head = ["TASK", "TRIES", "FOR", "LAST EVENT"]
            lines += TextTable(head: head, rows: explanation.tasks.map(JobExplanationLines.row)).lines
        }
        self.lines = lines
    }

    private static func row(_ task: JobExplanation.OpenTask) -> [String] {
        [
            PrintableText.of(task.task), "\(task.attempts)",
            task.runningFor.map { DurationText.seconds($0, decimals: 1) + " s" } ?? "",
            PrintableText.of(task.lastEvent),
        ]
    }
}

/// The same explanation as a program reads it.
struct ExplanationLine: Encodable {
    struct Task: Encodable {
        var task: String
        var node: String?
        var seconds: Double?
        var attempts: Int
        var lastEvent: String
    }

    var job: String
    var state: String
    var reasons: [String]
    /// Nodes that meet each requirement and those before it.
    var nodes: [String: Int]
    var tasks: [Task]

    init(_ job: JobListing, _ explanation: JobExplanation) {
        self.job = "\(job.id)"
        state = JobTable.state(job)
        reasons = explanation.reasons
        nodes = Dictionary(explanation.requirements.map { ($0.name, $0.nodes) }) { first, _ in first }
        tasks = explanation.tasks.map {
            Task(
                task: $0.task, node: $0.node, seconds: $0.runningFor?.inSeconds, attempts: $0.attempts,
                lastEvent: $0.lastEvent)
        }
    }
}
