import Testing
import Transport

@testable import SkyCore
@testable import SkyNode

/// The events that a node reports of its members are shown, however absurd they are.
@Suite struct MembershipLineTests {
    private func page(since: Duration, uptime: Duration, time: UInt64 = 1_800_000_000_000) -> MembershipPage {
        let member = Member(node: NodeID(rawValue: 2), name: "berta", address: nil, since: since)
        return MembershipPage(members: [member], entries: [], next: 1, time: time, uptime: uptime)
    }

    @Test func `a member's times are by the clock of the node that was asked`() {
        var lines = MembershipLines()
        let line = lines.lines(page(since: .seconds(10), uptime: .seconds(70))).first
        #expect(line?.time == "2027-01-15T08:00:00.000Z")
        #expect(line?.since == "2027-01-15T07:59:00.000Z")
    }

    @Test func `times that are too far apart for a duration are still shown`() {
        let (least, most) = (Duration(secondsComponent: .min, attosecondsComponent: 0), Duration.seconds(Int64.max))
        for (since, uptime) in [(least, most), (most, least)] {
            var lines = MembershipLines()
            #expect(lines.lines(page(since: since, uptime: uptime, time: .max)).count == 1)
        }
    }
}
