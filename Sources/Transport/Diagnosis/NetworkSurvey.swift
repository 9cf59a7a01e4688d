package import NIOCore

/// What can be heard on the multicast groups by asking some times who is there and then listening, as a value.
package struct NetworkSurvey: Sendable {
    /// A path of this machine.
    package struct Way: Sendable {
        /// Why nothing can be sent or heard on the path, in the system's words.
        package var failure: String?
        /// Whether a datagram that went out on the path came back to another socket.
        package var isHeard = false
    }

    /// A node of this cluster that was heard.
    package struct Neighbour: Sendable {
        package var name: String
        /// Whether it was heard from an address of this machine.
        package var isHere: Bool
        /// Where it says that it can be reached.
        package var addresses: [NodeAddress]
        /// The addresses that it was heard from.
        package var sources: Set<IPAddress>
        /// Which of the questions it answered.
        package var answered: Set<Int>
        /// Whether it hears this machine. A single answer may be a usual beacon that came by chance just after a question; the next
        /// usual beacon is more than three questions away.
        package var answers: Bool { answered.count >= 2 }
        /// How far its clock is ahead of this machine's (behind, where negative), in milliseconds.
        package var clock: Int64
        /// Whether it has said goodbye since.
        package var hasLeft = false
    }

    /// Somebody whose datagrams do not count, and why.
    package struct Stranger: Hashable, Sendable {
        package var fault: BeaconFault
        package var source: String

        package init(fault: BeaconFault, source: String) {
            self.fault = fault
            self.source = source
        }
    }

    /// How many strangers are remembered. The group is open to everybody.
    package static let strangerLimit = 64
    /// A beacon that comes so soon after a question counts as an answer. Usual beacons are seconds apart.
    package static let answerWindow = Duration.milliseconds(350)

    /// Seconds that a beacon counts for.
    package static let validity = Beacon.standardValidity
    package static let beaconVersion = Beacon.version

    package let own: NodeID
    /// Addresses of this machine.
    package let addresses: Set<IPAddress>
    package internal(set) var ways: [BeaconPath: Way] = [:]
    package private(set) var neighbours: [NodeID: Neighbour] = [:]
    package private(set) var strangers: Set<Stranger> = []
    /// Questions asked, and when the last one was.
    package private(set) var questions = 0
    private var askedAt: Duration?

    package init(own: NodeID, addresses: Set<IPAddress>) {
        self.own = own
        self.addresses = addresses
    }

    package mutating func asked(at now: Duration) {
        questions += 1
        askedAt = now
    }

    /// Takes a datagram in.
    ///
    /// - Parameters:
    ///   - wall: the time of day, in milliseconds since 1970.
    ///   - now: the time by the clock of `asked`.
    package mutating func heard(
        _ datagram: Result<Beacon, BeaconFault>, from source: SocketAddress, wall: UInt64, at now: Duration
    ) {
        guard let address = IPAddress(source) else { return }
        switch datagram {
        case .failure(let fault):
            guard strangers.count < NetworkSurvey.strangerLimit else { return }
            strangers.insert(Stranger(fault: fault, source: address.description))
        case .success(let beacon) where beacon.node == own:
            for path in ways.keys
            where path.address == address && (source.scope == 0 || Int(source.scope) == path.index) {
                ways[path]?.isHeard = true
            }
        case .success(let beacon):
            guard beacon.kind != .goodbye else {
                neighbours[beacon.node]?.hasLeft = true
                return
            }
            // A sender that only asks is not a node.
            guard beacon.port > 0 else { return }
            heard(beacon, at: address, from: source, wall: wall, now: now)
        }
    }

    private mutating func heard(
        _ beacon: Beacon, at address: IPAddress, from source: SocketAddress, wall: UInt64, now: Duration
    ) {
        var neighbour =
            neighbours[beacon.node]
            ?? Neighbour(name: beacon.name, isHere: false, addresses: [], sources: [], answered: [], clock: 0)
        neighbour.name = beacon.name
        neighbour.isHere = neighbour.isHere || addresses.contains(address)
        neighbour.sources.insert(address)
        for address in beacon.addresses(from: source) where !neighbour.addresses.contains(address) {
            neighbour.addresses.append(address)
        }
        neighbour.clock = Int64(clamping: beacon.sent) - Int64(clamping: wall)
        if let askedAt, now - askedAt <= NetworkSurvey.answerWindow { neighbour.answered.insert(questions) }
        neighbours[beacon.node] = neighbour
    }
}
