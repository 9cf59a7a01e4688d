import Testing

@testable import Transport

@Suite struct LogLimitTests {
    @Test func `the same line is logged ten times a minute, then the number of those left out`() {
        var limit = LogLimit()
        let first = (0..<10_000).compactMap { limit.line("refused", of: "anna", now: .milliseconds($0)) }
        #expect(first == [Int](repeating: 0, count: 10))
        #expect(limit.line("refused", of: "anna", now: .seconds(60)) == 9990)
        #expect(limit.line("refused", of: "anna", now: .seconds(61)) == 0)
    }

    @Test func `each peer and each kind of trouble has its own limit`() {
        var limit = LogLimit()
        for number in 0..<100 { _ = limit.line("refused", of: "anna", now: .milliseconds(number)) }
        #expect(limit.line("refused", of: "bert", now: .seconds(1)) == 0)
        #expect(limit.line("closed", of: "anna", now: .seconds(1)) == 0)
    }

    @Test func `invented names are not remembered for ever, and cause few lines`() {
        var limit = LogLimit()
        let lines = (0..<100_000).compactMap { limit.line("refused", of: "peer\($0)", now: .microseconds($0)) }
        #expect(lines.count <= LogLimit.keyLimit + LogLimit.lines)
        #expect(limit.line("refused", of: "late", now: .seconds(61)) == 0)
    }
}

@Suite struct DailyReportsTests {
    @Test func `the same report on a neighbour is due once a day`() {
        var reports = DailyReports()
        #expect(reports.isDue("no key", of: "10.0.0.1", now: .zero) == true)
        #expect(reports.isDue("no key", of: "10.0.0.1", now: .seconds(80_000)) == false)
        #expect(reports.isDue("no key", of: "10.0.0.2", now: .seconds(80_000)) == true)
        #expect(reports.isDue("no key", of: "10.0.0.1", now: .seconds(86_400)) == true)
    }

    @Test func `a neighbour that invents reasons does not suppress the reports on others`() {
        var reports = DailyReports()
        let count = (0..<10_000).count { reports.isDue("reason \($0)", of: "10.0.0.66", now: .zero) }
        #expect(count == DailyReports.textLimit)
        #expect(reports.isDue("reason 1", of: "10.0.0.1", now: .zero) == true)
        let many = (0..<10_000).count { reports.isDue("reason", of: "host \($0)", now: .zero) }
        #expect(many < DailyReports.peerLimit)
    }
}
