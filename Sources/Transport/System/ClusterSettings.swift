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
    /// Where to accept connections; `nil` accepts none, as commands do.
    public var listen: NodeAddress?
    /// Where others can reach this node if that differs from `listen`, as behind NAT.
    public var advertise: NodeAddress?
    /// Addresses of nodes to connect to, again and again until they answer.
    public var join: [NodeAddress] = []
    /// How to find others by multicast; `nil` does not.
    public var multicast: MulticastSettings?
    /// How links are protected. Unix sockets need none: who reaches them is a matter of file rights.
    public var security = TransportSecurity.none
    /// Whether links to other machines are refused, in both directions, as they are without authentication.
    public var isLoopbackOnly = false
    /// Silence after which a link is given up; it is suspected at a little more than half of it.
    public var silenceLimit = Duration.seconds(3)
    public var logger = Logger(label: "skynet.transport")
    /// Threads for the sockets.
    public var eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton

    public init(name: String) {
        self.name = name
    }
}
