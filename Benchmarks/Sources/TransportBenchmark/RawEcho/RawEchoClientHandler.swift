import NIOCore

/// Keeps as many messages on the way as the load says, and stops when the time is over and the last is back.
final class RawEchoClientHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private struct Run {
        var message: ByteBuffer
        var end: NIODeadline
        var underWay: Int
        /// When the only message under way was sent; not kept for more than one.
        var sent: NIODeadline
        var sample: Sample
        var promise: EventLoopPromise<Sample>

        mutating func received(at now: NIODeadline) {
            sample.record(from: sent, to: now)
            underWay -= 1
        }

        /// The message to send in place of the one that came back; `nil` when the time is over.
        mutating func next(at now: NIODeadline) -> ByteBuffer? {
            guard now < end else { return nil }
            sent = now
            underWay += 1
            return message
        }
    }

    private var cutter = MessageCutter()
    private var context: ChannelHandlerContext?
    private var run: Run?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        run?.promise.fail(ChannelError.eof)
        run = nil
    }

    func start(_ load: Load, for duration: Duration, _ promise: EventLoopPromise<Sample>) {
        guard let context, run == nil else { return promise.fail(ChannelError.alreadyClosed) }
        var message = context.channel.allocator.buffer(capacity: 4 + load.bytes)
        message.writeInteger(UInt32(load.bytes))
        message.writeRepeatingByte(7, count: load.bytes)
        let now = NIODeadline.now()
        run = Run(
            message: message, end: now + TimeAmount(duration), underWay: load.window, sent: now,
            sample: Sample(recordsLatencies: load.window == 1), promise: promise)
        for _ in 0..<load.window { context.write(wrapOutboundOut(message), promise: nil) }
        context.flush()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        cutter.append(unwrapInboundIn(data))
        while let message = cutter.next() { received(message, context) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.flush()
    }

    private func received(_ message: ByteBuffer, _ context: ChannelHandlerContext) {
        guard run != nil else { return }
        guard message.readableBytes == run?.message.readableBytes else {
            run?.promise.fail(WrongEcho(contestant: Names.raw))
            run = nil
            return
        }
        let now = NIODeadline.now()
        run?.received(at: now)
        if let again = run?.next(at: now) { context.write(wrapOutboundOut(again), promise: nil) }
        if let done = run, done.underWay == 0 {
            run = nil
            done.promise.succeed(done.sample)
        }
    }
}
