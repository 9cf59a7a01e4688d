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
        /// An address is recognised by the host that has it.
        case waited(Int, NodeID, Int)
        case arrived(Int, NodeID, at: Int, dial: UInt64)
        case failed(Int, NodeID, Int, Failure)
        case look(Int, NodeID)
        case lookAt(link: Int, side: Int)
    }

    enum Failure {
        case timedOut, refused, duplicate(NodeID)

        var handshakeFailure: HandshakeFailure {
            switch self {
            case .timedOut: .timedOut
            case .refused: .broken("refused")
            case .duplicate(let node): .refusedByPeer(Refusal(.duplicate, "there is one", by: node))
            }
        }
    }

    private struct Entry: Comparable {
        var time: Duration
        var number: Int
        var happening: Happening

        static func < (one: Entry, other: Entry) -> Bool { (one.time, one.number) < (other.time, other.number) }
        static func == (one: Entry, other: Entry) -> Bool { one.number == other.number }
    }

    /// Each host has another, by which it is found.
    private static let firstPort = 7420

    var random: SeededGenerator
    private(set) var now = Duration.zero
    private(set) var hosts: [SimulatedHost] = []
    private var links: [SimulatedLink] = []
    /// The newest link that is up from a host (row) to a machine (column).
    private var places: [SimulatedLink.Place?]
    /// Whether a beacon of a machine (row) says nothing new to a host (column), which has a link to it and knows its
    /// address: the plan would only note the time, which matters after ten minutes.
    private var isQuiet: [Bool]
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
        places = Array(repeating: nil, count: count * count)
        isQuiet = Array(repeating: false, count: count * count)
        hosts.reserveCapacity(count)
        for number in 0..<count {
            hosts.append(
                SimulatedHost(
                    address: .hostPort(
                        host: "10.0.\(number / 250).\(number % 250)", port: SimulatedNetwork.firstPort + number),
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

    /// Lets happen what is to happen up to a time, or until all lists are right, looked at every tenth of a second.
    mutating func run(until end: Duration, orConverged: Bool = false) {
        var nextLook = now
        while let entry = entries.min, entry.time <= end {
            if orConverged, entry.time >= nextLook {
                if isConverged { return }
                nextLook = entry.time + .milliseconds(100)
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
        case .waited(let host, let node, let target):
            guard hosts[host].isUp, hosts[host].node == node else { return }
            let address = hosts[target].address
            let isLinked =
                hosts[host].plan.node(at: address).map { place(of: host, to: $0, at: target) != nil } ?? false
            perform(host, hosts[host].plan.due(address, now: now, isLinked: isLinked))
        case .arrived(let host, let node, let target, let dial): arrived(host, node, target, dial)
        case .failed(let host, let node, let target, let failure):
            guard hosts[host].isUp, hosts[host].node == node else { return }
            perform(host, hosts[host].plan.failed(hosts[target].address, failure.handshakeFailure, now: now))
        case .look(let host, let node):
            guard hosts[host].isUp, hosts[host].node == node, hosts[host].lookDue <= now else { return }
            armLook(host)
            for place in allPlaces(of: host) { look(Int(place.link), Int(place.side)) }
        case .lookAt(let link, let side):
            if links[link][side].isUp { look(link, side) }
        }
    }

    // MARK: - Who is linked to whom

    /// The link that is up from a host to a node of a machine.
    private func place(of host: Int, to node: NodeID, at peer: Int) -> SimulatedLink.Place? {
        if let place = places[host * hosts.count + peer], self.peer(place).node == node { return place }
        return hosts[host].oldLinks.isEmpty ? nil : hosts[host].oldLinks[node]
    }

    private func peer(_ place: SimulatedLink.Place) -> SimulatedLink.Side {
        links[Int(place.link)][1 - Int(place.side)]
    }

    private func allPlaces(of host: Int) -> [SimulatedLink.Place] {
        places[host * hosts.count..<(host + 1) * hosts.count].compactMap(\.self)
            + hosts[host].oldLinks.values.sorted { $0.link < $1.link }
    }

    /// - Returns: the link to the same node that this one stands in for.
    private mutating func put(_ place: SimulatedLink.Place, of host: Int) -> SimulatedLink.Place? {
        let peer = peer(place)
        let index = host * hosts.count + peer.host
        if let old = self.place(of: host, to: peer.node, at: peer.host) {
            places[index] = place
            return old
        }
        if let older = places[index] { hosts[host].oldLinks[self.peer(older).node] = older }
        places[index] = place
        hosts[host].linkCount += 1
        return nil
    }

    private mutating func remove(_ place: SimulatedLink.Place, of host: Int) {
        let peer = peer(place)
        let index = host * hosts.count + peer.host
        if places[index] == place { places[index] = nil } else { hosts[host].oldLinks[peer.node] = nil }
        hosts[host].linkCount -= 1
        isQuiet[peer.host * hosts.count + host] = false
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
        for other in hosts.indices {
            isQuiet[host * hosts.count + other] = false
            isQuiet[other * hosts.count + host] = false
        }
        hosts[host].isUp = true
        armLook(host)
        advance(host, .started)
    }

    /// - Parameter isSilent: as by a power cut: no peer gets a notice. Otherwise the kernel closes all connections.
    private mutating func stop(_ host: Int, isSilent: Bool) {
        guard hosts[host].isUp else { return }
        let ends = allPlaces(of: host)
        for place in ends {
            let peer = peer(place)
            if isRunning(peer.node, at: peer.host) { correct -= 1 } else { outdated -= 1 }
        }
        hosts[host].isUp = false
        for peer in hosts.indices { places[host * hosts.count + peer] = nil }
        hosts[host].oldLinks = [:]
        hosts[host].linkCount = 0
        // Every host that lists it now has an entry that is out of date.
        for other in hosts.indices where hosts[other].isUp && place(of: other, to: hosts[host].node, at: host) != nil {
            correct -= 1
            outdated += 1
        }
        for place in ends {
            let (link, side) = (Int(place.link), Int(place.side))
            links[link][side].isUp = false
            if !isSilent, !isCut(host, links[link][1 - side].host) { end(link, 1 - side, saidGoodbye: false) }
            recycle(link)
        }
    }

    private mutating func leave(_ host: Int) {
        guard hosts[host].isUp else { return }
        let node = hosts[host].node
        schedule(.beacon(from: host, node, .goodbye), after: lateness())
        for place in allPlaces(of: host) where !isCut(host, peer(place).host) {
            end(Int(place.link), 1 - Int(place.side), saidGoodbye: true)
        }
        stop(host, isSilent: true)
    }

    private func isRunning(_ node: NodeID, at host: Int) -> Bool { hosts[host].isUp && hosts[host].node == node }

    // MARK: - Beacons

    private mutating func advance(_ host: Int, _ event: BeaconSchedule.Event) {
        let step = hosts[host].schedule.handle(event, now: now, members: hosts[host].linkCount)
        let due = now + step.pause
        if hosts[host].beaconDue <= now || due < hosts[host].beaconDue {
            hosts[host].beaconDue = due
            schedule(.beaconDue(host, hosts[host].node), after: step.pause)
        }
        if let kind = step.send { schedule(.beacon(from: host, hosts[host].node, kind), after: lateness()) }
    }

    private mutating func deliver(_ from: Int, _ node: NodeID, _ kind: Beacon.Kind) {
        let address = [hosts[from].address]
        let isCurrent = isRunning(node, at: from)
        let lost = UInt64(loss * Double(UInt64.max))
        for host in hosts.indices where host != from && parts[host] == parts[from] {
            if random.next() < lost { continue }
            if isCurrent, kind == .announce, isQuiet[from * hosts.count + host] { continue }
            guard hosts[host].isUp else { continue }
            let isLinked = place(of: host, to: node, at: from) != nil
            if kind == .goodbye {
                if !isLinked { hosts[host].plan.left(node) }
                continue
            }
            if kind == .solicit {
                let members = hosts[host].linkCount
                if isLinked || hosts[host].schedule.answersNewcomer(members: members) { advance(host, .solicited) }
            }
            perform(host, hosts[host].plan.suggest(address, node: node, by: .beacon, isLinked: isLinked, now: now))
            if isLinked, isCurrent { isQuiet[from * hosts.count + host] = true }
        }
    }

    // MARK: - Dials

    private mutating func perform(_ host: Int, _ actions: [DialPlan.Action]) {
        for action in actions {
            switch action {
            case .wait(let address, let pause):
                guard let target = index(of: address) else { continue }
                schedule(.waited(host, hosts[host].node, target), after: pause)
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
        guard case .hostPort(_, let port) = address else { return nil }
        return port - SimulatedNetwork.firstPort
    }

    /// The hello of a dial is at its target, or the connection never gets there.
    private mutating func arrived(_ host: Int, _ node: NodeID, _ target: Int, _ dial: UInt64) {
        guard hosts[host].isUp, hosts[host].node == node else { return }
        if isCut(host, target) { return schedule(.failed(host, node, target, .timedOut), after: .seconds(3)) }
        guard hosts[target].isUp else { return schedule(.failed(host, node, target, .refused), after: lateness()) }
        let peer = hosts[target].node
        if let place = place(of: target, to: node, at: host) {
            let replaces = LinkChoice.newReplacesOld(
                own: peer, peer: node, old: links[Int(place.link)].candidate(Int(place.side)),
                new: LinkChoice.Candidate(dialledHere: false, dial: dial))
            guard replaces else {
                return schedule(.failed(host, node, target, .duplicate(peer)), after: lateness())
            }
        }
        link(host, target, dial: dial)
    }

    private mutating func link(_ host: Int, _ target: Int, dial: UInt64) {
        let sides = [host, target].map {
            SimulatedLink.Side(
                host: $0, node: hosts[$0].node,
                liveness: Liveness(silenceLimit: .seconds(2.7), asksFirst: $0 == host, now: now))
        }
        let made = SimulatedLink(sides[0], sides[1], dial: dial)
        let new: Int
        if let free = freeLinks.popLast() {
            links[free] = made
            new = free
        } else {
            links.append(made)
            new = links.count - 1
        }
        for side in 0..<2 {
            let (own, peer) = (sides[side], sides[1 - side])
            superseded(own.host, by: peer)
            if let known = put(SimulatedLink.Place(new, side), of: own.host) {
                links[Int(known.link)][Int(known.side)].isUp = false
                recycle(Int(known.link))
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
            guard let place = place(of: host, to: node, at: peer.host) else { continue }
            let (link, side) = (Int(place.link), Int(place.side))
            links[link][side].liveness.doubt(at: now)
            schedule(.lookAt(link: link, side: side), after: links[link][side].liveness.wait(at: now))
        }
    }

    // MARK: - Links

    private mutating func armLook(_ host: Int) {
        var liveness = Liveness(silenceLimit: .seconds(2.7), asksFirst: true, now: now)
        liveness.setPace(.idle(stretch: Liveness.stretch(links: hosts[host].linkCount)), now: now)
        let pause = liveness.wait(at: now)
        hosts[host].lookDue = now + pause
        schedule(.look(host, hosts[host].node), after: pause)
    }

    private mutating func look(_ link: Int, _ side: Int) {
        let (host, peer) = (links[link][side].host, links[link][1 - side].host)
        let action = links[link][side].liveness.tick(at: now)
        links[link][side].liveness.setPace(.idle(stretch: Liveness.stretch(links: hosts[host].linkCount)), now: now)
        switch action {
        case .ping, .insist: ping(link, side)
        case .suspect:
            note(hosts[host].membership.suspected(links[link][1 - side].node))
            ping(link, side)
        case .lost:
            end(link, side, saidGoodbye: false)
            if !isCut(host, peer) { end(link, 1 - side, saidGoodbye: false) }
            recycle(link)
        case nil: break
        }
        // A link that is silent or suspected is checked at its own pace.
        guard links[link][side].isUp, action != .lost else { return }
        let pause = links[link][side].liveness.wait(at: now)
        if now + pause < hosts[host].lookDue { schedule(.lookAt(link: link, side: side), after: pause) }
    }

    private mutating func ping(_ link: Int, _ side: Int) {
        let (host, peer) = (links[link][side].host, links[link][1 - side].host)
        guard !isCut(host, peer), hosts[peer].isUp else { return }
        guard links[link][1 - side].isUp else {
            // The other end is closed, and its machine says so.
            end(link, side, saidGoodbye: false)
            return recycle(link)
        }
        for end in 0..<2 where links[link][end].liveness.heard(at: now) {
            note(hosts[links[link][end].host].membership.heard(links[link][1 - end].node))
        }
    }

    /// A side learns that its link has ended.
    private mutating func end(_ link: Int, _ side: Int, saidGoodbye: Bool) {
        guard links[link][side].isUp else { return }
        links[link][side].isUp = false
        let (host, peer) = (links[link][side].host, links[link][1 - side])
        let place = SimulatedLink.Place(link, side)
        guard hosts[host].isUp, self.place(of: host, to: peer.node, at: peer.host) == place else { return }
        remove(place, of: host)
        if isRunning(peer.node, at: peer.host) { correct -= 1 } else { outdated -= 1 }
        note(hosts[host].membership.unlinked(peer.node, saidGoodbye: saidGoodbye))
        perform(host, hosts[host].plan.lost(peer.node, saidGoodbye: saidGoodbye, now: now))
    }

    /// Lets the place of a link be used again once both sides have ended. What is still to happen to it finds it ended, or
    /// another in its place, which it then looks at once more than needed.
    private mutating func recycle(_ link: Int) {
        guard !links[link][0].isUp, !links[link][1].isUp, !links[link].isFree else { return }
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
