import Synchronization

/// One call of a peer that has a task to itself, from its admission to its answer.
final class InboundCall: Sendable {
    let responder: CallResponder
    let context: CallContext
    private let method: Method
    /// The arguments, until the first who asks takes them: a call may run for a long time and must not keep alive the bytes that
    /// were read from the socket.
    private let arguments: Mutex<CallDecoder?>

    init(_ request: CallRequest, _ method: Method, _ context: CallContext, _ responder: CallResponder) {
        self.responder = responder
        self.method = method
        self.context = context
        arguments = Mutex(CallDecoder(request))
    }

    var actor: any ClusterActor { responder.actor }

    /// Runs the method and answers. The answer is in the outbox when this function returns.
    ///
    /// Nothing may follow the last `await`, neither here nor in the functions that it calls. Then the task ends on the actor, which
    /// goes on with its next call at once. Otherwise the task would leave the actor first, and both would be queued again.
    func run() async { await method.run(self) }

    func takeArguments() throws -> CallDecoder {
        guard let decoder = arguments.withLock({ $0.take() }) else { throw RemoteError(.badArguments, "read already") }
        return decoder
    }

    func logStart() { responder.logStart(of: method) }
}
