import Testing
import Transport

@testable import SkyCore

@Suite struct MembershipReportsTests {
    private func member(_ name: String, _ id: UInt64) -> Member {
        Member(node: NodeID(rawValue: id), name: name, address: nil, since: .zero)
    }

    @Test func `a lost node is reported, and so is its return under another id`() {
        var reports = MembershipReports()
        #expect(reports.line(.joined(member("north", 1)), at: .zero) == .joined("north"))
        #expect(reports.line(.lost(NodeID(rawValue: 1)), at: .zero) == .lost("north"))
        #expect(reports.line(.joined(member("north", 2)), at: .zero) == .returned("north"))
        #expect(reports.line(.joined(member("south", 3)), at: .zero) == .joined("south"))
        #expect(reports.line(.lost(NodeID(rawValue: 2)), at: .zero) == .lost("north"))
        #expect(reports.line(.back(member("north", 2)), at: .zero) == .returned("north"))
    }

    @Test func `a node that is only silent for a while is not reported`() {
        var reports = MembershipReports()
        #expect(reports.line(.joined(member("north", 1)), at: .zero) == .joined("north"))
        #expect(reports.line(.joined(member("north", 1)), at: .zero) == nil)
        #expect(reports.line(.suspect(NodeID(rawValue: 1)), at: .zero) == nil)
        #expect(reports.line(.back(member("north", 1)), at: .zero) == nil)
    }

    @Test func `the number of reported losses is limited`() {
        var reports = MembershipReports()
        let lost = (1...10_000).count { number in
            _ = reports.line(.joined(member("made\(number)", UInt64(number))), at: .seconds(1))
            return reports.line(.lost(NodeID(rawValue: UInt64(number))), at: .seconds(1)) != nil
        }
        #expect(lost == MembershipReports.lossLimit)
        _ = reports.line(.joined(member("north", 20_000)), at: .seconds(3700))
        #expect(reports.line(.lost(NodeID(rawValue: 20_000)), at: .seconds(3700)) == .lost("north"))
    }

    @Test func `a node that left cleanly is reported as new when it comes again`() {
        var reports = MembershipReports()
        _ = reports.line(.joined(member("north", 1)), at: .zero)
        #expect(reports.line(.left(NodeID(rawValue: 1)), at: .zero) == .left("north"))
        #expect(reports.line(.joined(member("north", 2)), at: .zero) == .joined("north"))
    }

    @Test func `only changes are reported when the events begin again`() {
        var reports = MembershipReports()
        for number in [UInt64(1), 2, 3] { _ = reports.line(.joined(member("node\(number)", number)), at: .zero) }
        #expect(reports.line(.lost(NodeID(rawValue: 1)), at: .zero) == .lost("node1"))
        reports.begins(with: [member("node1", 4), member("node2", 2)])
        #expect(reports.line(.joined(member("node1", 4)), at: .zero) == .returned("node1"))
        #expect(reports.line(.joined(member("node2", 2)), at: .zero) == nil)
        #expect(reports.line(.joined(member("node3", 3)), at: .zero) == .joined("node3"), "it had gone meanwhile")
    }

    @Test func `the number of remembered lost nodes is limited`() {
        var reports = MembershipReports()
        for number in 1...5000 { _ = reports.line(.lost(NodeID(rawValue: UInt64(number))), at: .zero) }
        #expect(reports.remembered == MembershipReports.limit)
    }

    @Test func `two nodes with the same name are not confused`() {
        var reports = MembershipReports()
        _ = reports.line(.joined(member("debian", 1)), at: .zero)
        _ = reports.line(.joined(member("debian", 2)), at: .zero)
        #expect(reports.line(.lost(NodeID(rawValue: 1)), at: .zero) == .lost("debian"))
        #expect(reports.line(.suspect(NodeID(rawValue: 2)), at: .zero) == nil)
        #expect(reports.line(.back(member("debian", 2)), at: .zero) == nil, "it was never lost")
        #expect(reports.line(.lost(NodeID(rawValue: 2)), at: .zero) == .lost("debian"))
        #expect(reports.line(.joined(member("debian", 3)), at: .zero) == .returned("debian"))
        #expect(reports.line(.joined(member("debian", 4)), at: .zero) == .returned("debian"))
        #expect(reports.line(.joined(member("debian", 5)), at: .zero) == .joined("debian"))
    }

    @Test func `a node that comes and goes does not fill the log`() {
        var reports = MembershipReports()
        func lines(from start: Duration, rounds: Int) -> [MembershipReports.Line] {
            var lines: [MembershipReports.Line?] = []
            for round in 0..<rounds {
                let now = start + .seconds(round * 3)
                let id = UInt64(now.components.seconds) + 1
                lines.append(reports.line(.joined(member("north", id)), at: now))
                lines.append(reports.line(.lost(NodeID(rawValue: id)), at: now))
            }
            return lines.compactMap(\.self)
        }
        let first = lines(from: .zero, rounds: 1000)
        #expect(first.first == .joined("north") && first.last == .restless("north"))
        #expect(first.count == 2 * MembershipReports.linesOfOne)
        let later = lines(from: .seconds(3600), rounds: 100)
        #expect(later.filter { $0 == .lost("north") }.count == MembershipReports.linesOfOne - 1, "an hour later anew")
        #expect(later.last == .restless("north") && later.count < 2 * MembershipReports.linesOfOne)
    }
}
