import Testing

@testable import Transport

@Suite struct DialPlanTests {
    private let address = NodeAddress.hostPort(host: "10.0.0.2", port: 7420)
    private let own = NodeID(rawValue: 50)
    private let smaller = NodeID(rawValue: 10)
    private let larger = NodeID(rawValue: 90)

    @Test func `a seed is dialled at once and again after every failure`() {
        var plan = DialPlan(own: own)
        #expect(plan.seed(address, now: .zero) == [.dial(address)])
        for hour in 0..<100 {
            let actions = plan.failed(address, .timedOut, now: .seconds(3600 * hour))
            guard case .wait(_, let pause) = actions.first else {
                Issue.record("a seed is tried for ever")
                return
            }
            #expect(pause <= (hour == 0 ? BackOff.longest : BackOff.patient))
            let due = Duration.seconds(3600 * hour) + pause
            #expect(plan.due(address, now: due - .milliseconds(1)) { _ in false } == [], "not before")
            #expect(plan.due(address, now: due) { _ in false } == [.dial(address)])
            #expect(plan.due(address, now: due) { _ in false } == [], "not twice")
        }
    }

    @Test func `the smaller node id dials, the larger gives it a head start`() {
        var plan = DialPlan(own: own)
        #expect(plan.suggest([address], node: larger, by: .beacon, isLinked: false, now: .zero) == [.dial(address)])
        plan = DialPlan(own: own)
        #expect(
            plan.suggest([address], node: smaller, by: .beacon, isLinked: false, now: .zero) == [
                .wait(address, DialPlan.courtesy)
            ])
        #expect(plan.due(address, now: .seconds(1)) { $0 == smaller } == [], "the other side has dialled meanwhile")
    }

    @Test func `repeated suggestions do not dial again while one dial is under way`() {
        var plan = DialPlan(own: own)
        _ = plan.suggest([address], node: larger, by: .beacon, isLinked: false, now: .zero)
        #expect(plan.suggest([address], node: larger, by: .beacon, isLinked: false, now: .seconds(3)) == [])
    }

    @Test func `this node's own address is dialled once and never again`() {
        var plan = DialPlan(own: own)
        _ = plan.seed(address, now: .zero)
        #expect(plan.failed(address, .refusedByPeer(Refusal(.itself, "")), now: .zero) == [])
        #expect(plan.suggest([address], node: larger, by: .beacon, isLinked: false, now: .zero) == [])
        #expect(plan.suggest([address], node: own, by: .beacon, isLinked: false, now: .zero) == [])
    }

    @Test func `a seed that turns out to be linked already is left in peace until that link is lost`() {
        var plan = DialPlan(own: own)
        _ = plan.seed(address, now: .zero)
        let refusal = Refusal(.duplicate, "there is a link", by: larger)
        #expect(plan.failed(address, .refusedByPeer(refusal), now: .zero).count == 1)
        #expect(plan.due(address, now: .seconds(1)) { $0 == larger } == [])
        #expect(plan.lost(larger, saidGoodbye: false, now: .zero).count == 1)
    }

    @Test func `a lost node is looked for, one that said goodbye is not, a seed always is`() {
        var plan = DialPlan(own: own)
        _ = plan.suggest([address], node: larger, by: .beacon, isLinked: false, now: .zero)
        plan.connected(address, to: larger)
        #expect(plan.lost(larger, saidGoodbye: false, now: .zero).count == 1)
        plan.connected(address, to: larger)
        #expect(plan.lost(larger, saidGoodbye: true, now: .zero) == [])
        #expect(plan.lost(larger, saidGoodbye: false, now: .zero) == [], "forgotten")

        _ = plan.seed(address, now: .zero)
        plan.connected(address, to: larger)
        #expect(plan.lost(larger, saidGoodbye: true, now: .zero).count == 1)
    }

    @Test func `an unreachable suggestion is forgotten after its lifetime`() {
        var plan = DialPlan(own: own)
        _ = plan.suggest([address], node: larger, by: .beacon, isLinked: false, now: .zero)
        #expect(!plan.failed(address, .timedOut, now: .seconds(599)).isEmpty)
        #expect(plan.failed(address, .timedOut, now: .seconds(601)).isEmpty)
    }

    @Test func `a node that was linked once is looked for for ever, if less eagerly`() {
        var plan = DialPlan(own: own)
        _ = plan.suggest([address], node: larger, by: .beacon, isLinked: false, now: .zero)
        plan.connected(address, to: larger)
        var now = Duration.seconds(5)
        var actions = plan.lost(larger, saidGoodbye: false, now: now)
        var longest = Duration.zero
        while now < .seconds(86_400) {
            guard case .wait(_, let pause)? = actions.first else {
                Issue.record("given up at \(now)")
                return
            }
            if now < DialPlan.suggestionLifetime { #expect(pause <= BackOff.longest) }
            longest = max(longest, pause)
            now += pause
            #expect(plan.due(address, now: now) { _ in false } == [.dial(address)])
            actions = plan.failed(address, .timedOut, now: now)
        }
        #expect(longest > BackOff.longest && longest <= BackOff.patient)
    }

    @Test func `who is heard of while a dial waits is dialled at once, but not faster and faster`() {
        var plan = DialPlan(own: own)
        func hear(_ milliseconds: Int, _ node: NodeID) -> [DialPlan.Action] {
            plan.suggest([address], node: node, by: .beacon, isLinked: false, now: .milliseconds(milliseconds))
        }
        #expect(hear(0, larger) == [.dial(address)])
        for _ in 0..<10 { _ = plan.failed(address, .timedOut, now: .milliseconds(3000)) }
        #expect(hear(3100, larger) == [.dial(address)])
        #expect(hear(3200, larger) == [], "under way")
        _ = plan.failed(address, .timedOut, now: .milliseconds(3300))
        #expect(hear(3400, larger) == [], "dialled a moment ago")
        #expect(hear(3600, larger) == [.dial(address)])

        plan = DialPlan(own: own)
        #expect(hear(0, smaller) == [.wait(address, DialPlan.courtesy)])
        #expect(hear(600, smaller) == [], "the smaller one has its head start")
        #expect(plan.due(address, now: DialPlan.courtesy) { _ in false } == [.dial(address)])
    }

    @Test func `a further address of a node is dialled only where the better one does not answer`() {
        var plan = DialPlan(own: own)
        let second = NodeAddress.hostPort(host: "10.0.1.2", port: 7420)
        #expect(
            plan.suggest([address, second], node: larger, by: .beacon, isLinked: false, now: .zero)
                == [.dial(address), .wait(second, DialPlan.preference)])
        #expect(plan.suggest([address, second], node: larger, by: .beacon, isLinked: false, now: .seconds(1)) == [])
        #expect(plan.due(second, now: DialPlan.preference) { _ in true } == [])
        #expect(plan.suggest([second], node: larger, by: .beacon, isLinked: false, now: .seconds(3)) == [.dial(second)])
    }

    @Test func `a goodbye heard by beacon ends the search`() {
        var plan = DialPlan(own: own)
        _ = plan.suggest([address], node: larger, by: .beacon, isLinked: false, now: .zero)
        _ = plan.failed(address, .timedOut, now: .seconds(3))
        plan.left(larger)
        #expect(plan.due(address, now: .seconds(9)) { _ in false } == [])
    }

    @Test func `a flood of suggestions is bounded, and so are the dials under way`() {
        var plan = DialPlan(own: own)
        var actions: [DialPlan.Action] = []
        for number in 0..<10_000 {
            let address = NodeAddress.hostPort(host: "10.0.\(number / 250).\(number % 250)", port: 1 + number % 60_000)
            actions +=
                plan.suggest(
                    [address], node: NodeID(rawValue: 1000 + UInt64(number)), by: .beacon, isLinked: false, now: .zero)
        }
        #expect(actions.count == DialPlan.targetLimit)
        func isDial(_ action: DialPlan.Action) -> Bool { if case .dial = action { true } else { false } }
        let dialled = actions.filter(isDial)
        #expect(dialled.count == DialPlan.dialLimit)

        // A seed does not wait behind them, and one that has failed leaves its place to another.
        let seed = NodeAddress.hostPort(host: "10.9.9.9", port: 7420)
        #expect(plan.seed(seed, now: .zero) == [.dial(seed)])
        guard case .dial(let failed) = dialled[0], case .wait(let waiting, DialPlan.dialPause)? = actions.last else {
            Issue.record("neither dialled nor waiting")
            return
        }
        #expect(plan.due(waiting, now: .seconds(1)) { _ in false } == [.wait(waiting, DialPlan.dialPause)])
        #expect(plan.failed(failed, .timedOut, now: .zero).count == 1)
        #expect(plan.due(waiting, now: .seconds(2)) { _ in false } == [.dial(waiting)])
    }

    @Test func `pauses grow to their bound and shrink only after a success`() {
        var backOff = BackOff(generator: SeededGenerator(seed: 1))
        let pauses = (0..<12).map { _ in backOff.next() }
        #expect(pauses[0] <= BackOff.first && pauses[0] >= BackOff.first / 2)
        #expect(pauses[11] >= BackOff.longest / 2 && pauses[11] <= BackOff.longest)
        backOff.reset()
        #expect(backOff.next() <= BackOff.first)
    }

    @Test func `both sides keep the same one of two links`() {
        for own: UInt64 in [1, 2] {
            let peer = NodeID(rawValue: 3 - own)
            // The link dialled by node 1 is the one to keep, seen from both ends.
            let oneDialledHere = own == 1
            let ones = LinkChoice.Candidate(dialledHere: oneDialledHere, dial: 1)
            let twos = LinkChoice.Candidate(dialledHere: !oneDialledHere, dial: 9)
            let own = NodeID(rawValue: own)
            #expect(LinkChoice.newReplacesOld(own: own, peer: peer, old: twos, new: ones))
            #expect(!LinkChoice.newReplacesOld(own: own, peer: peer, old: ones, new: twos))
            // Of one side's own, the later dial wins in whatever order they come up.
            let later = LinkChoice.Candidate(dialledHere: oneDialledHere, dial: 2)
            #expect(LinkChoice.newReplacesOld(own: own, peer: peer, old: ones, new: later))
            #expect(!LinkChoice.newReplacesOld(own: own, peer: peer, old: later, new: ones))
        }
    }
}
