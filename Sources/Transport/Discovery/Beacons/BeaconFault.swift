/// Why a datagram is dropped.
package enum BeaconFault: Error, Hashable, Sendable {
    /// It is not a beacon at all.
    case malformed
    /// It is longer than a beacon can be.
    case oversized
    /// A beacon of another version of the program.
    case otherVersion(UInt8)
    /// A beacon of another cluster, or of one with another key.
    case foreign(ClusterMark)
    /// It claims to be of this cluster, and was not sealed with its key.
    case forged
    /// It is this node's own beacon, which has come back.
    case own
    /// It was sent so many milliseconds before now (or after, where negative) that it does not count.
    case stale(milliseconds: Int64)
    /// It is not newer than one that was heard already.
    case replayed
    /// There are more nodes than can be remembered.
    case crowded

    /// One word, for a metric.
    package var label: String {
        switch self {
        case .malformed: "malformed"
        case .oversized: "oversized"
        case .otherVersion: "other_version"
        case .foreign: "foreign"
        case .forged: "forged"
        case .own: "own"
        case .stale: "stale"
        case .replayed: "replayed"
        case .crowded: "crowded"
        }
    }

    /// Every word that `label` can be.
    static let labels = [
        "malformed", "oversized", "other_version", "foreign", "forged", "own", "stale", "replayed", "crowded",
    ]
}
