import Base
import SkyCore
import Transport

/// What a job came to, in lines for people. A failed task is never counted as done.
struct JobSummary {
    static func lines(_ report: JobReport, of noun: String) -> [String] {
        let seconds = report.duration.inSeconds
        let rate = seconds > 0 ? Double(report.completed) / seconds : 0
        var first = "\(report.completed) of \(report.scheduled) \(noun) completed in "
        first += "\(DurationText.fixed(seconds, 2)) s (\(DurationText.fixed(rate, 1)) per second)"
        first += ", \(report.retries) retried, \(report.failed) failed"
        let cancelled = report.scheduled.asCount - report.completed.asCount - report.failed.asCount
        if cancelled > 0 { first += ", \(cancelled) cancelled" }
        if let cached = report.cached, cached > 0 { first += "; \(cached) from earlier results" }
        var lines = [first]
        let names = report.nodes.map { PrintableText.of($0.name) }
        let width = names.map(\.columns).max() ?? 0
        for (name, share) in zip(names, report.nodes) {
            lines.append("  \(name.padded(columns: width))  \(share.completed)")
        }
        return lines
    }

    /// Prints what a job of plain tasks came to.
    ///
    /// - Throws: `CommandFailure` where it is not all done.
    static func print(_ report: JobReport, _ format: OutputFormat) throws {
        if format == .text { for line in lines(report, of: "tasks") { Console.output(line) } }
        let status = status(report)
        if status != .done { throw CommandFailure(status, report.reason.map { PrintableText.of($0) }) }
    }

    /// What a scan's report says of its job.
    static func facts(_ report: JobReport) -> [(name: String, value: String)] {
        var facts = [
            ("time", "\(DurationText.fixed(report.duration.inSeconds, 2)) s"),
            (
                "tasks",
                "\(report.completed) completed, \(report.retries) retried, \(report.failed) failed (each sector is one, "
                    + "and so are the header, each sector's background and the picture)"
            ),
        ]
        if report.state != .done || report.failed > 0 {
            facts.append(("gaps", report.reason ?? "the catalogue has gaps: tasks failed"))
        }
        return facts
    }

    /// The exit code that goes with it.
    static func status(_ report: JobReport) -> ExitStatus {
        switch report.state {
        case .done: report.failed > 0 ? .partlyFailed : .done
        case .cancelled: .cancelled
        case .badInput: .usage
        case .failed: .partlyFailed
        }
    }
}
