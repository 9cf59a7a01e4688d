/// Why a datagram is dropped.
package enum BeaconFault: Error, Hashable, Sendable {
    /// No beacon at all.
    case malformed
    /// Longer than a beacon can be.
    case oversized
    /// A beacon of another version of the program.
    case otherVersion(UInt8)
    /// A beacon of another cluster, or of one with another key.
    case foreign(ClusterMark)
    /// It claims to be of this cluster, and was not sealed with its key.
    case forged
    /// This node's own, come back.
    case own
    /// Sent so many milliseconds before (or, negative, after) now that it does not count.
    case stale(milliseconds: Int64)
    /// Not newer than one that was heard already.
    case replayed
    /// More nodes than can be remembered.
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
