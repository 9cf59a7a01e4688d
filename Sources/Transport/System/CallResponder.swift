import NIOCore

/// Where the answer to one call of a peer goes.
struct CallResponder: Sendable {
    var id: UInt64
    let actor: any ClusterActor
    let link: Link
    let system: ClusterSystem

    func logStart(of method: Method) {
        // The name comes from the table and never from the peer's text.
        system.logger.trace("called", metadata: ["peer": "\(link.peer.name)", "method": "\(method.name)"])
    }

    /// Whether so many answers wait to be read by the peer that `roomForAnswer` has to be awaited before the next answer. Meanwhile
    /// further results wait as values, not as bytes.
    var hasToWait: Bool { link.answersAreMany }

    func roomForAnswer() async { await link.roomForAnswer() }

    /// - Parameter scratch: memory for the bytes of a short answer, which are copied.
    /// - Throws: the error of encoding the value. A value that is too long throws nothing: the peer is told so instead.
    func reply<Success: Codable & Sendable>(_ value: Success, by scratch: inout ByteBuffer) throws {
        if let payload = WireCoder.payload(of: value) {
            var frame = Frame(.reply, call: id)
            WireCoder.writeHead(ofPayload: payload, into: &frame.body)
            frame.tail = payload
            guard frame.bodySize <= link.bodyLimit else { return refuseResult() }
            return link.send(frame)
        }
        scratch.clear()
        do {
            try WireCoder.encode(value, into: &scratch, limit: link.bodyLimit)
        } catch WireCodingError.limitExceeded {
            return refuseResult()
        }
        if scratch.readableBytes <= Outbox.shortLimit {
            link.reply(id, scratch)
        } else {
            link.send(Frame(.reply, call: id, body: scratch))
            scratch = ByteBuffer()
        }
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
