import Testing

@testable import Transport

@Suite struct LivenessTests {
    /// Ticks every half second from `from` to `to` and collects what comes of it.
    private func ticks(_ liveness: inout Liveness, from: Double, to: Double) -> [Liveness.Action?] {
        stride(from: from, through: to, by: 0.5).map { liveness.tick(at: .seconds($0)) }
    }

    @Test func `a talking peer is never pinged`() {
        var liveness = Liveness(now: .zero)
        for step in 1...20 {
            let now = Duration.seconds(0.5 * Double(step))
            _ = liveness.heard(at: now - .milliseconds(10))
            #expect(liveness.tick(at: now) == nil)
        }
    }

    @Test func `a silent peer is pinged, suspected and given up`() {
        var liveness = Liveness(now: .zero)
        #expect(ticks(&liveness, from: 0.5, to: 3) == [.ping, .ping, .ping, .suspect, .ping, .lost])
    }

    @Test func `a suspected peer that speaks is back`() {
        var liveness = Liveness(now: .zero)
        _ = ticks(&liveness, from: 0.5, to: 2)
        let first = liveness.heard(at: .seconds(2.1))
        let second = liveness.heard(at: .seconds(2.2))
        #expect(first && !second)
        #expect(liveness.tick(at: .seconds(2.5)) == nil)
    }

    @Test func `a node that was itself asleep blames nobody`() {
        var liveness = Liveness(now: .zero)
        _ = liveness.heard(at: .seconds(1))
        _ = ticks(&liveness, from: 0.5, to: 1)
        // Suspended for an hour.
        #expect(liveness.tick(at: .seconds(3601)) != .lost)
        #expect(liveness.tick(at: .seconds(3601.5)) != .lost)
    }
}
