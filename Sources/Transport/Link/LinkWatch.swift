import NIOCore

/// What the handler of a link keeps to watch over the peer: how alive the peer is, when to check next, and the ping that waits for
/// its answer. It begins with the link and lives on the link's event loop.
///
/// It is a class, because it is in the handler's stage beside the link and changes with every read.
final class LinkWatch {
    var liveness: Liveness
    /// What the kernel has heard of the peer, where the link has not.
    var segments = SegmentCount()
    private let loop: any EventLoop
    private let timer: CheckTimer
    private let place = CheckTimer.Place()
    private var pingSentAt: Duration?

    /// Begins when the link is there and its first ping is about to be sent. The caller is on the loop.
    ///
    /// - Parameter asksFirst: `true` for one of the two ends; see `Liveness`.
    init(on loop: any EventLoop, silenceLimit: Duration, asksFirst: Bool, now: Duration) {
        liveness = Liveness(silenceLimit: silenceLimit, asksFirst: asksFirst, now: now)
        self.loop = loop
        timer = CheckTimer.of(loop)
        pingSentAt = now
    }

    /// Notes that a ping is about to be sent. Where another is on its way already, the answer is taken for that ping's.
    func noteQuestion(now: Duration) {
        pingSentAt = pingSentAt ?? now
    }

    /// Takes an answer to a ping.
    ///
    /// - Returns: the time since the ping; `nil` where none was sent.
    func takePong(now: Duration) -> Duration? {
        defer { pingSentAt = nil }
        return pingSentAt.map { now - $0 }
    }

    /// Sets the next check to the time that `liveness` says now, in place of the time that it said before.
    func arm(now: Duration, _ check: @escaping () -> Void) {
        timer.set(place, at: loop.now + TimeAmount(liveness.wait(at: now)), check)
    }

    func cancel() { timer.cancel(place) }
}
