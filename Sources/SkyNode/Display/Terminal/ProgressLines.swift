import Base
import SkyCore
import Transport

/// The lines of the progress display, from where a job stands. A value, so that a test can read them.
struct ProgressLines {
    /// Columns of the terminal.
    var columns = 80
    var rows = 24
    /// Tasks completed a second, of late; the mean since the job's start where that is not known.
    var rate: Double?

    /// Nodes shown before the rest are counted in one line: a picture that does not fit could not be overwritten.
    private var nodeLimit: Int { max(1, min(40, rows - 5)) }

    func lines(_ report: JobStatus) -> [String] {
        var status = report
        status.scheduled = report.scheduled.asCount
        status.completed = report.completed.asCount
        status.failed = report.failed.asCount
        let finished = status.completed + status.failed
        let rate = self.rate ?? mean(status)
        let counts =
            "scheduled \(status.scheduled)   running \(status.running)   completed \(status.completed)   "
            + "failed \(status.failed)   retried \(status.retries)"
        let bar = bar(done: finished, of: status.scheduled)
        // A rate and a time left would promise what is not happening.
        var lines =
            if let reason = status.paused {
                [counts, bar + "  paused", "  paused: " + PrintableText.of(reason)]
            } else {
                [counts + "   \(DurationText.fixed(rate, 1)) tasks/s", bar + "  " + remaining(status, rate: rate)]
            }
        let shares = status.nodes.prefix(nodeLimit).map { (name: PrintableText.of($0.name), share: $0) }
        let width = shares.map(\.name.columns).max() ?? 0
        for (name, share) in shares {
            lines.append(
                "  " + name.padded(columns: width)
                    + "  running \(share.running)   completed \(share.completed)" + part(share, of: status))
        }
        if let cached = status.cached, cached > 0 { lines.append("  from earlier results   completed \(cached)") }
        if status.nodes.count > nodeLimit {
            lines.append("  and \(status.nodes.count - nodeLimit) more nodes")
        }
        return lines.map { String($0.prefix(columns: max(20, columns - 1))) }
    }

    /// One line for a log.
    func plainLine(_ report: JobStatus) -> String {
        let end =
            report.paused.map { "paused: " + PrintableText.of($0) } ?? remaining(report, rate: rate ?? mean(report))
        return lines(report)[0] + "   " + end
    }

    private func mean(_ status: JobStatus) -> Double {
        let seconds = status.elapsed.inSeconds
        return seconds > 0 ? Double(status.completed.asCount) / seconds : 0
    }

    private func part(_ share: NodeShare, of status: JobStatus) -> String {
        guard status.completed > 0, share.completed >= 0, share.completed <= status.completed else { return "" }
        return "   \(share.completed * 100 / status.completed) %"
    }

    private func bar(done: Int, of total: Int) -> String {
        let width = max(10, min(50, columns - 30))
        let filled = total > 0 ? min(width, width * done / total) : 0
        return "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled) + "]"
    }

    private func remaining(_ status: JobStatus, rate: Double) -> String {
        let left = status.scheduled.asCount - status.completed.asCount - status.failed.asCount
        guard left > 0 else { return status.scheduled == 0 ? "preparing" : "done" }
        guard rate > 0 else { return "time left unknown" }
        return "about \(DurationText.fixed(Double(left) / rate, 0)) s left"
    }
}
