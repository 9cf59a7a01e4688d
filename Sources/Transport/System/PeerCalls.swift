import NIOCore

/// Runs the calls of one peer on local actors, after checking that actor and method belong together.
///
/// Calls whose methods do not suspend are put into batches: those that have come in together for one actor, one after the other.
final class PeerCalls: CallTaker {
    /// The most calls of a batch. All else that the actor has to do waits for the end of a batch.
    static let batchLimit = 64

    private let link: Link
    private let system: ClusterSystem
    private let person: Person?
    /// The calls of the next batch, their actor, and the target of the last of them.
    private var calls: [ReadyCall] = []
    private var actor: (any ClusterActor)?
    private var target: (index: UInt32, actor: String, method: Method)?
    /// The length of the batch before, which the next is likely to have.
    private var usualCount = 0

    init(_ link: Link, _ system: ClusterSystem) {
        self.link = link
        self.system = system
        person = link.person
    }

    func take(_ frame: Frame, _ targets: DeclaredTargets, arrival: ContinuousClock.Instant) throws {
        system.metrics.received()
        let unanswered = try link.unanswered()
        guard let request = CallRequest(frame.body) else {
            return refuse(frame.call, RemoteError(.badArguments, "the call could not be read"))
        }
        guard let (actor, name, method) = try find(request.target, of: frame.call, targets) else { return }
        let deadline = arrival + request.remaining
        switch link.inbound.admit(frame.call, deadline: deadline, unanswered: unanswered) {
        case .run: break
        case .busy: return refuse(frame.call, RemoteError(.busy, "\(system.name) runs too many calls of this peer"))
        case .abuse: throw HandshakeFailure.broken("far more calls at once than allowed")
        case nil: return refuse(frame.call, RemoteError(.leaving, "\(system.name) is leaving"))
        }
        let context = CallContext(deadline: deadline, trace: request.trace, peer: link.peer.node, person: person)
        let size = frame.body.readableBytes
        if method.body.isSynchronous, size <= InboundCalls.inlineSize, !link.inbound.mustQueue(for: name) {
            return prepare(frame.call, request, method, context, on: actor, named: name)
        }
        // A batch that came before has to get to the actor before.
        start()
        let responder = CallResponder(id: frame.call, actor: actor, link: link, system: system)
        let call = InboundCall(request, method, context, responder)
        link.inbound.start(frame.call, actor: name, size: size, on: executor(of: actor)) { await call.run() }
    }

    /// Finds what a call is for, or answers why it does not run.
    ///
    /// - Returns: the actor, its name, and the method.
    private func find(
        _ target: CallRequest.Target, of call: UInt64, _ targets: DeclaredTargets
    ) throws -> (actor: any ClusterActor, name: String, method: Method)? {
        // Mostly it is the same as that of the call before, whose batch has the actor.
        if case .index(let index) = target, let actor, let last = self.target, last.index == index {
            return (actor, last.actor, last.method)
        }
        let name: CallTarget
        switch target {
        case .named(let target): name = target
        case .index(let index):
            guard let target = targets.target(index) else {
                throw HandshakeFailure.broken("a call of a target that was not declared")
            }
            name = target
        }
        guard let actor = system.actors.actor(for: name) else {
            refuse(call, RemoteError(.noSuchActor, "there is no such actor on \(system.name)"))
            return nil
        }
        guard let method = type(of: actor).methods.method(named: name.method) else {
            system.warn("refused a call of a method that the actor does not have", of: link.peer.name)
            refuse(call, RemoteError(.noSuchMethod, "the actor has no such method"))
            return nil
        }
        if let person, person.role < method.role {
            let needed = method.role == .operator ? "an operator's credential" : "the cluster key"
            system.warn("refused a call that the caller's role does not allow", of: person.description)
            refuse(call, RemoteError(.notAllowed, "\(person) may not do this; it takes \(needed)"))
            return nil
        }
        return (actor, name.actor, method)
    }

    private func prepare(
        _ id: UInt64, _ request: CallRequest, _ method: Method, _ context: CallContext,
        on actor: any ClusterActor, named name: String
    ) {
        do {
            let work = try method.body.prepare(CallDecoder(request), for: actor)
            if let other = self.actor, other !== actor { start() }
            if calls.isEmpty { calls.reserveCapacity(usualCount) }
            self.actor = actor
            if case .index(let index) = request.target { target = (index, name, method) }
            calls.append(ReadyCall(id: id, context: context, method: method, work: work))
            if calls.count == PeerCalls.batchLimit { start() }
        } catch {
            let responder = CallResponder(id: id, actor: actor, link: link, system: system)
            responder.fail(error)
            responder.end()
        }
    }

    func start() {
        guard let actor, let body = calls.first?.method.body else { return }
        let batch = CallBatch(calls, on: actor, link: link, system: system)
        usualCount = calls.count
        self.actor = nil
        target = nil
        calls = []
        // The task runs up to the step onto the actor before the next call is looked at, which keeps the order. It ends with the
        // batch.
        Task.immediate(executorPreference: executor(of: actor)) { await body.run(batch) }
    }

    private func executor(of actor: any ClusterActor) -> LoopExecutor? {
        type(of: actor).worksOnLoop ? system.loopExecutor : nil
    }

    private func refuse(_ call: UInt64, _ error: RemoteError) {
        system.metrics.theirCallFailed()
        link.fail(call, error)
    }
}
