import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A client that sends bytes as no library would.
final class RawConnection: Sendable {
    /// One answer.
    struct Answer: Hashable {
        var status: Int
        var head: String
        var body: String
    }

    private final class Reader: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        let text: NIOLockedValueBox<String>
        let arrivals: AsyncStream<Void>.Continuation

        init(_ text: NIOLockedValueBox<String>, _ arrivals: AsyncStream<Void>.Continuation) {
            (self.text, self.arrivals) = (text, arrivals)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            text.withLockedValue { $0 += String(buffer: unwrapInboundIn(data)) }
            arrivals.yield()
        }

        func channelInactive(context: ChannelHandlerContext) { arrivals.finish() }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    private let channel: any Channel
    private let text: NIOLockedValueBox<String>
    private let arrivals: AsyncStream<Void>

    private init(_ channel: any Channel, _ text: NIOLockedValueBox<String>, _ arrivals: AsyncStream<Void>) {
        (self.channel, self.text, self.arrivals) = (channel, text, arrivals)
    }

    static func open(_ port: Int) async throws -> RawConnection {
        let text = NIOLockedValueBox("")
        let (arrivals, continuation) = AsyncStream.makeStream(of: Void.self)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Reader(text, continuation))
                }
            }.connect(host: "127.0.0.1", port: port).get()
        return RawConnection(channel, text, arrivals)
    }

    /// - Throws: where the other side has closed.
    func send(_ text: String) async throws {
        try await channel.writeAndFlush(ByteBuffer(string: text)).get()
    }

    /// Asks, with everything that a right request has, and more fields.
    func ask(_ path: String, _ fields: String...) async throws -> Answer? {
        try await send(
            "GET \(path) HTTP/1.1\r\nHost: localhost\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n")
        return await answer()
    }

    /// The next answer; `nil` where the connection ends before.
    func answer() async -> Answer? {
        while true {
            if let answer = text.withLockedValue(RawConnection.take) { return answer }
            var iterator = arrivals.makeAsyncIterator()
            if await iterator.next() == nil { return text.withLockedValue(RawConnection.take) }
        }
    }

    private static func take(_ text: inout String) -> Answer? {
        guard let end = text.range(of: "\r\n\r\n") else { return nil }
        let head = String(text[..<end.lowerBound])
        let length =
            head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst(15).drop { $0 == " " }) } ?? 0
        let rest = text[end.upperBound...]
        guard rest.utf8.count >= length else { return nil }
        let body = String(decoding: rest.utf8.prefix(length), as: UTF8.self)
        text = String(decoding: rest.utf8.dropFirst(length), as: UTF8.self)
        return Answer(
            status: head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0, head: head, body: body)
    }

    /// Waits until the other side closes, or the task is cancelled. Returns what came until then and nobody has taken.
    func untilClosed() async -> String {
        await withTaskCancellationHandler {
            try? await channel.closeFuture.get()
        } onCancel: {
            // A future does not hear of it, and a test that waits for ever is worse than one that fails.
            channel.close(promise: nil)
        }
        return text.withLockedValue { $0 }
    }

    func stopReading() async { try? await channel.setOption(.autoRead, value: false).get() }

    var isOpen: Bool { channel.isActive }

    func close() async { try? await channel.close() }
}
