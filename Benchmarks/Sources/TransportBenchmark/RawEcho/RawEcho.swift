import NIOCore
import NIOPosix

/// The limit for everything that is built on NIO: messages with a length in front, and nothing else.
struct RawEcho: Contestant {
    let name = Names.raw
    private let channel: any Channel
    private let handler: NIOLoopBound<RawEchoClientHandler>

    init(port: Int, on group: any EventLoopGroup) async throws {
        (channel, handler) = try await ClientBootstrap(group: group)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = RawEchoClientHandler()
                    try channel.pipeline.syncOperations.addHandler(handler)
                    return (channel, NIOLoopBound(handler, eventLoop: channel.eventLoop))
                }
            }
    }

    func run(_ load: Load, for duration: Duration) async throws -> Sample {
        let clock = ContinuousClock()
        let begin = clock.now
        let processorTime = ProcessorTime.now
        let promise = channel.eventLoop.makePromise(of: Sample.self)
        channel.eventLoop.execute { handler.value.start(load, for: duration, promise) }
        var sample = try await promise.futureResult.get()
        sample.elapsed = begin.duration(to: clock.now)
        sample.processorTime = ProcessorTime.now - processorTime
        return sample
    }

    func close() async throws { try await channel.close() }
}
