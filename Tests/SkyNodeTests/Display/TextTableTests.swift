import Foundation
import Testing

@testable import SkyCore
@testable import SkyNode
@testable import Transport

/// Tables on terminals of any width.
struct TextTableTests {
    private func node(
        _ number: UInt64, version: String = "0.1.0", arithmetic: String? = "0.1, sep 1.2.1"
    ) -> NodeReport {
        let id = NodeID(rawValue: number << 60 | 0xf09_0383_7931_8800)
        let member = Member(
            node: id, name: "node\(number)", version: version, arithmetic: arithmetic,
            address: .hostPort(host: "127.0.0.1", port: 43017), found: .beacon, since: .zero)
        let status = NodeStatus(
            node: id, name: "node\(number)", version: version, slots: 2, running: 0, completed: 7, failed: 1,
            uptime: .seconds(90), load: 0.22)
        return NodeReport(
            member: member, status: status, isAnswering: number == 1, age: .seconds(12), roundTrip: .microseconds(260),
            clockOffset: nil, speed: 1)
    }

    private func job(
        _ number: UInt64, title: String = "/data/night/f_e\(1).fits", state: JobReport.State? = .done,
        priority: Int = 0, elapsed: Duration = .milliseconds(870)
    ) -> JobListing {
        let status = JobStatus(
            scheduled: 20, running: 0, completed: 20, failed: 0, retries: 0, nodes: [], elapsed: elapsed)
        return JobListing(
            id: JobID(rawValue: 0x7f3a_0000_0000_0000 + number), title: title, state: state, priority: priority,
            reason: nil, status: status, submitted: 1_800_000_000_000)
    }

    @Test func `a table of nodes has all columns if there is room`() {
        let lines = NodeTable([node(1), node(2)]).lines
        #expect(
            lines[0]
                == "NAME   ID                ADDRESS          VERSION  SLOTS  LOAD  SPEED  STATE  SINCE  ROUND TRIP  FOUND"
        )
        #expect(
            lines[2].hasPrefix("node2  2f09038379318800  127.0.0.1:43017  0.1.0    0/2    0.22  1.00   alive  12 s"))
    }

    @Test func `a table of nodes in 80 columns leaves out the least important columns`() {
        let same = NodeTable([node(1), node(2)], width: 80).lines
        #expect(same[0] == "NAME   ID        ADDRESS          SLOTS  LOAD  SPEED  STATE  SINCE  RTT")
        let mixed = NodeTable([node(1), node(2, version: "0.2.0")], width: 80).lines
        #expect(mixed[0].contains("VERSION"), "versions that differ are worth more than the speed")
        #expect(same.count == 3 && mixed.count == 3 && (same + mixed).allSatisfy { $0.count <= 80 })
    }

    @Test(arguments: ["0.1, sep 1.4.1", nil])
    func `a table of nodes says who measures otherwise than the one that was asked`(arithmetic: String?) {
        let lines = NodeTable([node(1), node(2), node(3, arithmetic: arithmetic)], width: 80).lines
        #expect(lines[0].contains("MEASURES"))
        #expect(lines.map { $0.contains("otherwise") } == [false, false, false, true])
        #expect(lines[2].contains(" alike "))
        #expect(lines.allSatisfy { $0.count <= 80 })
        #expect(NodeDetailLines(node(1)).lines.contains("arithmetic  0.1, sep 1.2.1"))
        #expect(NodeLine(node(3, arithmetic: arithmetic)).arithmetic == arithmetic)
    }

    @Test(arguments: 1...110) func `no table is wider than its terminal`(width: Int) {
        let nodes = NodeTable([node(1), node(2)], width: width).lines
        let jobs = JobTable(
            [(nil, job(1)), (nil, job(2, title: String(repeating: "x", count: 300)))], namesNodes: false, width: width)
        #expect(nodes.count >= 3 && jobs.lines.count >= 3, "a heading and two rows")
        for line in nodes + jobs.lines { #expect(line.count <= width && !line.isEmpty) }
    }

    @Test func `columns are aligned however wide the characters are`() {
        let cells = ["旧い空.fits", "e\u{301}toile.fits", "🔭.fits", "ｍ31.fits", "m31.fits"]
        #expect(
            TextTable(rows: cells.map { [$0, "7"] }).lines == [
                "旧い空.fits  7", "e\u{301}toile.fits  7", "🔭.fits      7", "ｍ31.fits    7", "m31.fits     7",
            ])
        let titles = [TableColumn("STATE", ["done"]), TableColumn("WHAT", ["旧い空と新しい空"])]
        let steps = [TextTable.Step.squeeze("WHAT", to: 1)]
        #expect(TextTable(titles, steps: steps, width: 14).lines == ["STATE  WHAT", "done   旧い空…"])
        #expect(TextTable(titles, steps: steps, width: 13).lines == ["STATE  WHAT", "done   旧い…"], "no half of one")
    }

    @Test(arguments: [
        ("", 0), ("m31", 3), ("星", 2), ("한글", 4), ("한", 2), ("ｱ", 1), ("é", 1), ("e\u{301}", 1), ("👩🏽", 2), ("🇯🇵", 2),
        ("❤", 1), ("❤\u{FE0F}", 2), ("…", 1), ("α", 1), ("𠮷", 2), ("\u{301}", 0),
    ])
    func `a character's width is that in a terminal`(text: String, columns: Int) {
        #expect(text.columns == columns)
    }

    @Test func `ids are shortened as far as they stay different`() {
        #expect(TableColumn.shortened(["0123456789abcdef", "f123456789abcdef"]) == ["01234567", "f1234567"])
        #expect(TableColumn.shortened(["0123456789abcdef", "0123456789bbcdef"]) == ["0123456789a", "0123456789b"])
        #expect(TableColumn.shortened(["0123456789abcdef"]) == ["01234567"])
        #expect(TableColumn.shortened([]) == [])
    }

    @Test func `a table of jobs in 80 columns has short ids and files without folders`() {
        let title = "/data/nights/2026-11-24/object/f_e1.fits against /data/nights/2026-11-17/object/f_e0.fits"
        let now = Date(timeIntervalSince1970: 1_800_000_120)
        let lines = JobTable([(nil, job(1, title: title))], namesNodes: false, width: 80, now: now).lines
        #expect(lines[0] == "JOB       STATE  DONE   FAILED  RUNNING  SUBMITTED  TIME    WHAT")
        #expect(lines[1] == ("7f3a0000  done   20/20  0       0        2 min ago  0.87 s  f_e1.fits against f…"))
        let wide = JobTable([(nil, job(1, title: title))], namesNodes: false).lines
        #expect(wide[0].contains("PRIORITY") && wide[1].contains("2027-01-15T08:00:00Z") && wide[1].hasSuffix(title))
    }

    @Test func `a priority is shown if a job has one`() {
        let lines = JobTable([(nil, job(1, title: "x", priority: 5))], namesNodes: false, width: 80).lines
        #expect(lines[0].contains("PRIORITY"))
    }

    @Test func `states are words, in colours on a terminal`() {
        let style = TextStyle(isColoured: true)
        let lines = JobTable([(nil, job(1, state: .badInput))], namesNodes: false, style: style).lines
        #expect(lines[0].hasPrefix("\u{1B}[1mJOB\u{1B}[0m") && lines[1].contains("\u{1B}[31mbad input\u{1B}[0m"))
        #expect(try! JSONLine.encode(JobLine(job(1, state: .badInput))).contains("\"badInput\""), "programs read it so")
        let nodes = NodeTable([node(1)], style: style).lines
        #expect(nodes[1].contains("\u{1B}[32malive\u{1B}[0m  12 s"))
    }

    @Test func `one node is shown in full`() {
        let lines = NodeDetailLines(node(1)).lines
        #expect(lines.contains("slots       0 of 2 in use") && lines.contains("attempts    7 completed, 1 failed"))
        #expect(lines.contains("round trip  0.26 ms") && lines.contains("up          1 m 30 s"))
    }

    @Test func `times are shown with a useful precision`() {
        #expect([0.87, 9.99, 9.999, 61].map { DurationText.taken($0) } == ["0.87 s", "9.99 s", "9 s", "1 m 1 s"])
        #expect(
            [-3, 0.4, 59, 150, 7300, 2e5].map { DurationText.ago($0) } == [
                "now", "now", "59 s ago", "2 min ago", "2 h ago", "2 d ago",
            ])
        #expect(
            [0, 45, 725, 12_000, 792_000].map { DurationText.age($0) } == [
                "0 s", "45 s", "12 m 5 s", "3 h 20 m", "9 d 4 h",
            ])
    }
}
