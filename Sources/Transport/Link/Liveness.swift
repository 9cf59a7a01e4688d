/// Whether the other end of a link is alive, from when bytes arrived. Any byte is life; a ping is sent only when
/// nothing else was heard.
///
/// The owner calls `tick` every `interval`. A tick that comes late means that this node itself was held up
/// (suspended, or starved of the processor), so the silence is partly its own: it is forgiven.
package struct Liveness {
    package enum Action: Equatable {
        case ping
        case suspect
        case lost
    }

    /// How often to look. Also the idle time after which a ping is sent.
    package let interval: Duration
    /// Silence after which the peer is suspected: with the usual limit, three pings went unanswered.
    package let suspectAfter: Duration
    /// Silence after which the link is given up.
    package let lostAfter: Duration

    private var lastHeard: Duration
    private var lastTick: Duration
    private var suspected = false

    package init(silenceLimit: Duration = .seconds(3), now: Duration) {
        interval = silenceLimit / 6
        suspectAfter = silenceLimit * 7 / 12
        lostAfter = silenceLimit
        lastHeard = now
        lastTick = now
    }

    /// Bytes arrived. `true` where the peer had been suspected and is back.
    package mutating func heard(at now: Duration) -> Bool {
        lastHeard = now
        defer { suspected = false }
        return suspected
    }

    /// There is reason to think that the peer is gone, as when another node has appeared at its address. It has
    /// two intervals to show that it is not.
    package mutating func doubt(at now: Duration) {
        lastHeard = min(lastHeard, now + interval * 2 - lostAfter)
    }

    package mutating func tick(at now: Duration) -> Action? {
        let lateness = now - lastTick - interval
        lastTick = now
        if lateness > interval { lastHeard = min(now, lastHeard + lateness) }
        let silence = now - lastHeard
        if silence >= lostAfter { return .lost }
        if silence >= suspectAfter, !suspected {
            suspected = true
            return .suspect
        }
        return silence >= interval ? .ping : nil
    }
}
