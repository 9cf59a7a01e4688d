/// Which datagrams that were dropped are worth a log line, as a value: each trouble is logged once a day, and a datagram's own text
/// only if the datagram is authentic.
///
/// A beacon is old also where it has waited: in the socket of a node that was frozen or busy, or in a machine that slept. So a clock is
/// to blame only where a second beacon, sent later and heard later, is off by as much.
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
    /// How long after the first the second beacon has to be heard: less than there is between two beacons (`BeaconSchedule`).
    static let distance = Duration.seconds(1)
    /// Two beacons are off by as much, give or take this in milliseconds: less than there is between two beacons, and more than a
    /// network takes.
    static let tolerance: UInt64 = 1000
    /// How many nodes are doubted at once.
    static let doubtLimit = 1024

    private enum Trouble: Hashable {
        case fault(BeaconFault)
        case clock(NodeID)
    }

    /// When each trouble was logged: `kindLimit` of six kinds an hour, for a day.
    private var published: [Trouble: Duration] = [:]
    /// By how many milliseconds a node's last beacon was off, and when it was heard, where none has counted since.
    private var doubted: [NodeID: (offset: Int64, heard: Duration)] = [:]
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
        if now - hourBegan >= BeaconReports.hour {
            (bySource, byKind, doubted, hourBegan) = ([:], [:], [:], now)
            published = published.filter { now - $0.value < BeaconReports.memory }
        }
        if case .stale(let offset) = fault, let beacon {
            // A command asks twice in a moment; links compare its clock.
            guard !beacon.isOfCommand, isConfirmed(offset, of: beacon.node, now) else { return nil }
        }
        guard let (trouble, text) = trouble(fault, beacon), published[trouble] == nil,
            bySource[source, default: 0] < BeaconReports.sourceLimit,
            byKind[fault.label, default: 0] < BeaconReports.kindLimit
        else { return nil }
        published[trouble] = now
        bySource[source, default: 0] += 1
        byKind[fault.label, default: 0] += 1
        return text
    }

    /// A beacon of that node counts.
    mutating func counted(_ node: NodeID) { doubted[node] = nil }

    /// Whether an earlier beacon of the node was off by as much, and has not come together with this one.
    private mutating func isConfirmed(_ offset: Int64, of node: NodeID, _ now: Duration) -> Bool {
        guard let last = doubted[node], (offset &- last.offset).magnitude < BeaconReports.tolerance else {
            if doubted[node] != nil || doubted.count < BeaconReports.doubtLimit { doubted[node] = (offset, now) }
            return false
        }
        return now - last.heard >= BeaconReports.distance
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
