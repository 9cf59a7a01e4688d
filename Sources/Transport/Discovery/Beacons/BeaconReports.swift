/// Which datagrams that were dropped are worth a log line, as a value: each trouble is logged once a day, and a datagram's own text
/// only if the datagram is authentic.
///
/// Anybody can make up troubles. A source that does so gets few lines, and keeps back neither the troubles of another source nor
/// troubles of another kind. After an hour there is room for new ones.
struct BeaconReports {
    /// Log lines an hour about one source, and about one kind of trouble.
    static let sourceLimit = 2
    static let kindLimit = 4
    /// How long a trouble that was logged is not logged again.
    static let memory = Duration.seconds(86_400)
    private static let hour = Duration.seconds(3600)

    private enum Trouble: Hashable {
        case fault(BeaconFault)
        case clock(NodeID)
    }

    /// When each trouble was logged: `kindLimit` of six kinds an hour, for a day.
    private var published: [Trouble: Duration] = [:]
    /// The number of lines in this hour.
    private var bySource: [String: Int] = [:]
    private var byKind: [String: Int] = [:]
    private var hourBegan = Duration.zero
    private let own: ClusterMark

    init(own: ClusterMark) {
        self.own = own
    }

    /// - Parameters:
    ///   - beacon: the beacon that was read, where the fault was found in one that could be opened.
    ///   - source: the IP address that it came from.
    /// - Returns: what to log, if anything.
    mutating func line(_ fault: BeaconFault, beacon: Beacon?, from source: String, now: Duration) -> String? {
        guard let (trouble, text) = trouble(fault, beacon) else { return nil }
        if now - hourBegan >= BeaconReports.hour {
            (bySource, byKind, hourBegan) = ([:], [:], now)
            published = published.filter { now - $0.value < BeaconReports.memory }
        }
        guard published[trouble] == nil, bySource[source, default: 0] < BeaconReports.sourceLimit,
            byKind[fault.label, default: 0] < BeaconReports.kindLimit
        else { return nil }
        published[trouble] = now
        bySource[source, default: 0] += 1
        byKind[fault.label, default: 0] += 1
        return text
    }

    private func trouble(_ fault: BeaconFault, _ beacon: Beacon?) -> (Trouble, String)? {
        guard case .stale(let milliseconds) = fault else { return text(fault).map { (.fault(fault), $0) } }
        guard let beacon else { return nil }
        let seconds = milliseconds.magnitude / 1000
        return (
            .clock(beacon.node),
            "the clock of \(beacon.name) is \(seconds) s \(milliseconds > 0 ? "behind" : "ahead of") this "
                + "node's; its beacons do not count. Do both machines set their clocks by NTP?"
        )
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
