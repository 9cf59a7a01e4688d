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

    @Test func `a silent link of a peer that is heard elsewhere is kept for a while`() {
        var liveness = Liveness(now: .zero)
        liveness.vouched(at: .zero)
        #expect(ticks(&liveness, from: 0.5, to: 3).last == .lost, "a word from before the silence says nothing")
        liveness = Liveness(now: .zero)
        var actions: [Liveness.Action?] = []
        for second in stride(from: 0.5, through: 15, by: 0.5) {
            if second > 2 { liveness.vouched(at: .seconds(second - 0.1)) }
            actions.append(liveness.tick(at: .seconds(second)))
        }
        #expect(actions.firstIndex(of: .lost) == 23, "after twelve seconds at the latest")
        #expect(actions.count { $0 == .suspect } == 1)

        liveness = Liveness(now: .zero)
        _ = ticks(&liveness, from: 0.5, to: 1)
        liveness.doubt(at: .seconds(1))
        liveness.vouched(at: .seconds(1.2))
        #expect(ticks(&liveness, from: 1.5, to: 2).last == .lost, "not where the link itself is in doubt")

        liveness = Liveness(now: .zero)
        liveness.vouched(at: .seconds(2))
        #expect(ticks(&liveness, from: 0.5, to: 5).firstIndex(of: .lost) == 9, "one word is worth one limit")
    }

    @Test func `idle links of a node with many are looked at less often`() {
        #expect([0, 1, 16, 17, 20, 21, 99, 1000].map { Liveness.stretch(links: $0) } == [1, 1, 1, 2, 2, 3, 22, 24])
        var liveness = Liveness(now: .zero)
        liveness.stretch(by: 4, now: .zero)
        #expect(liveness.pause == .seconds(2) && liveness.isStretched)
        let looks = stride(from: 2.0, through: 12, by: 2).map { liveness.tick(at: .seconds($0)) }
        #expect(looks == [.ping, .ping, .ping, .suspect, .ping, .lost])
    }

    @Test func `looks fall on multiples of their distance, so that one serves all links`() {
        var liveness = Liveness(silenceLimit: .seconds(3), now: .zero)
        #expect(liveness.wait(at: .zero) == .milliseconds(500))
        #expect(liveness.wait(at: .milliseconds(1100)) == .milliseconds(400))
        liveness.stretch(by: 4, now: .seconds(1))
        #expect(liveness.wait(at: .milliseconds(1100)) == .milliseconds(900))
        #expect(liveness.wait(at: .seconds(2)) == .seconds(2))
        #expect(liveness.wait(at: .seconds(100_001)) == .seconds(1))
    }

    @Test func `a suspected peer is given up when its time is over`() {
        func silent(vouched: Int? = nil) -> Duration {
            var liveness = Liveness(silenceLimit: .seconds(3), now: .milliseconds(300))
            var now = Duration.milliseconds(300)
            if let vouched { liveness.vouched(at: .milliseconds(vouched)) }
            while true {
                now += liveness.wait(at: now)
                if liveness.tick(at: now) == .lost { return now }
            }
        }
        #expect(silent() == .milliseconds(3300))
        #expect(silent(vouched: 2200) == .milliseconds(5200))
        #expect(silent(vouched: 200) == .milliseconds(3300))
        #expect(silent(vouched: 11200) == .milliseconds(12300))
    }

    @Test func `a doubt is not stretched away`() {
        var liveness = Liveness(now: .zero)
        liveness.stretch(by: 7, now: .zero)
        liveness.doubt(at: .seconds(1))
        liveness.stretch(by: 7, now: .seconds(1))
        #expect(ticks(&liveness, from: 1.5, to: 2).last == .lost)
        _ = liveness.heard(at: .seconds(2))
        liveness.stretch(by: 7, now: .seconds(2))
        #expect(liveness.isStretched, "the doubt is over")
    }

    @Test func `only segments of the same silence count`() {
        var segments = SegmentCount()
        let first = segments.hasGrown(to: 5)
        let second = segments.hasGrown(to: 5)
        let third = segments.hasGrown(to: 6)
        segments.forget()
        let next = segments.hasGrown(to: 9)
        #expect(!first && !second && third && !next)
    }

    @Test func `an idle peer has its full time when work begins`() {
        var liveness = Liveness(now: .zero)
        liveness.stretch(by: 6, now: .zero)
        // Silent for 2.9 s, which was in order.
        liveness.stretch(by: 1, now: .seconds(2.9))
        #expect(liveness.pause == .seconds(0.5))
        let looks = stride(from: 3.4, through: 5.4, by: 0.5).map { liveness.tick(at: .seconds($0)) }
        #expect(looks == [.ping, .ping, .suspect, .ping, .lost], "as with half a second of silence before")

        liveness = Liveness(now: .zero)
        liveness.stretch(by: 6, now: .zero)
        _ = liveness.heard(at: .seconds(2.8))
        liveness.stretch(by: 1, now: .seconds(2.9))
        #expect(liveness.tick(at: .seconds(3.2)) == nil)
    }

    @Test func `no pattern of work loses a peer that answers every ping`() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<200 {
            var liveness = Liveness(silenceLimit: .seconds(2.5), now: .zero)
            var now = Duration.zero
            for _ in 0..<200 {
                now += liveness.pause * Double.random(in: 1...1.3, using: &generator)
                let action = liveness.tick(at: now)
                #expect(action != .lost && action != .suspect, "at \(now)")
                if action == .ping { _ = liveness.heard(at: now + .milliseconds(1)) }
                if Bool.random(using: &generator) {
                    liveness.stretch(by: .random(in: 1...7, using: &generator), now: now)
                }
            }
        }
    }
}
