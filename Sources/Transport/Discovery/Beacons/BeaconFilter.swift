/// Drops beacons that were heard before or are too old, as a value. Ask it about authentic beacons only: its memory is bounded, but
/// a forger could fill it.
package struct BeaconFilter {
    /// How many nodes are remembered at once, including commands that only ask.
    package static let nodeLimit = 4096
    /// The longest time that a beacon counts, in seconds, whatever it says. Nodes say 30; a sender that says more takes up a place
    /// for longer.
    static let validityLimit: UInt16 = 300

    private struct Heard {
        var sequence: UInt64
        /// When a repetition would be stale anyway, in milliseconds since 1970.
        var expires: UInt64
    }

    private let own: NodeID
    private var heard: [NodeID: Heard] = [:]

    package init(own: NodeID) {
        self.own = own
    }

    /// - Parameter now: milliseconds since 1970.
    /// - Returns: `own`, `stale`, `replayed` or `crowded`; `nil` for a beacon that counts.
    package mutating func fault(_ beacon: Beacon, now: UInt64) -> BeaconFault? {
        guard beacon.node != own else { return .own }
        let validity = UInt64(min(beacon.validity, BeaconFilter.validityLimit)) * 1000
        let age = Int64(clamping: now) - Int64(clamping: beacon.sent)
        guard age.magnitude <= validity else { return .stale(milliseconds: age) }
        if let last = heard[beacon.node] {
            guard beacon.sequence > last.sequence else { return .replayed }
        } else if heard.count >= BeaconFilter.nodeLimit {
            heard = heard.filter { $0.value.expires >= now }
            guard heard.count < BeaconFilter.nodeLimit else { return .crowded }
        }
        let expires = beacon.sent.addingReportingOverflow(validity)
        heard[beacon.node] = Heard(
            sequence: beacon.sequence, expires: expires.overflow ? .max : expires.partialValue)
        return nil
    }
}
