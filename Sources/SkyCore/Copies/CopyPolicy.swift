/// The times of the copies.
package struct CopyPolicy: Hashable, Sendable {
    /// How long a primary is silent before a standby asks to take over. A service that systemd starts again is back in two.
    package var adoptAfter = Duration.seconds(5)
    /// A replica that has heard from its primary within this time promises nothing to anybody else.
    var contactTime = Duration.seconds(3)
    /// How often a primary calls a standby for which it has nothing.
    var heartbeat = Duration.seconds(1)
    /// How often once nothing was stored for `calmAfter`, for a standby that counts on it. Otherwise idle nodes would spend most of
    /// their time with these calls. A lost link still makes the standby ask to take over as soon as ever.
    var calmHeartbeat = Duration.seconds(10)
    var calmAfter = Duration.seconds(10)
    /// For how long a replica keeps an empty copy of which nobody wants to know.
    var emptyTime = Duration.seconds(600)
    /// How many copies there are to be beside the primary's own journal.
    package var copies = 2
    /// How much later the next standby asks, so that two do not ask at the same time.
    var stagger = Duration.milliseconds(500)
    /// How long a candidate waits for promises.
    var patience = Duration.seconds(1)
    /// How long a member is lost before another one takes its place.
    var replaceAfter = Duration.seconds(60)
    /// How long a member that has said goodbye keeps its vote, if the others are a majority without it. A service that is restarted is
    /// back before, and an upgrade is no reason to change the members twice.
    var restartTime = Duration.seconds(10)
    /// How long batches gather for a copy whose answer nothing waits for.
    var gatheringTime = Duration.milliseconds(250)
    /// Whoever answers a call later than this is not waited for alone.
    var stallTime = Duration.milliseconds(100)
    /// Pause before a failed call is made again.
    var retryPause = Duration.milliseconds(200)

    /// How much longer than usual one may be silent that has said so, and whose link is in doubt: as if it had been heard two calls ago.
    func doubtfulPause(_ pause: Duration, since heard: Duration, _ now: Duration) -> Duration {
        min(pause, max(.zero, now - heartbeat * 2 - heard))
    }

    package init() {}

    /// - Parameter copies: how many copies there are to be.
    init(copies: Int) { self.copies = copies }
}
