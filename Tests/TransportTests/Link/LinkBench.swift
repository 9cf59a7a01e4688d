import CoreMetrics
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing

@testable import Transport

/// A `LinkHandler` without a socket and without a node, in a time of its own: what it would write is read here, frame by frame. The
/// deadlines of calls are not in that time: `Link` takes them from the machine's clock.
final class LinkBench {
    /// A node that notes the events that it gets.
    final class Owner: LinkOwner {
        struct Notes {
            var refusal: Refusal?
            var link: Link?
            var reports: [String] = []
            var troubles: [String] = []
            /// The peer's calls that would be run.
            var calls: [UInt64] = []
        }

        let notes = NIOLockedValueBox(Notes())
        let hello: Hello

        init(_ hello: Hello) { self.hello = hello }

        var linkCount: Int { 1 }

        func makeHello() -> Hello { hello }

        func admit(_ link: Link, on channel: any Channel) -> Refusal? {
            notes.withLockedValue { notes in
                if notes.refusal == nil { notes.link = link }
                return notes.refusal
            }
        }

        func callTaker(of link: Link) -> any CallTaker { Taker(self, link) }

        func report(_ report: LinkReport, of link: Link) {
            let text =
                switch report {
                case .ended: "ended"
                case .suspected: "suspected"
                case .revived: "revived"
                case .comparedClocks: "compared clocks"
                case .draining(let isDraining): "draining \(isDraining)"
                case .introductions: "introductions"
                }
            notes.withLockedValue { $0.reports.append(text) }
        }

        func report(_ trouble: ConnectionTrouble, with peer: String) {
            let text =
                switch trouble {
                case .refused(let reason): "refused: \(reason)"
                case .broken(let reason): "broken: \(reason)"
                case .unread: "unread"
                }
            notes.withLockedValue { $0.troubles.append(text) }
        }
    }

    /// Notes the calls of the peer, and runs none.
    private final class Taker: CallTaker {
        private let owner: Owner
        private let link: Link

        init(_ owner: Owner, _ link: Link) {
            self.owner = owner
            self.link = link
        }

        func take(_ call: Frame, _ targets: DeclaredTargets, arrival: ContinuousClock.Instant) throws {
            _ = link.inbound.admit(call.call, deadline: arrival + .seconds(60), unanswered: try link.unanswered())
            owner.notes.withLockedValue { $0.calls.append(call.call) }
        }

        func start() {}
    }

    /// Holds up the end of a connection, as TLS does for the farewell of the peer.
    final class SlowClose: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        private(set) var isAsked = false

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            isAsked = true
            promise?.succeed()
        }
    }

    /// Hides from the handlers behind it that the connection is up.
    private final class EndlessEncryption: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        func channelActive(context: ChannelHandlerContext) {}
    }

    let channel = EmbeddedChannel()
    let owner: Owner
    let established: EventLoopFuture<Link>?
    private var decoder = FrameDecoder(limit: FrameLimits.data)
    /// The peer's side of the handshake.
    private let peer: Hello

    /// - Parameters:
    ///   - closesSlowly: what holds up the end of the connection.
    ///   - becomesSecure: false for an encryption that is never there.
    init(
        dialled: Bool, limits: LinkLimits = LinkLimits(), closesSlowly: SlowClose? = nil, becomesSecure: Bool = true
    ) throws {
        owner = Owner(LinkBench.hello(1, limits: limits))
        peer = LinkBench.hello(2)
        let promise = dialled ? channel.eventLoop.makePromise(of: Link.self) : nil
        established = promise?.futureResult
        let loop = channel.embeddedEventLoop
        let environment = LinkEnvironment(
            nodeStart: .now, now: { .nanoseconds(Int64(clamping: loop.now.uptimeNanoseconds)) }, timeOfDay: { 0 },
            limits: limits, silenceLimit: .seconds(3), metrics: TransportMetrics(NOOPMetricsHandler.instance),
            logger: Logger(label: "bench", factory: { _ in SwiftLogNoOpLogHandler() }))
        if !becomesSecure { try channel.pipeline.syncOperations.addHandler(EndlessEncryption()) }
        if let closesSlowly { try channel.pipeline.syncOperations.addHandler(closesSlowly) }
        try channel.pipeline.syncOperations.addHandler(
            LinkHandler(owner: owner, environment: environment, dialled: dialled, established: promise))
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/bench")).wait()
    }

    /// A handler whose handshake is done, with all that it wrote meanwhile read.
    static func linked(
        dialled: Bool = false, limits: LinkLimits = LinkLimits(), closesSlowly: SlowClose? = nil
    ) throws -> (LinkBench, Link) {
        let bench = try LinkBench(dialled: dialled, limits: limits, closesSlowly: closesSlowly)
        try bench.sayHello()
        _ = try bench.written()
        return (bench, try #require(bench.notes.link))
    }

    static func hello(_ node: UInt64, limits: LinkLimits = LinkLimits()) -> Hello {
        Hello(
            cluster: "c", node: NodeID(rawValue: node), name: "n\(node)", role: .node, advertised: nil, limits: limits)
    }

    var notes: Owner.Notes { owner.notes.withLockedValue { $0 } }

    /// Whether the handler has closed the connection.
    var isClosed: Bool {
        // The loop runs first, because the handler may be waiting for it.
        channel.embeddedEventLoop.run()
        return !channel.isActive
    }

    func sayHello() throws { try receive(Handshake.frame(peer)) }

    func receive(_ frame: Frame) throws {
        var bytes = ByteBuffer()
        frame.write(into: &bytes)
        try receive(bytes)
    }

    func receive(_ bytes: ByteBuffer) throws {
        try channel.writeInbound(bytes)
        channel.embeddedEventLoop.run()
    }

    func pass(_ time: TimeAmount) { channel.embeddedEventLoop.advanceTime(by: time) }

    /// The kinds of the frames that were written since this was asked last.
    func written() throws -> [Frame.Kind] {
        channel.embeddedEventLoop.run()
        while let bytes = try channel.readOutbound(as: ByteBuffer.self) { decoder.append(bytes) }
        var kinds: [Frame.Kind] = []
        while let frame = try decoder.next() { kinds.append(frame.kind) }
        return kinds
    }
}
