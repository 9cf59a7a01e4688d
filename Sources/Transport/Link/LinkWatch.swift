import NIOCore

/// What the handler of a link keeps to watch over the peer: how alive the peer is, when to look next, and the ping that waits for
/// its answer. It lives on the link's event loop.
struct LinkWatch {
    var liveness: Liveness
    /// What the kernel has heard of the peer, where the link has not.
    var segments = SegmentCount()
    private let place = LookTimer.Place()
    private var timer: LookTimer?
    private var pingSentAt: Duration?

    private let silenceLimit: Duration
    private let asksFirst: Bool

    /// - Parameter asksFirst: `true` for one of the two ends; see `Liveness`.
    init(silenceLimit: Duration, asksFirst: Bool, now: Duration) {
        (self.silenceLimit, self.asksFirst) = (silenceLimit, asksFirst)
        liveness = Liveness(silenceLimit: silenceLimit, asksFirst: asksFirst, now: now)
    }

    /// The link is there, and the first ping is about to be sent.
    mutating func begin(now: Duration) {
        liveness = Liveness(silenceLimit: silenceLimit, asksFirst: asksFirst, now: now)
        pingSentAt = now
    }

    /// Notes that a ping is about to be sent. Where another is on its way already, the answer is taken for that ping's.
    mutating func noteQuestion(now: Duration) {
        pingSentAt = pingSentAt ?? now
    }

    /// Takes an answer to a ping.
    ///
    /// - Returns: the time since the ping; `nil` where none was sent.
    mutating func takePong(now: Duration) -> Duration? {
        defer { pingSentAt = nil }
        return pingSentAt.map { now - $0 }
    }

    /// Sets the next look to the time that `liveness` says now, in place of the time that it said before.
    mutating func arm(_ loop: any EventLoop, now: Duration, _ look: @escaping () -> Void) {
        let timer = timer ?? LookTimer.of(loop)
        self.timer = timer
        timer.set(place, at: loop.now + TimeAmount(liveness.wait(at: now)), look)
    }

    func cancel() { timer?.cancel(place) }
}
