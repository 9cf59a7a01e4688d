import SkyCore
import Testing

@testable import SkyNode

@Suite struct ProgressLinesTests {
    private func status(
        scheduled: Int = 40, completed: Int = 10, failed: Int = 0, nodes: [NodeShare] = []
    ) -> JobStatus {
        JobStatus(
            scheduled: scheduled, running: 4, completed: completed, failed: failed, retries: 1, nodes: nodes,
            elapsed: .seconds(5))
    }

    @Test func `the lines show what is done, how fast, and how long it will take`() {
        let shares = [
            NodeShare(name: "anna", completed: 6, running: 2), NodeShare(name: "bo", completed: 4, running: 2),
        ]
        let lines = ProgressLines(columns: 100).lines(status(nodes: shares))
        #expect(lines[0] == "scheduled 40   running 4   completed 10   failed 0   retried 1   2.0 tasks/s")
        #expect(lines[1].hasSuffix("about 15 s left"))
        #expect(lines[1].count { $0 == "#" } == 12, "a quarter of 50 columns")
        #expect(lines[2...] == ["  anna  running 2   completed 6   60 %", "  bo    running 2   completed 4   40 %"])
    }

    @Test func `a narrow terminal cuts lines, it does not wrap them`() {
        let lines = ProgressLines(columns: 40).lines(status())
        #expect(lines.count == 2 && lines.allSatisfy { $0.count < 40 })
    }

    @Test func `wide names neither shift the columns after them nor wrap`() {
        let shares = [NodeShare(name: "東京", completed: 1, running: 2), NodeShare(name: "bo", completed: 1, running: 2)]
        let lines = ProgressLines(columns: 100).lines(status(nodes: shares))
        #expect(lines[2].hasPrefix("  東京  running 2") && lines[3].hasPrefix("  bo    running 2"))
        let narrow = ProgressLines(columns: 30).lines(
            status(nodes: [NodeShare(name: String(repeating: "京", count: 40), completed: 1, running: 2)]))
        #expect(
            narrow[2] == "  " + String(repeating: "京", count: 13), "29 columns, of which one has no room for a half")
    }

    @Test func `many nodes are counted, not listed`() {
        let shares = (0..<100).map { NodeShare(name: "n\($0)", completed: 0, running: 1) }
        let lines = ProgressLines(rows: 15).lines(status(nodes: shares))
        #expect(lines.count == 13 && lines.last == "  and 90 more nodes")
        #expect(ProgressLines(rows: 3).lines(status(nodes: shares)).count == 4, "one node at least")
    }

    @Test func `the rate is that of the last ten seconds, and starts again when a job is resumed`() {
        var rate = ProgressRate()
        func note(_ seconds: Int, _ completed: Int) {
            var status = status(completed: completed)
            status.elapsed = .seconds(seconds)
            rate.note(status)
        }
        note(1000, 500)
        #expect(rate.tasksPerSecond == nil)
        note(1002, 520)
        #expect(rate.tasksPerSecond == 10)
        for second in 1003...1020 { note(second, 520 + (second - 1002) * 2) }
        #expect(rate.tasksPerSecond == 2)
        note(1021, 100)
        #expect(rate.tasksPerSecond == nil)
    }

    @Test func `a paused job shows the reason and no remaining time`() {
        var status = status(nodes: [NodeShare(name: "anna", completed: 6, running: 2)])
        status.paused = "there is no room\non the disk"
        let lines = ProgressLines(columns: 100).lines(status)
        #expect(lines[1].hasSuffix("]  paused") && lines[2].hasPrefix("  paused: there is no room"))
        #expect(lines.count == 4 && !lines.joined().contains("tasks/s") && !lines.joined().contains("left"))
        let line = ProgressLines().plainLine(status)
        #expect(line.contains("   paused: there is no room") && !line.contains("tasks/s") && !line.contains("\n"))
    }

    @Test func `the pause of many jobs is reported once, and its end when all go on`() {
        var reports = PauseReports()
        #expect(reports.note(nil, of: "a") == nil)
        #expect(reports.note("no room", of: "a") == "paused: no room")
        #expect(reports.note("no room", of: "b") == nil && reports.note("no room", of: "a") == nil)
        #expect(reports.note("disk fails", of: "b") == "paused: disk fails")
        #expect(reports.note(nil, of: "a") == nil, "the other is paused still")
        #expect(reports.note(nil, of: "b") == "The job goes on." && reports.note(nil, of: "b") == nil)
    }

    @Test func `a job that ends while it is paused does not go on`() {
        var reports = PauseReports()
        #expect(reports.note("no room", of: "a") != nil && reports.note("no room", of: "b") == nil)
        #expect(reports.note(nil, of: "a", hasEnded: true) == nil)
        #expect(reports.note("no room", of: "b", hasEnded: true) == nil)
        #expect(reports.note("no room", of: "c") == "paused: no room", "the next pause is said again")
    }

    @Test func `a line for a log shows the remaining time`() {
        #expect(ProgressLines().plainLine(status()).hasSuffix("2.0 tasks/s   about 15 s left"))
    }

    @Test func `numbers from a peer are not trusted`() {
        let lines = ProgressLines().lines(status(scheduled: .max, completed: .max, failed: .max))
        #expect(lines.count == 2)
        #expect(!ProgressLines().lines(status(scheduled: .min, completed: .min, failed: .min)).isEmpty)
    }

    @Test(arguments: [
        ("1s", 1.0), ("250ms", 0.25), ("1.5m", 90), ("2h", 7200), ("3", 3), ("0", 0),
    ])
    func `durations are read in the usual notation`(text: String, seconds: Double) {
        #expect(DurationText.parse(text)?.inSeconds == seconds)
    }

    @Test(arguments: ["", "s", "-1s", "1 s", "nan", "inf", "25h", "1d", "1e99"])
    func `text that is not a duration is refused`(text: String) {
        #expect(DurationText.parse(text) == nil)
    }
}
