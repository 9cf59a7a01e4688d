import FoundationEssentials
import NIOCore
import Testing

@testable import Transport

@Suite struct RenewalScheduleTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private let wall = Date(timeIntervalSince1970: 1_800_000_000)

    @Test func `a certificate is checked every five minutes`() {
        var schedule = RenewalSchedule(at: start, wall: wall)
        let due = (1...120).filter { count in
            schedule.isDue(at: start + .seconds(5 * Int64(count)), wall: wall + 5 * Double(count))
        }
        #expect(due == [60, 120])
    }

    @Test(arguments: [86_400.0, -86_400, 7200, -61])
    func `a certificate is checked once as soon as the clock was set`(jump: Double) {
        var schedule = RenewalSchedule(at: start, wall: wall)
        let due = [0, jump, jump].enumerated().map { index, ahead in
            let seconds = 5 * (index + 1)
            return schedule.isDue(at: start + .seconds(Int64(seconds)), wall: wall + Double(seconds) + ahead)
        }
        #expect(due == [false, true, false])
    }

    @Test func `a clock that runs a little fast does not count as set`() {
        var schedule = RenewalSchedule(at: start, wall: wall)
        let isDue = schedule.isDue(at: start + .seconds(200), wall: wall + 259)
        #expect(!isDue)
    }

    @Test func `a node started with a clock in the future gets a valid certificate once the clock is right`()
        throws
    {
        // A whole second, because certificates know no parts of one and round them.
        let now = Date(timeIntervalSince1970: Date.now.timeIntervalSince1970.rounded(.down))
        let key = try ClusterKey.make(now: now)
        let contexts = try #require(try TLSContexts(.clusterKey(key), node: .random(), now: now + 86_400))
        #expect(try contexts.renewIfDue(now: now))
        #expect(contexts.validUntil <= now + 86_400)
    }
}
