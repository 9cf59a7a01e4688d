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
        actors.removeEnded(id.name)
    }

    /// Lets nobody find an actor of this node any more, until it is offered again. Calls that run go on.
    package func withdraw(_ actor: some ClusterActor) { actors.remove(actor.id.name) }

    /// As `withdraw`, but some methods can still be called. A call of another one ends as if there were no such actor.
    package func withdraw(_ actor: some ClusterActor, except methods: Set<String>) {
        actors.add(actor, as: actor.id.name, only: methods)
    }

    /// Lets an actor of this node be found again.
    package func offer(_ actor: some ClusterActor) { actors.add(actor, as: actor.id.name) }

    public func makeInvocationEncoder() -> CallEncoder { CallEncoder() }

    public func remoteCall<Act, Err, Res>(
        on actor: Act, target: RemoteCallTarget, invocation: inout CallEncoder, throwing: Err.Type,
        returning: Res.Type
    ) async throws -> Res
    where Act: DistributedActor, Act.ID == ActorID, Err: Error, Res: Codable & Sendable {
        let reply = try await call(CallSites.shared.site(Act.self, target.identifier), actor.id, &invocation)
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
        _ = try await call(CallSites.shared.site(Act.self, target.identifier), actor.id, &invocation)
    }

    private nonisolated(nonsending) func call(
        _ site: CallSite, _ id: ActorID, _ invocation: inout CallEncoder
    ) async throws -> ByteBuffer {
        guard var link = link(to: id.node) else { throw TransportError.notConnected(id.node) }
        let start = ContinuousClock.now
        let context = CallContext.current
        let remaining = CallDeadline.remaining(
            context.deadline, now: start, standard: settings.standardDeadline, longest: settings.longestDeadline)
        guard remaining > .zero else { throw TransportError.deadlineExceeded }
        metrics.madeCall()
        logger.trace(
            "calling", metadata: ["peer": "\(link.peer.name)", "actor": "\(id.name)", "method": "\(site.method)"])
        let target = CallTarget(actor: id.name, method: site.method)
        do {
            // Only a call that has not left may be made again, never for an error that its method threw.
            let answer: CallAnswer
            while true {
                do {
                    answer = try await link.call(
                        target, &invocation, start: start, remaining: remaining, trace: context.trace)
                    break
                } catch TransportError.notConnected(let node) {
                    // The link may have given way to another meanwhile.
                    guard let next = self.link(to: node), next !== link else {
                        throw TransportError.notConnected(node)
                    }
                    link = next
                }
            }
            metrics.callEnded(start)
            switch answer {
            case .reply(let reply): return reply
            case .failure(let failure): throw site.methods.error(for: failure)
            case .turn: throw TransportError.connectionLost(mayHaveRun: true)
            }
        } catch {
            metrics.ownCallFailed()
            logger.debug("a call failed", metadata: ["peer": "\(link.peer.name)", "error": "\(error)"])
            throw error
        }
    }
}
