import SkyCore
import Transport

/// The lines of the progress display, from where a job stands. A value, so that a test can read them.
struct ProgressLines {
    /// Columns of the terminal.
    var columns = 80
    /// Nodes shown before the rest are counted in one line; a screen has some 24 lines.
    static let nodeLimit = 12

    func lines(_ report: JobStatus) -> [String] {
        var status = report
        status.scheduled = report.scheduled.asCount
        status.completed = report.completed.asCount
        status.failed = report.failed.asCount
        let finished = status.completed + status.failed
        let seconds = status.elapsed.inSeconds
        let rate = seconds > 0 ? Double(status.completed) / seconds : 0
        var lines = [
            "scheduled \(status.scheduled)   running \(status.running)   completed \(status.completed)   "
                + "failed \(status.failed)   retried \(status.retries)   \(DurationText.fixed(rate, 1)) tasks/s",
            bar(done: finished, of: status.scheduled) + "  " + remaining(status, rate: rate),
        ]
        let width = status.nodes.prefix(ProgressLines.nodeLimit).map { $0.name.count }.max() ?? 0
        for share in status.nodes.prefix(ProgressLines.nodeLimit) {
            let name = PrintableText.of(share.name)
            lines.append(
                "  " + name + String(repeating: " ", count: max(0, width - name.count))
                    + "  running \(share.running)   completed \(share.completed)")
        }
        if status.nodes.count > ProgressLines.nodeLimit {
            lines.append("  and \(status.nodes.count - ProgressLines.nodeLimit) more nodes")
        }
        return lines.map { String($0.prefix(max(20, columns - 1))) }
    }

    private func bar(done: Int, of total: Int) -> String {
        let width = max(10, min(50, columns - 30))
        let filled = total > 0 ? min(width, width * done / total) : 0
        return "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled) + "]"
    }

    private func remaining(_ status: JobStatus, rate: Double) -> String {
        let left = status.scheduled - status.completed - status.failed
        guard left > 0 else { return status.scheduled == 0 ? "preparing" : "done" }
        guard rate > 0 else { return "time left unknown" }
        return "about \(DurationText.fixed(Double(left) / rate, 0)) s left"
    }
}
