import FoundationEssentials
import NIOCore

/// When to check whether this node's certificate has to be replaced: every few minutes, and at once where the machine's clock was
/// set. A certificate that was issued by a wrong clock, as at the start of a machine that has no time yet, is not valid by any
/// other clock, and keeps the node out of the cluster until it is replaced.
struct RenewalSchedule: Sendable {
    /// How often the schedule is asked, which costs nothing.
    static let pause = TimeAmount.seconds(10)
    /// How often the certificate is checked even where the clock was not set.
    static let interval = TimeAmount.minutes(5)
    /// How many seconds a clock may gain in a pause. A clock is slewed by half a thousandth at most, and the clock of a machine
    /// that slept has jumped.
    static let tolerance: TimeInterval = 60

    /// When the schedule was last asked, by the clock that is never set and by the clock that may be set.
    private var asked: (at: NIODeadline, wall: Date)
    private var looked: NIODeadline

    init(at now: NIODeadline, wall: Date) { (asked, looked) = ((now, wall), now) }

    mutating func isDue(at now: NIODeadline, wall: Date) -> Bool {
        let passed = Double((now - asked.at).nanoseconds) / 1e9
        let wasSet = abs(wall.timeIntervalSince(asked.wall) - passed) > RenewalSchedule.tolerance
        asked = (now, wall)
        guard wasSet || now - looked >= RenewalSchedule.interval else { return false }
        looked = now
        return true
    }
}
