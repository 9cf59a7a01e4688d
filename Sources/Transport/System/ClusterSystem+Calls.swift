import Base
public import Distributed
import Logging
import NIOCore

/// The requirements of `DistributedActorSystem`.
extension ClusterSystem {
    /// The name of the next actor made in this task; see `withActorName`.
    @TaskLocal static var actorName: String?

    /// Makes actors under a well-known name, by which peers can call them without having been told of them.
    ///
    ///     let coordinator = ClusterSystem.withActorName("coordinator") { Coordinator(actorSystem: system) }
    public static func withActorName<Result>(_ name: String, _ make: () throws -> Result) rethrows -> Result {
        try $actorName.withValue(name, operation: make)
    }

    /// The result is `nil` for an actor of another node, which makes the runtime create a proxy for it.
    ///
    /// - Throws: `TransportError.noSuchActor` where the actor should be on this node and is not.
    public func resolve<Act: DistributedActor>(id: ActorID, as actorType: Act.Type) throws -> Act?
    where Act.ID == ActorID {
        guard id.node == node else { return nil }
        guard let actor = actors.actor(named: id.name) as? Act else { throw TransportError.noSuchActor(id.name) }
        return actor
    }

    public func assignID<Act: DistributedActor>(_ actorType: Act.Type) -> ActorID where Act.ID == ActorID {
        ActorAddress(node: node, name: ClusterSystem.actorName ?? actors.nextName(for: actorType))
    }

    public func actorReady<Act: DistributedActor>(_ actor: Act) where Act.ID == ActorID {
        guard let callable = actor as? any ClusterActor else {
            logger.error("an actor that is no ClusterActor cannot be called", metadata: ["actor": "\(actor.id)"])
            return
        }
        actors.add(callable, as: actor.id.name)
    }

    public func resignID(_ id: ActorID) {
        actors.remove(id.name)
    }

    public func makeInvocationEncoder() -> CallEncoder { CallEncoder() }

    public func remoteCall<Act, Err, Res>(
        on actor: Act, target: RemoteCallTarget, invocation: inout CallEncoder, throwing: Err.Type,
        returning: Res.Type
    ) async throws -> Res
    where Act: DistributedActor, Act.ID == ActorID, Err: Error, Res: Codable & Sendable {
        let reply = try await call(Act.self, actor.id, target.identifier, &invocation)
        do {
            return try WireCoder.decodeChecked(Res.self, from: reply)
        } catch {
            throw TransportError.invalidReply(PrintableText.of("\(error)"))
        }
    }

    public func remoteCallVoid<Act, Err>(
        on actor: Act, target: RemoteCallTarget, invocation: inout CallEncoder, throwing: Err.Type
    ) async throws
    where Act: DistributedActor, Act.ID == ActorID, Err: Error {
        _ = try await call(Act.self, actor.id, target.identifier, &invocation)
    }

    private func call<Act: DistributedActor>(
        _ type: Act.Type, _ id: ActorID, _ target: String, _ invocation: inout CallEncoder
    ) async throws -> ByteBuffer {
        guard let methods = (type as? any ClusterActor.Type)?.methods, let method = methods.name(of: target) else {
            throw TransportError.undeclaredMethod(target)
        }
        guard let link = link(to: id.node) else { throw TransportError.notConnected(id.node) }
        let remaining = CallDeadline.remaining(standard: settings.standardDeadline, longest: settings.longestDeadline)
        guard remaining > .zero else { throw TransportError.deadlineExceeded }
        metrics.madeCall()
        logger.trace("calling", metadata: ["peer": "\(link.peer.name)", "actor": "\(id.name)", "method": "\(method)"])
        let start = ContinuousClock.now
        do {
            let answer = try await answer(
                to: CallTarget(actor: id.name, method: method), on: link, &invocation, start: start,
                remaining: remaining)
            metrics.callEnded(after: start.duration(to: .now))
            switch answer {
            case .reply(let reply): return reply
            case .failure(let failure): throw methods.error(for: failure)
            case .turn: throw TransportError.connectionLost(mayHaveRun: true)
            }
        } catch {
            metrics.ownCallFailed()
            logger.debug("a call failed", metadata: ["peer": "\(link.peer.name)", "error": "\(error)"])
            throw error
        }
    }

    /// Calls on that link, or on the link to which it gives way meanwhile.
    private func answer(
        to target: CallTarget, on first: Link, _ invocation: inout CallEncoder, start: ContinuousClock.Instant,
        remaining: Duration
    ) async throws -> CallAnswer {
        var link = first
        while true {
            do {
                return try await link.call(
                    target, &invocation, start: start, remaining: remaining, trace: CallTrace.current)
            } catch TransportError.notConnected(let node) {
                guard let next = self.link(to: node), next !== link else { throw TransportError.notConnected(node) }
                link = next
            }
        }
    }

    // MARK: - Inbound

    /// Runs a peer's call on a local actor, after checking that actor and method belong together.
    ///
    /// - Throws: the error that ends the link: for a call of a target that was not declared, or for calls far beyond the limit.
    func run(call frame: Frame, of link: Link, _ targets: DeclaredTargets) throws {
        metrics.received()
        let unanswered = try link.unanswered()
        guard let request = CallRequest(frame.body) else {
            return refuse(frame.call, RemoteError(.badArguments, "the call could not be read"), on: link)
        }
        let name: CallTarget
        switch request.target {
        case .named(let target): name = target
        case .index(let index):
            guard let target = targets.target(index) else {
                throw HandshakeFailure.broken("a call of a target that was not declared")
            }
            name = target
        }
        guard let actor = actors.actor(named: name.actor) else {
            return refuse(frame.call, RemoteError(.noSuchActor, "there is no such actor on \(self.name)"), on: link)
        }
        guard let method = type(of: actor).methods.method(named: name.method) else {
            warn("refused a call of a method that the actor does not have", of: link.peer.name)
            return refuse(frame.call, RemoteError(.noSuchMethod, "the actor has no such method"), on: link)
        }
        switch link.inbound.admit(frame.call, remaining: request.remaining, unanswered: unanswered) {
        case .run: break
        case .busy:
            return refuse(frame.call, RemoteError(.busy, "\(self.name) runs too many calls of this peer"), on: link)
        case .abuse: throw HandshakeFailure.broken("far more calls at once than allowed")
        case nil: return refuse(frame.call, RemoteError(.leaving, "\(self.name) is leaving"), on: link)
        }
        let call = InboundCall(frame.call, request, method, on: actor, link: link, system: self)
        link.inbound.start(frame.call, actor: name.actor, size: frame.body.readableBytes) { await call.run() }
    }

    private func refuse(_ call: UInt64, _ error: RemoteError, on link: Link) {
        metrics.theirCallFailed()
        link.fail(call, error)
    }
}
