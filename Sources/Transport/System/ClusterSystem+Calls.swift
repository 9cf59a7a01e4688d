public import Distributed
import Logging
import NIOCore

/// What `DistributedActorSystem` asks for.
extension ClusterSystem {
    /// The name of the next actor made in this task; see `withActorName`.
    @TaskLocal static var actorName: String?

    /// Makes actors under a well-known name, by which peers can call them without having been told of them.
    ///
    ///     let coordinator = ClusterSystem.withActorName("coordinator") { Coordinator(actorSystem: system) }
    public static func withActorName<Result>(_ name: String, _ make: () throws -> Result) rethrows -> Result {
        try $actorName.withValue(name, operation: make)
    }

    /// `nil` for an actor of another node, which makes the runtime create a proxy for it.
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
        let reply = try await call(Act.self, actor.id, target.identifier, invocation.arguments)
        return try WireCoder.decode(Res.self, from: reply)
    }

    public func remoteCallVoid<Act, Err>(
        on actor: Act, target: RemoteCallTarget, invocation: inout CallEncoder, throwing: Err.Type
    ) async throws
    where Act: DistributedActor, Act.ID == ActorID, Err: Error {
        _ = try await call(Act.self, actor.id, target.identifier, invocation.arguments)
    }

    private func call<Act: DistributedActor>(
        _ type: Act.Type, _ id: ActorID, _ target: String, _ arguments: [ByteBuffer]
    ) async throws -> ByteBuffer {
        guard let method = (type as? any ClusterActor.Type)?.methods.name(of: target) else {
            throw TransportError.undeclaredMethod(target)
        }
        guard let link = link(to: id.node) else { throw TransportError.notConnected(id.node) }
        let remaining = CallDeadline.remaining()
        guard remaining > .zero else { throw TransportError.deadlineExceeded }
        return try await link.call(
            CallRequest(
                remaining: remaining, trace: CallTrace.current, actor: id.name, method: method, arguments: arguments))
    }

    // MARK: - Inbound

    /// Runs a peer's call on a local actor, after checking that actor and method belong together.
    func received(call frame: Frame, on link: Link) {
        guard let request = CallRequest(frame.body) else {
            link.fail(frame.call, RemoteError(.badArguments, "the call could not be read"))
            return
        }
        guard let actor = actors.actor(named: request.actor) else {
            link.fail(frame.call, RemoteError(.noSuchActor, "there is no such actor on \(name)"))
            return
        }
        guard let target = type(of: actor).methods.target(named: request.method) else {
            logger.warning(
                "refused a call of a method that the actor does not have", metadata: ["peer": "\(link.peer.name)"])
            link.fail(frame.call, RemoteError(.noSuchMethod, "the actor has no such method"))
            return
        }
        link.run(frame.call) { [self] in
            await run(request, target: target, on: actor, call: frame.call, link: link)
        }
    }

    private func run(
        _ request: CallRequest, target: String, on actor: any ClusterActor, call: UInt64, link: Link
    ) async {
        let handler = ReplyHandler { answer in
            switch answer {
            case .reply(let body): link.send(Frame(.reply, call: call, body: body))
            case .failure(let error): link.fail(call, error)
            }
        }
        do {
            try await CallTrace.$current.withValue(request.trace) {
                try await CallOrigin.$peer.withValue(link.peer.node) {
                    try await withDeadline(request.remaining) {
                        try await execute(target, on: actor, CallDecoder(arguments: request.arguments), handler)
                    }
                }
            }
        } catch {
            link.fail(call, ReplyHandler.describe(error))
        }
    }

    private func execute(
        _ target: String, on actor: some ClusterActor, _ decoder: CallDecoder, _ handler: ReplyHandler
    ) async throws {
        var decoder = decoder
        try await executeDistributedTarget(
            on: actor, target: RemoteCallTarget(target), invocationDecoder: &decoder, handler: handler)
    }
}
