/// Whether the other end of a link is alive, judged from when bytes arrived. Any byte is a sign of life. A ping is sent only when
/// nothing else was heard, and as a rule by only one of the two ends: the other end hears the pings.
///
/// The owner calls `tick` after every `wait`. A tick that comes late means that this node itself was held up
/// (suspended, or starved of the processor), so the silence is partly its own: it is forgiven.
package struct Liveness {
    package enum Action: Equatable {
        case ping
        /// The peer is suspected from now on: it is pinged, and asked for by other ways.
        case suspect
        /// The peer is still suspected, and the same is done again. On a network that drops packets, one question or its answer is
        /// easily lost.
        case insist
        case lost
    }

    /// Links that one node watches at the full rate. With more, those that carry no work are looked at less often, so that
    /// a hundred idle nodes do not spend their time asking each other how they are.
    package static let fullRateLinks = 16
    /// So many links more than that stretch the times of each link by as much again.
    package static let linksPerStretch = 4
    /// The longest stretch: a silent peer is lost after a minute and one check, however many links there are.
    package static let longestStretch = 24

    /// Whether this end asks as soon as it hears nothing. The other end asks only where it is not asked.
    private let asksFirst: Bool
    /// The time between two checks of a peer that does not answer, where nothing is stretched.
    private let interval: Duration
    /// The silence after which a peer that has not answered is suspected.
    private let suspectAfter: Duration
    /// The silence after which the link is given up.
    private let lostAfter: Duration

    private var lastHeard: Duration
    /// When the peer was last known to be there by a way other than this link.
    private var lastConfirmed: Duration?
    /// Whether the peer is in doubt. Only bytes on the link itself can clear it of the doubt.
    private var isDoubted = false
    /// When the next tick is to come.
    private var due: Duration
    /// Whether the next tick is sooner than usual, because the peer was silent.
    private var waitsForAnswer = false
    private var suspected = false
    /// When the peer was first pinged since it was last heard.
    private var askedAt: Duration?
    private var pace = Pace.idle(stretch: 1)
    /// How long an end that asks waits between its questions. This and the next values follow from the pace; they are kept because
    /// each read needs some of them.
    package private(set) var pause = Duration.zero
    /// The stretched `interval`.
    private var step = Duration.zero
    /// The same as `step`, for a peer that is suspected.
    private var suspectStep = Duration.zero
    /// The silence after which a check sends a ping.
    private var pingLimit = Duration.zero
    /// The stretched `suspectAfter` and `lostAfter`.
    private var suspectLimit = Duration.zero
    private var lostLimit = Duration.zero

    /// - Parameter asksFirst: `true` for the end that dialled.
    package init(silenceLimit: Duration, asksFirst: Bool, now: Duration) {
        self.asksFirst = asksFirst
        interval = silenceLimit / 6
        suspectAfter = silenceLimit * 7 / 12
        lostAfter = silenceLimit
        (lastHeard, due) = (now, now)
        applyPace()
        due = now + pause
    }

    private mutating func applyPace() {
        let stretch: Int
        switch pace {
        case .working: (pause, stretch) = (interval * 2, 1)
        case .idle(let factor): (pause, stretch) = (interval * 3 * factor, factor)
        }
        step = interval * stretch
        // Chance alone makes no silence of many seconds, and each question that a hundred nodes ask has a hundred answers.
        suspectStep = step / max(1, Liveness.questionsPerStep / stretch)
        pingLimit = asksFirst ? pause / 8 : pause * 9 / 8
        (suspectLimit, lostLimit) = (suspectAfter * stretch, lostAfter * stretch)
    }

    /// The time until the next tick.
    ///
    /// The tick of an end that asks falls on a multiple of `pause`. So a node checks all of its idle links in one go, instead of
    /// waking up for each. The other end checks when it should have been asked and was not. While a ping is unanswered, both check
    /// more often.
    package mutating func wait(at now: Duration) -> Duration {
        waitsForAnswer = askedAt != nil || now - lastHeard >= pingLimit
        due = max(now + .milliseconds(1), nextCheck(at: now))
        return due - now
    }

    private func nextCheck(at now: Duration) -> Duration {
        if !waitsForAnswer, !asksFirst { return lastHeard + pingLimit }
        guard suspected else {
            let distance = waitsForAnswer ? step : pause
            return distance * (Int(now / distance) + 1)
        }
        return min(now + suspectStep, end)
    }

    /// Whether to wait anew now that something has been heard. That may be the answer to a ping. It may also be the question of the
    /// other end: an end that is asked often enough never wakes up for a check.
    package var mayWaitLonger: Bool { asksFirst ? waitsForAnswer : lastHeard + pingLimit - due >= step }

    /// When the link is given up if nothing more is heard.
    private var end: Duration {
        guard let lastConfirmed, lastConfirmed > lastHeard, !isDoubted else { return lastHeard + lostLimit }
        return min(lastConfirmed + lostLimit, lastHeard + lostLimit * Liveness.confirmedFactor)
    }

    /// Whether nothing has been heard since about the last check.
    package func isSilent(at now: Duration) -> Bool { now - lastHeard >= pause / 2 }

    /// How often a link is looked at.
    package enum Pace: Hashable, Sendable {
        /// Calls are under way.
        case working
        /// No calls are under way, and all times are multiplied by `stretch`.
        case idle(stretch: Int)
    }

    /// Whether the link is looked at less often than one that works.
    package var isIdle: Bool { pace != .working }

    /// The factor for all times of an idle link, on a node that has so many links.
    package static func stretch(links: Int) -> Int {
        min(longestStretch, 1 + (max(0, links - fullRateLinks) + linksPerStretch - 1) / linksPerStretch)
    }

    /// Sets the times that hold from now on. Silence that was in order stays in order: where the peer has less time than before, it
    /// gets that time in full, counted from a ping that is due at once, or from the ping that it has not answered. A peer in doubt
    /// keeps the usual times.
    package mutating func setPace(_ new: Pace, now: Duration) {
        let pace = isDoubted ? .working : new
        guard pace != self.pace else { return }
        let limit = lostLimit
        self.pace = pace
        applyPace()
        guard lostLimit < limit else { return }
        // The silence is not counted from now on: a caller that calls a dead peer again and again would keep it for ever.
        lastHeard = max(lastHeard, (askedAt ?? now) - pause)
    }

    /// Notes that bytes arrived. The result is `true` where the peer had been suspected and is back.
    package mutating func heard(at now: Duration) -> Bool {
        lastHeard = now
        (isDoubted, askedAt) = (false, nil)
        defer { suspected = false }
        return suspected
    }

    /// Notes that the peer was heard by another way: an authentic beacon. On a network that drops packets, a beacon keeps a silent
    /// link for a while. It does not make the link good: a link that carries nothing has to end some time.
    package mutating func confirmed(at now: Duration) {
        lastConfirmed = now
    }

    /// Notes a reason to think that the peer is gone, as when another node has appeared at its address. The peer has a third of the
    /// usual limit to show that it is there.
    package mutating func doubt(at now: Duration) {
        setPace(.working, now: now)
        isDoubted = true
        lastHeard = min(lastHeard, now + lostAfter / 3 - lostAfter)
    }

    /// How often a suspected peer is asked in the time of one check of another, where nothing is stretched. A network that loses a
    /// fifth of all packets loses a third of all questions or their answers, and a silent link ends soon.
    static let questionsPerStep = 4

    /// How many times the usual limit a link is kept if its peer is heard by another way.
    package static let confirmedFactor = 4

    package mutating func tick(at now: Duration) -> Action? {
        let lateness = now - due
        due = now
        if lateness > interval {
            lastHeard = min(now, lastHeard + lateness)
            askedAt = askedAt.map { _ in now }
        }
        if now >= end { return .lost }
        let silence = now - lastHeard
        // The peer is not suspected before it has had some time to answer.
        if silence >= suspectLimit, !suspected, let askedAt, now - askedAt >= step * 3 / 4 {
            suspected = true
            return .suspect
        }
        guard silence >= pingLimit else { return nil }
        askedAt = askedAt ?? now
        return suspected ? .insist : .ping
    }
}
