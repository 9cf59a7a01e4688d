import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import Testing

@testable import Transport

/// One end of a connection under test: the events that a `LinkHandler` would get, in order.
final class SecureEnd: Sendable {
    enum Event: Equatable {
        case peer(PeerIdentity?)
        case active
        case read(String)
        case failed(TLSFailure)
        case brokenOtherwise(String)
        case inactive

        var failure: TLSFailure? { if case .failed(let failure) = self { failure } else { nil } }
        var text: String? { if case .read(let text) = self { text } else { nil } }
    }

    let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let opened = Mutex<(any Channel)?>(nil)

    init() {
        (events, continuation) = AsyncStream.makeStream(of: Event.self)
    }

    /// The handler that stands where a `LinkHandler` would.
    func handler() -> any ChannelHandler { EventTap(self) }

    fileprivate func tell(_ event: Event) { continuation.yield(event) }

    fileprivate func use(_ channel: any Channel) { opened.withLock { $0 = channel } }

    var channel: any Channel {
        get throws { try #require(opened.withLock { $0 }) }
    }

    func send(_ text: String) async throws { try await channel.writeAndFlush(ByteBuffer(string: text)) }

    /// The next of the wanted events, those before it left out; `nil` where the connection ended without one.
    func next(_ wanted: (Event) -> Bool) async -> Event? {
        for await event in events {
            if wanted(event) { return event }
            if event == .inactive { return nil }
        }
        return nil
    }

    func untilActive() async throws {
        let event = await next { $0 == .active || $0.failure != nil }
        try #require(event == .active)
    }

    /// The first failure that TLS reported.
    func failure() async -> TLSFailure? {
        await next { $0.failure != nil }?.failure
    }

    /// The first that can be read.
    func answer() async -> String? {
        await next { $0.text != nil }?.text
    }

    func text(_ wanted: String) async -> Bool {
        var text = ""
        return await next { event in
            text += event.text ?? ""
            return text == wanted
        } != nil
    }

    /// Number of the certificate that the peer showed.
    func peerSerialNumber() async throws -> [UInt8] {
        let certificate = try await channel.nioSSL_peerCertificate().get()
        return try #require(certificate).serialNumber
    }
}

private final class EventTap: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let end: SecureEnd

    init(_ end: SecureEnd) {
        self.end = end
    }

    func handlerAdded(context: ChannelHandlerContext) { end.use(context.channel) }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let peer = event as? AuthenticatedPeer { end.tell(.peer(peer.identity)) }
    }

    func channelActive(context: ChannelHandlerContext) { end.tell(.active) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        end.tell(.read(String(buffer: unwrapInboundIn(data))))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let failure = error as? TLSFailure {
            end.tell(.failed(failure))
        } else {
            end.tell(.brokenOtherwise("\(error)"))
        }
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { end.tell(.inactive) }
}
