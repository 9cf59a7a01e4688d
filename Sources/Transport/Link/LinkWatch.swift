import NIOCore

/// What the handler of a link keeps to watch over the peer: how alive that is, when to look next, and the ping that waits for its
/// answer. Lives on the link's event loop.
struct LinkWatch {
    var liveness: Liveness
    /// What the kernel has heard of the peer, where the link has not.
    var segments = SegmentCount()
    private let place = LookTimer.Place()
    private var timer: LookTimer?
    private var pingSentAt: Duration?

    private let silenceLimit: Duration
    private let asksFirst: Bool

    /// - Parameter asksFirst: for one of the two ends; see `Liveness`.
    init(silenceLimit: Duration, asksFirst: Bool, now: Duration) {
        (self.silenceLimit, self.asksFirst) = (silenceLimit, asksFirst)
        liveness = Liveness(silenceLimit: silenceLimit, asksFirst: asksFirst, now: now)
    }

    /// The link is there, and the first ping is about to be sent.
    mutating func begin(now: Duration) {
        liveness = Liveness(silenceLimit: silenceLimit, asksFirst: asksFirst, now: now)
        pingSentAt = now
    }

    /// A ping is about to be sent. Where one is on its way already, the answer is taken for that one's.
    mutating func noteQuestion(now: Duration) {
        pingSentAt = pingSentAt ?? now
    }

    /// An answer has come.
    ///
    /// - Returns: the time since its ping; `nil` where none was sent.
    mutating func takePong(now: Duration) -> Duration? {
        defer { pingSentAt = nil }
        return pingSentAt.map { now - $0 }
    }

    /// Looks once more when `liveness` says so, and not when it said before.
    mutating func arm(_ loop: any EventLoop, now: Duration, _ look: @escaping () -> Void) {
        let timer = timer ?? LookTimer.of(loop)
        self.timer = timer
        timer.set(place, at: loop.now + TimeAmount(liveness.wait(at: now)), look)
    }

    func cancel() { timer?.cancel(place) }
}
