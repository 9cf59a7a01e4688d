import HeapModule

@testable import Transport

/// Hosts on one network, with the machines that decide about membership on each: `BeaconSchedule`, `DialPlan`, `LinkChoice`,
/// `Liveness`, `Membership`. Datagrams get lost and late, the network falls apart and heals, hosts fail and come back.
/// All of it follows from the seed.
struct SimulatedNetwork {
    enum Happening {
        case start(Int), crash(Int, isSilent: Bool), leave(Int), split(into: Int), heal
        case beaconDue(Int, NodeID)
        case beacon(from: Int, NodeID, Beacon.Kind)
        case waited(Int, NodeID, NodeAddress)
        case arrived(Int, NodeID, at: Int, dial: UInt64)
        case failed(Int, NodeID, NodeAddress, HandshakeFailure)
        case look(Int, NodeID)
        case lookAt(link: Int, side: Int)
    }

    private struct Entry: Comparable {
        var time: Duration
        var number: Int
        var happening: Happening

        static func < (one: Entry, other: Entry) -> Bool { (one.time, one.number) < (other.time, other.number) }
        static func == (one: Entry, other: Entry) -> Bool { one.number == other.number }
    }

    var random: SeededGenerator
    private(set) var now = Duration.zero
    private(set) var hosts: [SimulatedHost] = []
    private var links: [SimulatedLink] = []
    private var freeLinks: [Int] = []
    private var entries = Heap<Entry>()
    private var lastNumber = 0
    /// Which part of the network a host is in.
    private var parts: [Int]
    /// Share of datagrams lost.
    private let loss: Double
    /// Longest delay of anything.
    private let delay: Duration
    /// Pairs of hosts that run, one of which lists the other, and entries of lists that are out of date.
    private(set) var correct = 0
    private(set) var outdated = 0
    private(set) var steps = 0
    /// What has happened to lists, to see that the seeds differ.
    private(set) var events: [String: Int] = [:]

    init(hosts count: Int, seed: UInt64) {
        random = SeededGenerator(seed: seed)
        loss = Double.random(in: 0...0.3, using: &random)
        delay = .milliseconds(Int.random(in: 1...50, using: &random))
        parts = Array(repeating: 0, count: count)
        hosts.reserveCapacity(count)
        for number in 0..<count {
            hosts.append(
                SimulatedHost(
                    address: .hostPort(host: "10.0.\(number / 250).\(number % 250)", port: 7420),
                    node: NodeID(rawValue: random.next()), seed: random.next()))
        }
    }

    var running: Int { hosts.count { $0.isUp } }

    /// Whether every node that runs lists all others that do, and nobody else.
    var isConverged: Bool {
        let running = running
        return correct == running * (running - 1) && outdated == 0
    }

    mutating func schedule(_ happening: Happening, after pause: Duration) {
        lastNumber += 1
        entries.insert(Entry(time: now + pause, number: lastNumber, happening: happening))
    }

    /// Lets happen what is to happen up to a time, or until `isDone`, which is asked every tenth of a second.
    mutating func run(until end: Duration, unless isDone: (borrowing SimulatedNetwork) -> Bool = { _ in false }) {
        var nextAsk = now
        while let entry = entries.min, entry.time <= end {
            if entry.time >= nextAsk {
                if isDone(self) { return }
                nextAsk = entry.time + .milliseconds(100)
            }
            entries.removeMin()
            now = entry.time
            steps += 1
            handle(entry.happening)
        }
        now = end
    }

    private mutating func handle(_ happening: Happening) {
        switch happening {
        case .start(let host): start(host)
        case .crash(let host, let isSilent): stop(host, isSilent: isSilent)
        case .leave(let host): leave(host)
        case .split(let count): for host in parts.indices { parts[host] = Int.random(in: 0..<count, using: &random) }
        case .heal: for host in parts.indices { parts[host] = 0 }
        case .beaconDue(let host, let node):
            guard hosts[host].isUp, hosts[host].node == node, hosts[host].beaconDue <= now else { return }
            advance(host, .due)
        case .beacon(let from, let node, let kind): deliver(from, node, kind)
        case .waited(let host, let node, let address):
            guard hosts[host].isUp, hosts[host].node == node else { return }
            let isLinked = hosts[host].plan.node(at: address).map { hosts[host].links[$0] != nil } ?? false
            perform(host, hosts[host].plan.due(address, now: now, isLinked: isLinked))
        case .arrived(let host, let node, let target, let dial): arrived(host, node, target, dial)
        case .failed(let host, let node, let address, let failure):
            guard hosts[host].isUp, hosts[host].node == node else { return }
            perform(host, hosts[host].plan.failed(address, failure, now: now))
        case .look(let host, let node):
            guard hosts[host].isUp, hosts[host].node == node, hosts[host].lookDue <= now else { return }
            for (link, side) in hosts[host].links.values.sorted(by: { $0.link < $1.link }) { look(link, side) }
            armLook(host)
        case .lookAt(let link, let side):
            if links[link].sides[side].isUp { look(link, side) }
        }
    }

    private mutating func lateness() -> Duration { delay * Double.random(in: 0.1...1, using: &random) }

    private func isCut(_ one: Int, _ other: Int) -> Bool { parts[one] != parts[other] }

    // MARK: - Hosts

    private mutating func start(_ host: Int) {
        guard !hosts[host].isUp else { return }
        let former = hosts[host].formerNodes + [hosts[host].node]
        hosts[host] = SimulatedHost(
            address: hosts[host].address, node: NodeID(rawValue: random.next()), seed: random.next())
        hosts[host].formerNodes = former
        hosts[host].isUp = true
        armLook(host)
        advance(host, .started)
    }

    /// - Parameter isSilent: as by a power cut: nobody is told. Otherwise the kernel closes all connections.
    private mutating func stop(_ host: Int, isSilent: Bool) {
        guard hosts[host].isUp else { return }
        for (peer, place) in hosts[host].links {
            let isCurrent = isRunning(peer, at: links[place.link].sides[1 - place.side].host)
            if isCurrent { correct -= 1 } else { outdated -= 1 }
        }
        let ends = hosts[host].links.values.sorted { $0.link < $1.link }
        hosts[host].isUp = false
        hosts[host].links = [:]
        // Whoever lists it lists somebody who is gone.
        for other in hosts.indices where hosts[other].isUp && hosts[other].links[hosts[host].node] != nil {
            correct -= 1
            outdated += 1
        }
        for (link, side) in ends {
            links[link].sides[side].isUp = false
            if !isSilent, !isCut(host, links[link].sides[1 - side].host) { end(link, 1 - side, saidGoodbye: false) }
            recycle(link)
        }
    }

    private mutating func leave(_ host: Int) {
        guard hosts[host].isUp else { return }
        let node = hosts[host].node
        schedule(.beacon(from: host, node, .goodbye), after: lateness())
        for (link, side) in hosts[host].links.values.sorted(by: { $0.link < $1.link })
        where !isCut(host, links[link].sides[1 - side].host) {
            end(link, 1 - side, saidGoodbye: true)
        }
        stop(host, isSilent: true)
    }

    private func isRunning(_ node: NodeID, at host: Int) -> Bool { hosts[host].isUp && hosts[host].node == node }

    // MARK: - Beacons

    private mutating func advance(_ host: Int, _ event: BeaconSchedule.Event) {
        let step = hosts[host].schedule.handle(event, now: now, members: hosts[host].links.count)
        let due = now + step.pause
        if hosts[host].beaconDue <= now || due < hosts[host].beaconDue {
            hosts[host].beaconDue = due
            schedule(.beaconDue(host, hosts[host].node), after: step.pause)
        }
        if let kind = step.send { schedule(.beacon(from: host, hosts[host].node, kind), after: lateness()) }
    }

    private mutating func deliver(_ from: Int, _ node: NodeID, _ kind: Beacon.Kind) {
        let address = [hosts[from].address]
        for host in hosts.indices where host != from && hosts[host].isUp && !isCut(from, host) {
            if Double.random(in: 0..<1, using: &random) < loss { continue }
            let isLinked = hosts[host].links[node] != nil
            if kind == .goodbye {
                if !isLinked { hosts[host].plan.left(node) }
                continue
            }
            if kind == .solicit {
                let members = hosts[host].links.count
                if isLinked || hosts[host].schedule.answersNewcomer(members: members) { advance(host, .solicited) }
            }
            perform(host, hosts[host].plan.suggest(address, node: node, by: .beacon, isLinked: isLinked, now: now))
        }
    }

    // MARK: - Dials

    private mutating func perform(_ host: Int, _ actions: [DialPlan.Action]) {
        for action in actions {
            switch action {
            case .wait(let address, let pause): schedule(.waited(host, hosts[host].node, address), after: pause)
            case .dial(let address): dial(host, address)
            }
        }
    }

    private mutating func dial(_ host: Int, _ address: NodeAddress) {
        guard let target = index(of: address) else { return }
        hosts[host].dials += 1
        schedule(.arrived(host, hosts[host].node, at: target, dial: hosts[host].dials), after: lateness() + lateness())
    }

    private func index(of address: NodeAddress) -> Int? {
        guard case .hostPort(let host, _) = address else { return nil }
        let bytes = IPv4.bytes(of: host) ?? [0, 0, 0, 0]
        return Int(bytes[2]) * 250 + Int(bytes[3])
    }

    /// The hello of a dial is at its target, or the connection never gets there.
    private mutating func arrived(_ host: Int, _ node: NodeID, _ target: Int, _ dial: UInt64) {
        guard hosts[host].isUp, hosts[host].node == node else { return }
        let address = hosts[target].address
        if isCut(host, target) {
            return schedule(.failed(host, node, address, .timedOut), after: .seconds(3))
        }
        guard hosts[target].isUp else {
            return schedule(.failed(host, node, address, .broken("refused")), after: lateness())
        }
        let peer = hosts[target].node
        if let place = hosts[target].links[node] {
            let replaces = LinkChoice.newReplacesOld(
                own: peer, peer: node, old: links[place.link].candidate(place.side),
                new: LinkChoice.Candidate(dialledHere: false, dial: dial))
            guard replaces else {
                let refusal = Refusal(.duplicate, "there is one", by: peer)
                return schedule(.failed(host, node, address, .refusedByPeer(refusal)), after: lateness())
            }
        }
        link(host, target, dial: dial)
    }

    private mutating func link(_ host: Int, _ target: Int, dial: UInt64) {
        let liveness = Liveness(silenceLimit: .seconds(2.5), now: now)
        let sides = [host, target].map { SimulatedLink.Side(host: $0, node: hosts[$0].node, liveness: liveness) }
        let new: Int
        if let free = freeLinks.popLast() {
            links[free] = SimulatedLink(sides: sides, dial: dial)
            new = free
        } else {
            links.append(SimulatedLink(sides: sides, dial: dial))
            new = links.count - 1
        }
        for side in 0..<2 {
            let (own, peer) = (sides[side], sides[1 - side])
            superseded(own.host, by: peer)
            if let known = hosts[own.host].links.updateValue((new, side), forKey: peer.node) {
                links[known.link].sides[known.side].isUp = false
                recycle(known.link)
            } else {
                correct += 1
            }
            let member = Member(
                node: peer.node, name: "", address: hosts[peer.host].address, found: .beacon, since: now)
            note(hosts[own.host].membership.linked(member))
        }
        perform(host, hosts[host].plan.connected(hosts[target].address, to: hosts[target].node, now: now))
    }

    /// Another node at the address of an older one: the older has to show that it lives.
    private mutating func superseded(_ host: Int, by peer: SimulatedLink.Side) {
        for node in hosts[peer.host].formerNodes {
            guard let place = hosts[host].links[node] else { continue }
            links[place.link].sides[place.side].liveness.doubt(at: now)
            schedule(
                .lookAt(link: place.link, side: place.side),
                after: links[place.link].sides[place.side].liveness.wait(at: now))
        }
    }

    // MARK: - Links

    private mutating func armLook(_ host: Int) {
        var liveness = Liveness(silenceLimit: .seconds(2.5), now: now)
        liveness.stretch(by: Liveness.stretch(links: hosts[host].links.count), now: now)
        let pause = liveness.wait(at: now)
        hosts[host].lookDue = now + pause
        schedule(.look(host, hosts[host].node), after: pause)
    }

    private mutating func look(_ link: Int, _ side: Int) {
        let (host, peer) = (links[link].sides[side].host, links[link].sides[1 - side].host)
        let action = links[link].sides[side].liveness.tick(at: now)
        links[link].sides[side].liveness.stretch(by: Liveness.stretch(links: hosts[host].links.count), now: now)
        switch action {
        case .ping: ping(link, side)
        case .suspect:
            note(hosts[host].membership.suspected(links[link].sides[1 - side].node))
            ping(link, side)
        case .lost:
            end(link, side, saidGoodbye: false)
            if !isCut(host, peer) { end(link, 1 - side, saidGoodbye: false) }
            recycle(link)
        case nil: break
        }
        // One in doubt is looked at at its own pace.
        if links[link].sides[side].isUp, action != .lost, !links[link].sides[side].liveness.isStretched,
            Liveness.stretch(links: hosts[host].links.count) > 1
        {
            schedule(.lookAt(link: link, side: side), after: links[link].sides[side].liveness.wait(at: now))
        }
    }

    private mutating func ping(_ link: Int, _ side: Int) {
        let (host, peer) = (links[link].sides[side].host, links[link].sides[1 - side].host)
        guard !isCut(host, peer), hosts[peer].isUp else { return }
        guard links[link].sides[1 - side].isUp else {
            // The other end is closed, and its machine says so.
            end(link, side, saidGoodbye: false)
            return recycle(link)
        }
        for end in 0..<2 where links[link].sides[end].liveness.heard(at: now) {
            note(hosts[links[link].sides[end].host].membership.heard(links[link].sides[1 - end].node))
        }
    }

    /// A side learns that its link has ended.
    private mutating func end(_ link: Int, _ side: Int, saidGoodbye: Bool) {
        guard links[link].sides[side].isUp else { return }
        links[link].sides[side].isUp = false
        let (host, peer) = (links[link].sides[side].host, links[link].sides[1 - side])
        guard hosts[host].isUp, hosts[host].links[peer.node]?.link == link else { return }
        hosts[host].links[peer.node] = nil
        if isRunning(peer.node, at: peer.host) { correct -= 1 } else { outdated -= 1 }
        note(hosts[host].membership.unlinked(peer.node, saidGoodbye: saidGoodbye))
        perform(host, hosts[host].plan.lost(peer.node, saidGoodbye: saidGoodbye, now: now))
    }

    /// Lets the place of a link be used again once both sides have ended. What is still to happen to it finds it ended, or
    /// another in its place, which it then looks at once more than needed.
    private mutating func recycle(_ link: Int) {
        guard links[link].sides.allSatisfy({ !$0.isUp }), !links[link].isFree else { return }
        links[link].isFree = true
        freeLinks.append(link)
    }

    private mutating func note(_ event: MembershipEvent?) {
        switch event {
        case .joined: events["joined", default: 0] += 1
        case .suspect: events["suspect", default: 0] += 1
        case .back: events["back", default: 0] += 1
        case .lost: events["lost", default: 0] += 1
        case .left: events["left", default: 0] += 1
        case .draining, nil: break
        }
    }
}
