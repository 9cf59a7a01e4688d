import Logging
import NIOCore
import Synchronization

/// One call of a peer, from its admission to its answer.
final class InboundCall: Sendable {
    let actor: any ClusterActor
    let context: CallContext
    private let id: UInt64
    private let method: Method
    private let link: Link
    private let system: ClusterSystem
    /// The arguments, until the first who asks takes them: a call may run for a long time and must not keep alive the bytes that
    /// were read from the socket.
    private let arguments: Mutex<CallDecoder?>

    init(
        _ id: UInt64, _ request: CallRequest, _ method: Method, on actor: any ClusterActor, link: Link,
        system: ClusterSystem
    ) {
        self.id = id
        self.actor = actor
        self.method = method
        self.link = link
        self.system = system
        context = CallContext(
            deadline: ContinuousClock.now + request.remaining, trace: request.trace, peer: link.peer.node)
        arguments = Mutex(CallDecoder(request))
    }

    /// Runs the method and answers. The answer is in the outbox when this function returns.
    ///
    /// Nothing may follow the last `await`, neither here nor in the functions that it calls. Then the task ends on the actor, which
    /// goes on with its next call at once. Otherwise the task would leave the actor first, and both would be queued again.
    func run() async { await method.run(self) }

    func takeArguments() throws -> CallDecoder {
        guard let decoder = arguments.withLock({ $0.take() }) else { throw RemoteError(.badArguments, "read already") }
        return decoder
    }

    func logStart() {
        // The name comes from the table and never from the peer's text.
        system.logger.trace("called", metadata: ["peer": "\(link.peer.name)", "method": "\(method.name)"])
    }

    // MARK: - The answer

    /// Whether so many answers wait to be read by the peer that `roomForAnswer` has to be awaited before the next answer. Meanwhile
    /// further results wait as values, not as bytes.
    var hasToWait: Bool { link.answersAreMany }

    func roomForAnswer() async { await link.roomForAnswer() }

    /// - Throws: the error of encoding the value. A value that is too long throws nothing: the peer is told so instead.
    func reply<Success: Codable & Sendable>(_ value: Success) throws {
        var frame = Frame(.reply, call: id, body: ByteBufferAllocator().buffer(capacity: 128))
        if let payload = WireCoder.payload(of: value) {
            WireCoder.writeHead(ofPayload: payload, into: &frame.body)
            frame.tail = payload
            guard frame.bodySize <= link.bodyLimit else { return refuseResult() }
        } else {
            do {
                try WireCoder.encode(value, into: &frame.body, limit: link.bodyLimit)
            } catch WireCodingError.limitExceeded {
                return refuseResult()
            }
        }
        link.send(frame)
    }

    private func refuseResult() {
        link.fail(id, RemoteError(.tooLarge, "a result of more than \(link.bodyLimit) bytes"))
    }

    func replyVoid() {
        link.send(Frame(.reply, call: id))
    }

    /// The method has thrown.
    func reply(throwing error: any Error) {
        system.metrics.theirCallFailed()
        link.fail(id, type(of: actor).methods.failure(for: error))
    }

    /// The method was not run, or its result could not be sent.
    func fail(_ error: any Error) {
        system.metrics.theirCallFailed()
        system.logger.debug(
            "a call of a peer failed", metadata: ["peer": "\(link.peer.name)", "error": "\(error)"])
        link.fail(id, RemoteError(describing: error))
    }

    /// Reports the end of the call. This has to be the last step.
    func end() { link.inbound.finish(id) }
}
