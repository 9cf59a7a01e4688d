/// What is worth a line about datagrams that were dropped, as a value: each kind of trouble once, and never the
/// datagram's own text unless it is authentic.
struct BeaconNews {
    /// Different troubles told of. Whoever makes up more is not worth more lines.
    static let limit = 8

    private var told: Set<BeaconFault> = []
    private var nodes: Set<NodeID> = []
    private let own: ClusterMark

    init(own: ClusterMark) {
        self.own = own
    }

    /// - Parameter beacon: what was read, where the fault was found in an authentic one.
    /// - Returns: what to log, the first time.
    mutating func line(_ fault: BeaconFault, beacon: Beacon?) -> String? {
        if case .stale(let milliseconds) = fault {
            guard let beacon, nodes.count < BeaconNews.limit, nodes.insert(beacon.node).inserted else { return nil }
            let seconds = milliseconds.magnitude / 1000
            return "the clock of \(beacon.name) is \(seconds) s \(milliseconds > 0 ? "behind" : "ahead of") this "
                + "node's; its beacons do not count. Do both machines set their clocks by NTP?"
        }
        guard let text = text(fault), told.count < BeaconNews.limit, told.insert(fault).inserted else { return nil }
        return text
    }

    private func text(_ fault: BeaconFault) -> String? {
        switch fault {
        case .otherVersion(let version):
            "a node with another version of SkyNet is here (beacon version \(version), this one's is \(Beacon.version))"
        case .foreign(let mark):
            switch (mark.name == own.name, mark.key == 0, own.key == 0) {
            case (false, _, _): "another cluster is here"
            case (true, true, _): "nodes without a cluster key are here"
            case (true, false, true): "nodes with a cluster key are here, and this one has none"
            case (true, false, false): "nodes with another cluster key are here"
            }
        case .forged: "a beacon that claims to be of this cluster was not sealed with its key"
        case .crowded: "more nodes beacon here than can be remembered"
        case .malformed, .oversized, .own, .stale, .replayed: nil
        }
    }
}
