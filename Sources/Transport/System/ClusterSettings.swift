public import CoreMetrics
import Glibc
public import Logging
public import NIOCore
import NIOPosix

/// How a node's actor system is set up.
public struct ClusterSettings: Sendable {
    /// For people; shown in lists and logs.
    public var name: String
    /// Only nodes of the same cluster talk to each other.
    public var cluster = "skynet"
    public var role = Hello.Role.node
    /// The version of the program, told to peers; for people.
    public var version: String?
    /// Where to accept connections; `nil` accepts none, as commands do.
    public var listen: NodeAddress?
    /// Where others can reach this node if that differs from `listen`, as behind NAT.
    public var advertise: NodeAddress?
    /// The protocol's versions that this node speaks.
    package var protocols = Hello.oldestVersion...Hello.currentVersion
    /// Milliseconds since 1970, told to peers.
    package var timeOfDay: @Sendable () -> UInt64 = { WallClock.milliseconds }
    /// Addresses of nodes to connect to, again and again until they answer.
    public var join: [NodeAddress] = []
    /// How the names among them are looked up; may block.
    package var lookUp: @Sendable (NodeAddress) throws -> [NodeAddress] = { try NameLookup.addresses(of: $0) }
    /// How to find others by multicast; `nil` does not.
    public var multicast: MulticastSettings?
    /// How links are protected. Unix sockets need none: who reaches them is a matter of file rights.
    public var security = TransportSecurity.none
    /// Whether links to other machines are refused, in both directions, as they are without authentication.
    public var isLoopbackOnly = false
    /// To which users' processes of this machine there are links over TCP while there is no authentication and `isLoopbackOnly` is
    /// set: this process's own and root, who can do everything in any case.
    package var servedUsers: Set<UInt32> = [geteuid(), 0]
    /// Silence after which a link is given up; it is suspected at a little more than half of it. A peer is known to be lost
    /// within three seconds. For idle links of a node that has more than sixteen it grows with their number.
    public var silenceLimit = Duration.seconds(2.7)
    /// Time for calls made outside of any `withDeadline`. Status and control calls take milliseconds; whoever waits
    /// longer on purpose says so.
    public var standardDeadline = Duration.seconds(15)
    /// No call waits longer, whatever its caller set: a day, which no task of a night's frames takes.
    public var longestDeadline = Duration.seconds(86_400)
    /// How long calls under way may go on when the system shuts down or a link is replaced.
    public var closingLimit = Duration.seconds(2)
    /// What this node takes from each peer.
    public var limits = LinkLimits()
    /// Connections that have not finished their handshake, at once. A hundred nodes that start together fit; of more,
    /// the oldest give way.
    public var pendingConnections = 256
    public var logger = Logger(label: "skynet.transport")
    /// Where counters and timers go; `nil` takes the process's own backend (`MetricsSystem`).
    public var metrics: (any MetricsFactory)?
    /// Threads for the sockets.
    public var eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton

    public init(name: String) {
        self.name = name
    }
}
