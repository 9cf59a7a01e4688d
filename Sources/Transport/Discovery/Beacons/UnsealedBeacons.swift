import NIOCore

/// Bounds the effects of beacons that anybody could have sent, as a value. Without a cluster key, or with certificates of an own
/// PKI, the nodes share no secret to seal their beacons with.
///
/// Such a beacon suggests only the address that it came from, and a source may suggest only a few. Otherwise one datagram could
/// make every node of a cluster dial any host and port.
struct UnsealedBeacons {
    /// How many beacons of one source count at once, and how many count per second in the long run. A machine with thirty nodes
    /// sends eight a second, and three times thirty when they are switched on together.
    static let burst = 128.0
    static let perSecond = 16.0
    /// How many ports of one source are dialled; these are nodes on one machine.
    static let portLimit = 32
    /// The ports that may be a node's. Those of services of the system (RFC 6335, section 6) may not.
    static let ports = 1024...UInt16.max
    /// Shortest time between two suggestions of one address. It need not be dialled more often.
    static let suggestionPause = Duration.seconds(1)
    /// How many sources are remembered at once: a local network has some hundred machines.
    static let sourceLimit = 1024
    /// How long a source that is silent is remembered.
    static let memory = Duration.seconds(600)

    private struct Source {
        var left = UnsealedBeacons.burst
        var lastHeard: Duration
        /// When each port was suggested last.
        var ports: [UInt16: Duration] = [:]
    }

    private var sources: [IPAddress: Source] = [:]

    /// Whether a beacon counts at all. A beacon from this machine does: its users may dial what they like without this node.
    mutating func admits(_ address: SocketAddress, now: Duration) -> Bool {
        guard let address = IPAddress(address) else { return false }
        if address.isLoopback { return true }
        if sources[address] == nil, sources.count >= UnsealedBeacons.sourceLimit {
            sources = sources.filter { now - $0.value.lastHeard <= UnsealedBeacons.memory }
            guard sources.count < UnsealedBeacons.sourceLimit else { return false }
        }
        var source = sources[address] ?? Source(lastHeard: now)
        let gained = (now - source.lastHeard) / .seconds(1) * UnsealedBeacons.perSecond
        source.left = min(UnsealedBeacons.burst, source.left + max(0, gained))
        source.lastHeard = max(now, source.lastHeard)
        let isAdmitted = source.left >= 1
        if isAdmitted { source.left -= 1 }
        sources[address] = source
        return isAdmitted
    }

    /// Whether a beacon that counts is to lead to a dial of the address that it came from, with its port.
    mutating func suggests(_ beacon: Beacon, from address: SocketAddress, now: Duration) -> Bool {
        guard beacon.addressOfSource(address) != nil, let address = IPAddress(address) else { return false }
        if address.isLoopback { return true }
        guard var source = sources[address], UnsealedBeacons.ports.contains(beacon.port) else { return false }
        if let last = source.ports[beacon.port] {
            guard now - last >= UnsealedBeacons.suggestionPause else { return false }
        } else if source.ports.count >= UnsealedBeacons.portLimit {
            source.ports = source.ports.filter { now - $0.value <= UnsealedBeacons.memory }
            guard source.ports.count < UnsealedBeacons.portLimit else { return false }
        }
        source.ports[beacon.port] = now
        sources[address] = source
        return true
    }
}

extension Beacon {
    /// The address that the datagram came from, with the port that it names; `nil` where the sender takes no connections there.
    func addressOfSource(_ source: SocketAddress) -> NodeAddress? {
        guard port > 0, let ip = IPAddress(source), let address = NodeAddress(source)?.with(port: Int(port)),
            !host.isEmpty || places.contains(.source) || places.contains(.address(ip)), address.isDialable
        else { return nil }
        return address
    }
}
