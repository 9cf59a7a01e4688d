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
            #expect(plan.due(address, now: due - .milliseconds(1), isLinked: false) == [], "not before")
            #expect(plan.due(address, now: due, isLinked: false) == [.dial(address)])
            #expect(plan.due(address, now: due, isLinked: false) == [], "not twice")
        }
    }

    @Test func `the node with the smaller id dials first, and the other gives it a head start`() {
        var plan = DialPlan(own: own)
        #expect(plan.suggest([address], node: larger, by: .beacon, isLinked: false, now: .zero) == [.dial(address)])
        plan = DialPlan(own: own)
        #expect(
            plan.suggest([address], node: smaller, by: .beacon, isLinked: false, now: .zero) == [
                .wait(address, DialPlan.courtesy)
            ])
        #expect(
            plan.due(address, now: .seconds(1), isLinked: plan.node(at: address) == smaller) == [],
            "the other side has dialled meanwhile")
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

    @Test func `a seed that is already linked is not dialled until that link is lost`() {
        var plan = DialPlan(own: own)
        _ = plan.seed(address, now: .zero)
        let refusal = Refusal(.duplicate, "there is a link", by: larger)
        #expect(plan.failed(address, .refusedByPeer(refusal), now: .zero).count == 1)
        #expect(plan.due(address, now: .seconds(1), isLinked: plan.node(at: address) == larger) == [])
        #expect(plan.lost(larger, saidGoodbye: false, now: .zero).count == 1)
    }

    @Test func `a lost node is dialled again, one that said goodbye is not, and a seed always is`() {
        var plan = DialPlan(own: own)
        _ = plan.suggest([address], node: larger, by: .beacon, isLinked: false, now: .zero)
        _ = plan.connected(address, to: larger, now: .zero)
        #expect(plan.lost(larger, saidGoodbye: false, now: .zero).count == 1)
        _ = plan.connected(address, to: larger, now: .zero)
        #expect(plan.lost(larger, saidGoodbye: true, now: .zero) == [])
        #expect(plan.lost(larger, saidGoodbye: false, now: .zero) == [], "forgotten")

        _ = plan.seed(address, now: .zero)
        _ = plan.connected(address, to: larger, now: .zero)
        #expect(plan.lost(larger, saidGoodbye: true, now: .zero).count == 1)
    }

    @Test func `addresses of its own that a member makes up are remembered up to a number`() {
        var plan = DialPlan(own: own)
        func suggest(_ port: Int) -> [DialPlan.Action] {
            let address = NodeAddress.hostPort(host: "10.0.0.1", port: port)
            return plan.suggest([address], node: larger, by: .introduction, isLinked: false, now: .zero)
        }
        for port in 1...DialPlan.ownAddressLimit + 1 {
            #expect(suggest(port).count == 1)
            let address = NodeAddress.hostPort(host: "10.0.0.1", port: port)
            #expect(plan.failed(address, .refused(Refusal(.itself, "")), now: .zero) == [])
            #expect(suggest(port) == [], "known to be itself")
        }
        #expect(suggest(1).count == 1, "forgotten, and looked at again")
    }

    @Test func `an unreachable suggestion is forgotten after its lifetime`() {
        var plan = DialPlan(own: own)
        _ = plan.suggest([address], node: larger, by: .beacon, isLinked: false, now: .zero)
        #expect(!plan.failed(address, .timedOut, now: .seconds(599)).isEmpty)
        #expect(plan.failed(address, .timedOut, now: .seconds(601)).isEmpty)
    }

    @Test func `a node that was linked once is dialled for ever, but less often`() {
        var plan = DialPlan(own: own)
        _ = plan.suggest([address], node: larger, by: .beacon, isLinked: false, now: .zero)
        _ = plan.connected(address, to: larger, now: .zero)
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
            #expect(plan.due(address, now: now, isLinked: false) == [.dial(address)])
            actions = plan.failed(address, .timedOut, now: now)
        }
        #expect(longest > BackOff.longest && longest <= BackOff.patient)
    }

    @Test func `a node that is heard while its dial waits is dialled at once, within limits`() {
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
        #expect(plan.due(address, now: DialPlan.courtesy, isLinked: false) == [.dial(address)])
    }

    @Test func `a further address of a node is dialled only if the better one does not answer`() {
        var plan = DialPlan(own: own)
        let second = NodeAddress.hostPort(host: "10.0.1.2", port: 7420)
        #expect(
            plan.suggest([address, second], node: larger, by: .beacon, isLinked: false, now: .zero)
                == [.dial(address), .wait(second, DialPlan.preference)])
        #expect(plan.suggest([address, second], node: larger, by: .beacon, isLinked: false, now: .seconds(1)) == [])
        #expect(plan.due(second, now: DialPlan.preference, isLinked: true) == [])
        #expect(plan.suggest([second], node: larger, by: .beacon, isLinked: false, now: .seconds(3)) == [.dial(second)])
    }

    @Test func `the last working address of a lost node is dialled first`() {
        var plan = DialPlan(own: own)
        let second = NodeAddress.hostPort(host: "10.0.1.2", port: 7420)
        _ = plan.suggest([address, second], node: larger, by: .beacon, isLinked: false, now: .zero)
        _ = plan.failed(address, .timedOut, now: .seconds(1))
        _ = plan.due(second, now: DialPlan.preference, isLinked: false)
        _ = plan.connected(second, to: larger, now: .zero)
        _ = plan.due(address, now: .seconds(9), isLinked: true)
        var pauses: [NodeAddress: Duration] = [:]
        for case .wait(let address, let pause) in plan.lost(larger, saidGoodbye: false, now: .seconds(20)) {
            pauses[address] = pause
        }
        #expect(pauses.count == 2)
        #expect(pauses[second] ?? .zero <= BackOff.first)
        #expect(pauses[address] ?? .zero > DialPlan.preference)
        // When heard again, only the first address and the one that worked are dialled sooner.
        let third = NodeAddress.hostPort(host: "10.0.2.2", port: 7420)
        #expect(
            plan.suggest([third, address, second], node: larger, by: .beacon, isLinked: false, now: .seconds(20))
                == [.dial(third), .dial(second)])
    }

    @Test func `an address that a node has moved to is dialled at once when the link by the old one is lost`() {
        var plan = DialPlan(own: own)
        let second = NodeAddress.hostPort(host: "10.0.1.2", port: 7420)
        _ = plan.suggest([address], node: larger, by: .beacon, isLinked: false, now: .zero)
        _ = plan.connected(address, to: larger, now: .zero)
        _ = plan.suggest([second], node: larger, by: .beacon, isLinked: true, now: .seconds(5))
        let pauses = plan.lost(larger, saidGoodbye: false, now: .seconds(7)).compactMap { action in
            if case .wait(_, let pause) = action { pause } else { nil }
        }
        #expect(!pauses.isEmpty && pauses.allSatisfy { $0 <= BackOff.first })
    }

    @Test func `a goodbye heard by beacon ends the search`() {
        var plan = DialPlan(own: own)
        _ = plan.suggest([address], node: larger, by: .beacon, isLinked: false, now: .zero)
        _ = plan.failed(address, .timedOut, now: .seconds(3))
        plan.left(larger)
        #expect(plan.due(address, now: .seconds(9), isLinked: false) == [])
    }

    @Test func `a seed that is this node is not dialled again, and a former seed not for ever`() {
        var plan = DialPlan(own: own)
        _ = plan.seed(address, now: .zero)
        #expect(plan.failed(address, .refused(Refusal(.itself, "")), now: .zero) == [])
        #expect(plan.seed(address, now: .zero) == [])
        let second = NodeAddress.hostPort(host: "10.0.1.2", port: 7420)
        #expect(plan.seed(second, now: .zero) == [.dial(second)] && plan.isSeed(second))
        plan.unseed(second)
        #expect(plan.failed(second, .timedOut, now: DialPlan.suggestionLifetime * 2) == [])
    }

    @Test func `suggestions are limited, and so are the dials under way`() {
        var plan = DialPlan(own: own)
        var actions: [DialPlan.Action] = []
        for number in 0..<10_000 {
            let address = NodeAddress.hostPort(host: "10.0.\(number / 250).\(number % 250)", port: 1 + number % 60_000)
            actions +=
                plan.suggest(
                    [address], node: NodeID(rawValue: 1000 + UInt64(number)), by: .beacon, isLinked: false, now: .zero)
        }
        #expect(actions.count == DialPlan.freshLimit)
        #expect(plan.node(at: .hostPort(host: "10.0.16.95", port: 4096)) != nil)
        #expect(plan.node(at: .hostPort(host: "10.0.16.96", port: 4097)) == nil, "more are not kept")

        // A seed does not wait behind them.
        let seed = NodeAddress.hostPort(host: "10.9.9.9", port: 7420)
        #expect(plan.seed(seed, now: .zero) == [.dial(seed)])
    }

    @Test func `a waiting address is not dialled if its node has been linked meanwhile`() {
        var plan = DialPlan(own: own)
        func address(_ number: Int) -> NodeAddress { .hostPort(host: "10.0.0.\(number)", port: 7420) }
        for number in 0..<20 {
            let node = NodeID(rawValue: larger.rawValue + UInt64(number))
            _ = plan.suggest([address(number)], node: node, by: .beacon, isLinked: false, now: .zero)
        }
        let (first, second, third) = (DialPlan.freshLimit, DialPlan.freshLimit + 1, DialPlan.freshLimit + 2)
        let node = NodeID(rawValue: larger.rawValue)
        #expect(plan.connected(address(0), to: node, now: .seconds(1)) == [.wait(address(first), .zero)])
        #expect(plan.due(address(first), now: .seconds(1), isLinked: true) == [.wait(address(second), .zero)])
        #expect(plan.due(address(second), now: .seconds(1), isLinked: false) == [.dial(address(second))])
        // A failed dial gives up its place, and its address waits among those that have failed.
        let actions = plan.failed(address(1), .timedOut, now: .seconds(3))
        #expect(actions.first == .wait(address(third), .zero) && actions.count == 2)
        #expect(plan.due(address(third), now: .seconds(3), isLinked: false) == [.dial(address(third))])
        #expect(plan.due(address(1), now: .seconds(4), isLinked: false) == [.dial(address(1))])
    }

    @Test func `a free place goes to the next waiting address that is still wanted`() {
        var plan = DialPlan(own: own)
        func node(_ number: Int) -> NodeID { NodeID(rawValue: larger.rawValue + UInt64(number)) }
        func address(_ number: Int) -> NodeAddress { .hostPort(host: "10.0.1.\(number)", port: 7420) }
        func hear(_ number: Int, _ seconds: Int) -> [DialPlan.Action] {
            plan.suggest([address(number)], node: node(number), by: .beacon, isLinked: false, now: .seconds(seconds))
        }
        // Two have failed before; then the places are taken; then these two and a new one are heard.
        for number in 100...101 {
            _ = hear(number, 0)
            _ = plan.failed(address(number), .timedOut, now: .zero)
        }
        for number in 0..<DialPlan.freshLimit { #expect(hear(number, 1) == [.dial(address(number))]) }
        for number in 100...102 { #expect(hear(number, 2) == []) }
        #expect(plan.failed(address(0), .timedOut, now: .seconds(3)).first == .wait(address(100), .zero))
        #expect(plan.due(address(100), now: .seconds(3), isLinked: false) == [.dial(address(100))])
        #expect(hear(103, 3) == [], "the place is taken")
        #expect(plan.failed(address(1), .timedOut, now: .seconds(3)).first == .wait(address(101), .zero))
        plan.left(node(101))
        #expect(plan.due(address(101), now: .seconds(3), isLinked: false) == [.wait(address(102), .zero)])
    }

    @Test func `every waiting address is dialled in the end, whatever happens to the others`() {
        var plan = DialPlan(own: own)
        var random = SeededGenerator(seed: 1)
        var waits: [(due: Duration, address: NodeAddress)] = []
        var dialled: Set<NodeAddress> = []
        var underWay: [NodeAddress] = []
        var now = Duration.zero
        func take(_ actions: [DialPlan.Action]) {
            for action in actions {
                switch action {
                case .dial(let address):
                    dialled.insert(address)
                    underWay.append(address)
                case .wait(let address, let pause): waits.append((now + pause, address))
                }
            }
        }
        /// Pauses that are over, and the failure of every dial.
        func pass() {
            let due = waits.filter { $0.due <= now }
            waits.removeAll { $0.due <= now }
            for wait in due { take(plan.due(wait.address, now: now, isLinked: false)) }
            let ended = underWay
            underWay = []
            for address in ended { take(plan.failed(address, .timedOut, now: now)) }
        }
        func node(_ number: Int) -> NodeID { NodeID(rawValue: larger.rawValue + UInt64(number)) }
        func address(_ number: Int) -> NodeAddress { .hostPort(host: "10.0.1.\(number)", port: 7420) }
        for number in 0..<200 {
            take(plan.suggest([address(number)], node: node(number), by: .beacon, isLinked: false, now: now))
        }
        // Some are heard again, some leave, all dials fail: nobody who stays is left out.
        let gone = Set((0..<20).map { _ in Int.random(in: 0..<200, using: &random) })
        for step in 0..<3000 {
            now += .milliseconds(10)
            if step == 5 { for number in gone { plan.left(node(number)) } }
            pass()
            let number = Int.random(in: 0..<200, using: &random)
            if !gone.contains(number) {
                take(plan.suggest([address(number)], node: node(number), by: .beacon, isLinked: false, now: now))
            }
        }
        #expect((0..<200).allSatisfy { dialled.contains(address($0)) || gone.contains($0) })
        // The same is repeated: no address is forgotten in a queue.
        dialled = []
        for _ in 0..<2000 {
            now += .milliseconds(10)
            pass()
        }
        #expect(dialled.count >= 200 - gone.count)
    }

    @Test func `failing addresses do not delay one that has just been heard`() {
        var plan = DialPlan(own: own)
        for number in 0..<200 {
            let address = NodeAddress.hostPort(host: "10.0.1.\(number)", port: 7420)
            let node = NodeID(rawValue: larger.rawValue + UInt64(number))
            var actions = plan.suggest([address], node: node, by: .beacon, isLinked: false, now: .zero)
            if actions == [.dial(address)] { actions = plan.failed(address, .timedOut, now: .zero) }
            if case .wait = actions.first { _ = plan.due(address, now: .seconds(1), isLinked: false) }
        }
        #expect(
            plan.suggest([address], node: smaller, by: .beacon, isLinked: false, now: .seconds(1))
                == [.wait(address, DialPlan.courtesy)])
        #expect(plan.due(address, now: .seconds(2), isLinked: false) == [.dial(address)])
    }

    @Test func `pauses grow to their limit, and shrink only after a success`() {
        var backOff = BackOff()
        var generator = SeededGenerator(seed: 1)
        let pauses = (0..<12).map { _ in backOff.next(using: &generator) }
        #expect(pauses[0] <= BackOff.first && pauses[0] >= BackOff.first / 2)
        #expect(pauses[11] >= BackOff.longest / 2 && pauses[11] <= BackOff.longest)
        backOff.reset()
        #expect(backOff.next(using: &generator) <= BackOff.first)
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
            // The later of two dials of one side wins, in whatever order they connect.
            let later = LinkChoice.Candidate(dialledHere: oneDialledHere, dial: 2)
            #expect(LinkChoice.newReplacesOld(own: own, peer: peer, old: ones, new: later))
            #expect(!LinkChoice.newReplacesOld(own: own, peer: peer, old: later, new: ones))
        }
    }
}
