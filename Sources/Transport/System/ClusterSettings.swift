public import CoreMetrics
import Glibc
public import Logging
public import NIOCore
import NIOPosix

/// How a node's actor system is set up.
public struct ClusterSettings: Sendable {
    /// The node's name for people; it is shown in lists and logs.
    public var name: String
    /// Only nodes of the same cluster talk to each other.
    public var cluster = "skynet"
    public var role = Hello.Role.node
    /// The version of the program. Peers are told it and show it to people.
    public var version: String?
    /// What the numbers of this node's results depend on; peers are told it. A line of at most `Hello.arithmeticLimit` bytes.
    public var arithmetic: String?
    /// Where to accept connections; `nil` accepts none, as commands do.
    public var listen: NodeAddress?
    /// Where others can reach this node if that differs from `listen`, as behind NAT.
    public var advertise: NodeAddress?
    /// The protocol's versions that this node speaks.
    package var protocols = Hello.oldestVersion...Hello.currentVersion
    /// The time of day that peers are told, in milliseconds since 1970.
    package var timeOfDay: @Sendable () -> UInt64 = { WallClock.milliseconds }
    /// Addresses of nodes to connect to, again and again until they answer.
    public var join: [NodeAddress] = []
    /// How the names among these addresses are looked up. The function may block.
    package var lookUp: @Sendable (NodeAddress) throws -> [NodeAddress] = { try NameLookup.addresses(of: $0) }
    /// How other nodes are found by multicast; with `nil` they are not.
    public var multicast: MulticastSettings?
    /// How links are protected. Unix sockets need no protection: file rights decide who reaches them.
    public var security = TransportSecurity.none
    /// Whether links to other machines are refused, in both directions, as they are without authentication.
    public var isLoopbackOnly = false
    /// The users of this machine whose processes may have links over TCP while there is no authentication and `isLoopbackOnly` is
    /// set: the user of this process, and root, who can do everything in any case.
    package var servedUsers: Set<UInt32> = [geteuid(), 0]
    /// The silence after which a link is given up. Its peer is suspected after a little more than half of that. So a peer is known
    /// to be lost within three seconds. For idle links of a node that has more than sixteen links, the silence grows with their
    /// number.
    public var silenceLimit = Duration.seconds(2.7)
    /// The time for calls made outside of any `withDeadline`. Status and control calls take milliseconds; a caller that waits
    /// longer on purpose sets its own deadline.
    public var standardDeadline = Duration.seconds(15)
    /// No call waits longer than this, whatever its caller set. It is a day, and no task of a night's frames takes so long.
    public var longestDeadline = Duration.seconds(86_400)
    /// How long calls under way may go on when the system shuts down or a link is replaced.
    public var closingLimit = Duration.seconds(2)
    /// What this node takes from each peer.
    public var limits = LinkLimits()
    /// How many connections at once may have an unfinished handshake. A hundred nodes that start together fit; where there are more
    /// connections, the oldest of the address with most of them gives way.
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
