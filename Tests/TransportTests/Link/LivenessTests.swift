import Testing

@testable import Transport

@Suite struct LivenessTests {
    private static let limit = Duration.seconds(3)

    private func make(asksFirst: Bool = true, from start: Duration = .zero) -> Liveness {
        Liveness(silenceLimit: LivenessTests.limit, asksFirst: asksFirst, now: start)
    }

    /// Ticks whenever it is time until `end` or the loss, and returns the actions.
    private func checks(
        _ liveness: inout Liveness, from start: Duration = .zero, to end: Duration = .seconds(100),
        before: (inout Liveness, Duration) -> Void = { _, _ in }
    ) -> [(at: Duration, action: Liveness.Action?)] {
        var checks: [(at: Duration, action: Liveness.Action?)] = []
        var now = start
        while checks.last?.action != .lost {
            now += liveness.wait(at: now)
            guard now <= end else { break }
            before(&liveness, now)
            checks.append((now, liveness.tick(at: now)))
        }
        return checks
    }

    @Test(arguments: [true, false]) func `a talking peer is never pinged`(asksFirst: Bool) {
        var liveness = make(asksFirst: asksFirst)
        let seen = checks(&liveness, to: .seconds(20)) { _ = $0.heard(at: $1 - .milliseconds(10)) }
        #expect(seen.count >= 11 && seen.allSatisfy { $0.action == nil })
    }

    @Test func `a silent peer is pinged, suspected and given up`() {
        var first = make()
        let seen = checks(&first)
        #expect(seen.map(\.action) == [.ping, .suspect] + Array(repeating: .insist, count: 7) + [.lost])
        #expect(
            seen.map(\.at) == [1500, 2000, 2125, 2250, 2375, 2500, 2625, 2750, 2875, 3000].map { .milliseconds($0) })

        var second = make(asksFirst: false)
        let later = checks(&second)
        #expect(later.map(\.action) == [.ping, .ping, .suspect, .insist, .insist, .insist, .lost])
        #expect(
            later.map(\.at) == [1687.5, 2000, 2500, 2625, 2750, 2875, 3000].map { .milliseconds($0) },
            "the other end may ask first")
    }

    @Test func `a peer has longer to answer while calls are under way`() {
        var liveness = make()
        liveness.setPace(.working, now: .zero)
        let seen = checks(&liveness)
        #expect(seen.first?.at == .seconds(1) && seen.first?.action == .ping && seen.last?.at == .seconds(3))
        #expect(seen.count { $0.action == .suspect } == 1 && seen.count { $0.action == .ping } == 2)
        #expect(seen.count { $0.action == .insist } == 7)
    }

    @Test func `a peer that was pinged a moment ago is not suspected yet`() {
        var liveness = make(asksFirst: false)
        // The ping falls just before the end of the time, and a check just after it.
        let start = Duration.milliseconds(30)
        _ = liveness.heard(at: start)
        let seen = checks(&liveness, from: start)
        let ping = seen.first { $0.action == .ping }
        let suspect = seen.first { $0.action == .suspect }
        #expect(ping.flatMap { ping in suspect.map { $0.at - ping.at >= .milliseconds(375) } } == true)
        #expect(seen.last?.at == start + .seconds(3))
    }

    @Test func `the side that is pinged can change its pace meanwhile`() {
        var liveness = make(asksFirst: false)
        liveness.setPace(.idle(stretch: 7), now: .zero)
        _ = liveness.wait(at: .zero)
        var now = Duration.zero
        var changed: Duration?
        while now < .seconds(60), changed == nil {
            now += .milliseconds(1350)
            _ = liveness.heard(at: now)
            if liveness.mayWaitLonger {
                liveness.setPace(.idle(stretch: 1), now: now)
                _ = liveness.wait(at: now)
                changed = now
            }
        }
        #expect(changed.map { $0 <= .seconds(6) } == true)
        #expect(checks(&liveness, from: now).last?.at == now + .seconds(3))
    }

    /// Two ends that check at different times: `offset` of a pause lies between their checks, `trip` is the way of a frame.
    ///
    /// - Returns: how many pings each has sent, and how often they have looked.
    private func pings(offset: Double, trip: Duration) -> (sent: [Int], checks: Int) {
        let shift = LivenessTests.limit / 2 * offset
        var ends = [make(asksFirst: true), make(asksFirst: false, from: shift)]
        // What is under way: when it arrives, at which end, and whether it wants an answer.
        var frames: [(at: Duration, end: Int, isPing: Bool)] = []
        var due = [ends[0].wait(at: .zero), ends[1].wait(at: shift)]
        var sent = [0, 0]
        var checks = 0
        while let now = (due + frames.map(\.at)).min(), now < .seconds(300) {
            for frame in frames where frame.at == now {
                let clock = now + (frame.end == 1 ? shift : .zero)
                _ = ends[frame.end].heard(at: clock)
                if ends[frame.end].mayWaitLonger { due[frame.end] = now + ends[frame.end].wait(at: clock) }
                if frame.isPing { frames.append((now + trip, 1 - frame.end, false)) }
            }
            frames.removeAll { $0.at == now }
            for end in 0..<2 where due[end] == now {
                let clock = now + (end == 1 ? shift : .zero)
                let action = ends[end].tick(at: clock)
                #expect(action == nil || action == .ping)
                checks += 1
                if action == .ping {
                    sent[end] += 1
                    frames.append((now + trip, 1 - end, true))
                }
                due[end] = now + ends[end].wait(at: clock)
            }
        }
        return (sent, checks)
    }

    @Test(arguments: [0, 0.02, 0.3, 0.5, 0.7, 0.98])
    func `on an idle link one end pings and the other sleeps`(offset: Double) {
        for trip in [Duration.microseconds(50), .milliseconds(3), .milliseconds(80)] {
            let (sent, checks) = pings(offset: offset, trip: trip)
            #expect(
                (199...200).contains(sent[0]) && sent[1] == 0 && checks == sent[0], "\(sent), \(checks) with \(trip)")
        }
    }

    @Test func `an end pings if the other one hears but does not ping`() {
        var liveness = make(asksFirst: false)
        var asked: [Duration] = []
        var answered = Duration.zero
        var now = Duration.zero
        while now < .seconds(60) {
            now += liveness.wait(at: now)
            if answered > .zero { _ = liveness.heard(at: answered) }
            let action = liveness.tick(at: now)
            #expect(action == nil || action == .ping)
            if action == .ping {
                asked.append(now)
                answered = now + .milliseconds(1)
            }
        }
        #expect((20...40).contains(asked.count))
    }

    @Test func `a suspected peer that speaks is back`() {
        var liveness = make()
        _ = checks(&liveness, to: .seconds(2))
        let first = liveness.heard(at: .seconds(2.1))
        let second = liveness.heard(at: .seconds(2.2))
        #expect(first && !second)
        #expect(liveness.tick(at: .seconds(2.25)) == nil)
    }

    @Test func `a node that was suspended itself does not give up its peers`() {
        var liveness = make()
        _ = liveness.heard(at: .seconds(1))
        _ = checks(&liveness, to: .seconds(1.5))
        // Suspended for an hour.
        #expect(liveness.tick(at: .seconds(3601)) != .lost)
        #expect(liveness.tick(at: .seconds(3601.5)) != .lost)
    }

    @Test func `a silent link of a peer that is heard elsewhere is kept for a while`() {
        var liveness = make()
        liveness.confirmed(at: .zero)
        #expect(checks(&liveness).last?.at == .seconds(3), "a word from before the silence says nothing")

        liveness = make()
        let seen = checks(&liveness) { if $1 > .seconds(2) { $0.confirmed(at: $1 - .milliseconds(100)) } }
        #expect(seen.last?.at == .seconds(12), "at the latest")
        #expect(seen.count { $0.action == .suspect } == 1)

        liveness = make()
        _ = checks(&liveness, to: .seconds(1))
        liveness.doubt(at: .seconds(1))
        liveness.confirmed(at: .seconds(1.2))
        #expect(checks(&liveness, from: .seconds(1)).last?.at == .seconds(2), "not where the link itself is in doubt")

        liveness = make()
        liveness.confirmed(at: .seconds(2))
        #expect(checks(&liveness).last?.at == .seconds(5), "one word is worth one limit")
    }

    @Test func `a suspected peer is confirmed although a third of all probes or answers get lost`() {
        var generator = SeededGenerator(seed: 7)
        var lost = 0
        for _ in 0..<1000 {
            var liveness = make()
            var now = Duration.zero
            // The link itself carries nothing.
            while now < .seconds(10) {
                now += liveness.wait(at: now)
                let action = liveness.tick(at: now)
                if action == .lost {
                    lost += 1
                    break
                }
                guard action == .suspect || action == .insist else { continue }
                if Double.random(in: 0..<1, using: &generator) >= 0.36 { liveness.confirmed(at: now) }
            }
        }
        #expect(lost <= 2, "\(lost) of 1000")
    }

    @Test(arguments: [true, false], [1, 3, 22]) func `calls to a dead peer do not delay its loss`(
        asksFirst: Bool, stretch: Int
    ) {
        for (pause, phase) in [2, 5, 30].flatMap({ pause in (0..<10).map { (pause, $0) } }) {
            var liveness = make(asksFirst: asksFirst)
            liveness.setPace(.idle(stretch: stretch), now: .zero)
            var now = Duration.zero
            var due = liveness.wait(at: now)
            // Each gives up after a second.
            var call = Duration.seconds(pause) * phase / 10
            var callEnd = Duration.zero
            while now < .seconds(300) {
                if call <= due {
                    now = call
                    (call, callEnd) = (now + .seconds(pause), now + .seconds(1))
                    guard liveness.isIdle else { continue }
                    liveness.setPace(.working, now: now)
                } else {
                    now = due
                    if liveness.tick(at: now) == .lost { break }
                    liveness.setPace(now < callEnd ? .working : .idle(stretch: stretch), now: now)
                }
                due = now + liveness.wait(at: now)
            }
            // What is called for the first time when it is about to be asked has all that time again.
            let limit = Duration.seconds(3) * stretch + (stretch > 1 ? .seconds(1.7) * stretch : .milliseconds(1))
            #expect(now <= limit, "every \(pause) s, phase \(phase)")
        }
    }

    @Test func `a call after a long suspension does not lose a peer that was asked before it`() {
        var liveness = make()
        liveness.setPace(.idle(stretch: 7), now: .zero)
        _ = checks(&liveness, to: .seconds(12))
        #expect(liveness.tick(at: .seconds(3600)) != .lost)
        liveness.setPace(.working, now: .seconds(3600))
        #expect(liveness.tick(at: .seconds(3600.5)) != .lost)
    }

    @Test func `a node with many links checks the idle ones less often`() {
        #expect([0, 1, 16, 17, 20, 21, 99, 1000].map { Liveness.stretch(links: $0) } == [1, 1, 1, 2, 2, 3, 22, 24])
        var liveness = make()
        liveness.setPace(.idle(stretch: 4), now: .zero)
        #expect(liveness.pause == .seconds(6) && liveness.isIdle)
        let seen = checks(&liveness)
        #expect(seen.map(\.action) == [.ping, .suspect, .insist, .lost], "seldom asked for")
        #expect(seen.map(\.at) == [6, 8, 10, 12].map { .seconds($0) })
    }

    @Test func `checks fall on multiples of their interval, so that one serves all links`() {
        var liveness = make()
        func wait(at milliseconds: Int) -> Duration {
            _ = liveness.heard(at: .milliseconds(milliseconds))
            return liveness.wait(at: .milliseconds(milliseconds))
        }
        #expect(wait(at: 0) == .milliseconds(1500))
        #expect(wait(at: 1100) == .milliseconds(400))
        liveness.setPace(.idle(stretch: 4), now: .milliseconds(1100))
        #expect(wait(at: 1100) == .milliseconds(4900))
        #expect(wait(at: 6000) == .seconds(6))
        #expect(wait(at: 100_001_000) == .seconds(1))
    }

    @Test func `a suspected peer is given up when its time is over`() {
        func silent(confirmed: Int? = nil) -> Duration? {
            var liveness = make(from: .milliseconds(300))
            if let confirmed { liveness.confirmed(at: .milliseconds(confirmed)) }
            return checks(&liveness, from: .milliseconds(300)).last?.at
        }
        #expect(silent() == .milliseconds(3300))
        #expect(silent(confirmed: 2200) == .milliseconds(5200))
        #expect(silent(confirmed: 200) == .milliseconds(3300))
        #expect(silent(confirmed: 11200) == .milliseconds(12300))
    }

    @Test func `a doubt shortens the time even on a slow idle link`() {
        var liveness = make()
        liveness.setPace(.idle(stretch: 7), now: .zero)
        liveness.doubt(at: .seconds(1))
        liveness.setPace(.idle(stretch: 7), now: .seconds(1))
        #expect(checks(&liveness, from: .seconds(1)).last?.at == .seconds(2))
        _ = liveness.heard(at: .seconds(2))
        liveness.setPace(.idle(stretch: 7), now: .seconds(2))
        #expect(liveness.isIdle, "the doubt is over")
    }

    @Test func `only segments within the same silence count`() {
        var segments = SegmentCount()
        let first = segments.hasGrown(to: 5)
        let second = segments.hasGrown(to: 5)
        let third = segments.hasGrown(to: 6)
        segments.forget()
        let next = segments.hasGrown(to: 9)
        #expect(!first && !second && third && !next)
    }

    @Test(arguments: [true, false]) func `an idle peer has its full time when work begins`(asksFirst: Bool) {
        var liveness = make(asksFirst: asksFirst)
        liveness.setPace(.idle(stretch: 6), now: .zero)
        // Silent for 2.9 s, which was in order.
        liveness.setPace(.idle(stretch: 1), now: .milliseconds(2900))
        #expect(liveness.pause == .milliseconds(1500))
        let seen = checks(&liveness, from: .milliseconds(2900))
        #expect(
            seen.first?.action == .ping && seen.last?.at == .milliseconds(4400), "as with one pause of silence before")

        liveness = make(asksFirst: asksFirst)
        liveness.setPace(.idle(stretch: 6), now: .zero)
        _ = liveness.heard(at: .seconds(2.88))
        liveness.setPace(.idle(stretch: 1), now: .seconds(2.9))
        let first = checks(&liveness, from: .seconds(2.9)).first { $0.action != nil }
        #expect(first.map { $0.at > .seconds(3.1) } == true)
    }

    @Test(arguments: [true, false]) func `no pattern of work loses a peer that answers every ping`(asksFirst: Bool) {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<200 {
            var liveness = Liveness(silenceLimit: .seconds(2.5), asksFirst: asksFirst, now: .zero)
            var now = Duration.zero
            for _ in 0..<200 {
                now += liveness.wait(at: now) * Double.random(in: 1...1.3, using: &generator)
                let action = liveness.tick(at: now)
                #expect(action != .lost && action != .suspect, "at \(now)")
                if action == .ping { _ = liveness.heard(at: now + .milliseconds(1)) }
                if Bool.random(using: &generator) {
                    liveness.setPace(.idle(stretch: .random(in: 1...7, using: &generator)), now: now)
                }
            }
        }
    }
}
