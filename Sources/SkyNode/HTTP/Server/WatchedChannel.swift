import HummingbirdCore
import Logging
import NIOCore

/// HTTP/1.1 on connections that are counted and watched over.
struct WatchedChannel: ServerChildChannel {
    /// Answers one request.
    typealias Responder = @Sendable (Request, HTTPConnection) async -> Response

    struct Value: ServerChildChannelValue {
        let http: HTTP1Channel.Value
        let connection: HTTPConnection

        var channel: any Channel { http.channel }
    }

    /// A connection that there is no room for.
    private struct Refused: Error {}

    let connections: HTTPConnections
    let respond: Responder

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        guard let connection = connections.open(channel) else {
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(Refused())
        }
        let isWatched = channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(ConnectionHandler(connection))
        }
        return isWatched.flatMap { http(connection).setup(channel: channel, logger: logger) }
            .map { Value(http: $0, connection: connection) }
            .flatMapErrorThrowing { error in
                connection.closed()
                channel.close(promise: nil)
                throw error
            }
    }

    func handle(value: Value, logger: Logger) async {
        await http(value.connection).handle(value: value.http, logger: logger)
    }

    private func http(_ connection: HTTPConnection) -> HTTP1Channel {
        HTTP1Channel { request, writer, channel in
            // Where several requests came at once, the next one begins here.
            connection.received()
            let response = await respond(request, connection)
            connection.writing()
            try await writer.write(response: response.head, body: response.body)
            connection.answered()
            if response.headers[.connection] == "close" { channel.close(mode: .output, promise: nil) }
        }
    }
}
