/// What a primary knows of a replica that keeps a copy.
struct Follower<Content: LogContent>: Sendable {
    enum Phase: Sendable {
        /// How far it is must be asked.
        case unknown
        /// It has everything up to this position.
        case following(LogPosition)
        /// It gets a whole new copy.
        case copying(Copying)
    }

    /// A whole copy on its way.
    struct Copying: Sendable {
        var id: UInt64
        /// The number of the next part.
        var next: UInt64 = 0
        var digest: UInt64 = 0
        /// Where the next page begins; `nil` when all pages were sent.
        var cursor: UInt64? = 0
        /// The last batch that was sent, or was in the journal before the first page.
        var sent: LogPosition
        var isReading = false
        /// The part that is under way, or is to be sent again.
        var part: SnapshotRequest<Content>.Part?
    }

    var phase = Phase.unknown
    /// The last batch that it has stored.
    var acked: UInt64 = 0
    /// The number of the call under way.
    var call: UInt64?
    var callSent = Duration.zero
    /// When it last did what it was asked.
    var lastGranted: Duration
    /// When it last answered; when this primary began to call it, where it has not answered yet.
    var lastHeard: Duration
    /// When the call was made that it answered last: it was there later than that.
    var lastAsked = Duration.zero
    /// Whether it has answered this primary.
    var hasAnswered = false
    /// Before this, it is not called again.
    var pauseUntil = Duration.zero
    var isFull = false
    /// Why it cannot store anything, where that is not for want of room.
    var reason: String?
    var wasDamaged = false
    /// Since when it has been neither a member nor one that is to keep a copy.
    var unwantedSince: Duration?
    /// How many bytes the copy may take; `nil` where an earlier version keeps it.
    var share: Int?
    /// Since when there has been no room for more of this journal; `nil` where there is.
    var shortSince: Duration?
    /// When it last refused something because there was no room.
    var lastRefused: Duration?
    /// Whether it can be told that calls come more seldom.
    var heedsPause = false
    /// How much longer than usual the next call may take: as the call under way says, and as the last one that was answered said.
    var told = Duration.zero
    var pause = Duration.zero
    /// Whether the last call failed.
    var hasFailed = false
    /// How long it takes to store batches and to answer, smoothed.
    var storingTime = Duration.zero

    /// Whether it has all but the last batches, if not those as well.
    var isFollowing: Bool { if case .following = phase { true } else { false } }

    /// Whether it may be waited for: it has stored what came before, or is about to.
    func isPrompt(_ policy: CopyPolicy, _ now: Duration) -> Bool {
        guard isFollowing, pauseUntil <= now, !isFull, !hasFailed else { return false }
        return call == nil || now - callSent < policy.stallTime
    }

    /// Whether it was heard a moment ago, or need not have been called since.
    func isInReach(_ policy: CopyPolicy, _ now: Duration) -> Bool { now - lastHeard < policy.contactTime + pause }

    /// The link to it is in doubt: it is out of reach unless it is heard within a second or so.
    mutating func doubt(_ policy: CopyPolicy, _ now: Duration) {
        pause = policy.doubtfulPause(pause, since: lastHeard, now)
    }

    /// Whether it is still to keep a copy: it has done not long ago what it was asked.
    func isLasting(_ policy: CopyPolicy, _ now: Duration) -> Bool { now - lastGranted < policy.replaceAfter }

    /// Whether it has had room for more not long ago.
    func isRoomy(_ policy: CopyPolicy, _ now: Duration) -> Bool {
        shortSince.map { now - $0 < policy.replaceAfter } ?? true
    }

    /// It has answered.
    ///
    /// - Parameter held: how many bytes the primary's journal holds.
    mutating func noteRoom(_ reply: ReplicaReply, held: Int, at now: Duration) {
        (isFull, reason) = (reply.isFull, reply.isFull ? reply.reason : nil)
        (share, wasDamaged) = (reply.share, reply.wasDamaged == true)
        if isFull { lastRefused = now }
        // Small entries, and calls without any, get through where there is no room for more.
        let wasRefused = lastRefused.map { now - $0 < Follower.refusalTime } ?? false
        let isShort = wasRefused || share.map { $0 - held < $0 / 16 } ?? false
        shortSince = isShort ? shortSince ?? now : nil
    }

    /// For how long one that has refused something counts as short of room.
    private static var refusalTime: Duration { .seconds(10) }

    /// Batches that were sent to it are stored.
    mutating func noteStored(in time: Duration) {
        storingTime = storingTime == .zero ? time : (storingTime * 7 + time) / 8
    }
}
