import Logging
import NIOCore

/// What discovery asks the node that it belongs to, and what it tells that node.
///
/// All calls return at once.
protocol DiscoveryOwner: AnyObject, Sendable {
    /// The address on which the node accepts connections; `nil` where it accepts none.
    var listeningAddress: NodeAddress? { get }

    /// The address that others are told to dial; `nil` where there is none.
    var advertised: NodeAddress? { get }

    /// The number of links that are up, as of a moment ago.
    var linkCount: Int { get }

    /// Whether there is a link to that node.
    func isLinked(_ node: NodeID) -> Bool

    /// Something has become known of another node, or of this machine's own addresses.
    func report(_ report: DiscoveryReport)
}

/// What becomes known by multicast, or by looks at the machine's interfaces.
enum DiscoveryReport {
    /// A node was heard, and said at which addresses it can be reached now.
    case heard(NodeID, at: [NodeAddress])
    /// A node may be at these addresses, the best of which comes first.
    case suggested(NodeID, at: [NodeAddress])
    /// A node said that it leaves.
    case left(NodeID, name: String)
    /// This machine no longer has an address.
    case lost(IPAddress)
}

/// What discovery has of its node from the start on.
struct DiscoveryEnvironment: Sendable {
    let node: NodeID
    /// The node's name for people.
    let name: String
    let cluster: String
    /// How beacons are sealed.
    let security: TransportSecurity
    let loop: any EventLoop
    /// The time since the node's start.
    let now: @Sendable () -> Duration
    let metrics: TransportMetrics
    let logger: Logger
}
