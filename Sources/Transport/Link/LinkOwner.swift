import Logging
import NIOCore

/// What the handler of a connection asks the node that the connection belongs to, and what it tells that node.
///
/// All calls happen on the connection's event loop and return at once.
protocol LinkOwner: AnyObject, Sendable {
    /// The number of links that are up, as of a moment ago.
    var linkCount: Int { get }

    /// The hello for one more connection.
    func makeHello() -> Hello

    /// A handshake is done, and this is the link that came of it. Returns why the link is not wanted after all; `nil` where it is.
    func admit(_ link: Link, on channel: any Channel) -> Refusal?

    /// Returns what runs the calls of a link's peer. It is asked once a link, after `admit`.
    func callTaker(of link: Link) -> any CallTaker

    /// Something has become known of a link's peer.
    func report(_ report: LinkReport, of link: Link)

    /// A connection is closed for a reason that the operator should see.
    ///
    /// - Parameter peer: who is at its other end, for people.
    func report(_ trouble: ConnectionTrouble, with peer: String)
}

/// What runs the calls of one link's peer. All calls of its methods happen on the link's event loop and return at once.
protocol CallTaker: AnyObject {
    /// Runs a call, or answers why it does not run. It may wait for the calls that have come in with it, up to `start`.
    ///
    /// - Parameter arrival: when the call came in.
    /// - Throws: the error that ends the link, for a call that no peer of this protocol makes.
    func take(_ call: Frame, _ targets: DeclaredTargets, arrival: ContinuousClock.Instant) throws

    /// Starts the calls that wait: no others have come in with them.
    func start()
}

/// What becomes known of the peer of a link.
enum LinkReport {
    /// The connection has ended. This is the last report about a link, and comes once.
    case ended
    /// The peer has been silent for so long that it may be gone.
    case suspected
    /// The peer was suspected, but it is there.
    case revived
    /// The peer's time of day is so far ahead of this machine's, to within half a round trip.
    case comparedClocks(offset: Duration, roundTrip: Duration)
    /// Whether the peer takes new work.
    case draining(Bool)
    /// The encoded introductions of nodes that the peer knows.
    case introductions(ByteBuffer)
}

/// Why a connection is closed, where the operator can do something about it.
enum ConnectionTrouble {
    /// This side refused the connection's handshake.
    case refused(reason: String)
    /// The connection carried something that is not the protocol.
    case broken(reason: String)
    /// The peer asks and does not read the answers.
    case unread
}

/// What the handlers of all connections of one node have in common.
struct LinkEnvironment: Sendable {
    /// The node's start, from which the deadlines of calls count.
    let nodeStart: ContinuousClock.Instant
    /// The time since then.
    let now: @Sendable () -> Duration
    /// Milliseconds since 1970.
    let timeOfDay: @Sendable () -> UInt64
    /// What this node takes from a peer.
    let limits: LinkLimits
    /// Silence after which a link is given up; see `ClusterSettings`.
    let silenceLimit: Duration
    let metrics: TransportMetrics
    let logger: Logger
}
