import NIOCore
import SkyCore
import Transport

/// Watches over the bytes of one connection: notes when a request begins and when the client stops reading, and closes the
/// socket when its time is up. It is the first in the pipeline, before any byte has been read as HTTP.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let connection: HTTPConnection
    private var timer: Scheduled<Void>?

    init(_ connection: HTTPConnection) { self.connection = connection }

    func handlerAdded(context: ChannelHandlerContext) { arm(context) }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        connection.closed()
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        connection.closed()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        connection.received()
        // The next deadline may be nearer than that of an idle connection.
        arm(context)
        context.fireChannelRead(data)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        connection.stalled(!context.channel.isWritable)
        arm(context)
        context.fireChannelWritabilityChanged()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if case .output = mode {
            connection.closing()
            arm(context)
        }
        context.close(mode: mode, promise: promise)
    }

    private func arm(_ context: ChannelHandlerContext) {
        timer?.cancel()
        timer = connection.timeLeft().map { schedule(in: $0, context) }
    }

    private func schedule(in time: Duration, _ context: ChannelHandlerContext) -> Scheduled<Void> {
        // The timer ends a moment later, so that the time is up when it is checked.
        context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time) + .milliseconds(1)) { [self] in
            let (expiry, again) = connection.expire()
            switch expiry {
            case .nothing: timer = nil
            case .again: timer = schedule(in: again, context)
            case .close: context.close(promise: nil)
            case .closeLate:
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: ConnectionHandler.late)), promise: nil)
                context.close(promise: nil)
            }
        }
    }

    /// This is written below HTTP, because there is no request that it could answer.
    private static let late: String = {
        let body = #"{"error":"the request did not come in time"}"# + "\n"
        let head = [
            "HTTP/1.1 408 Request Timeout", "Connection: close", "Content-Type: application/json",
            "Content-Length: \(body.utf8.count)", "", "",
        ]
        return head.joined(separator: "\r\n") + body
    }()
}
