/// One method of a distributed actor that peers may call.
///
/// It is a class because every call holds its method: that costs one reference count and not one for each of its parts.
public final class Method: Sendable {
    let name: String
    /// The least role of those who may call it.
    let role: CallerRole
    let body: MethodBody
    let pace = MethodPace()

    private init(name: String, role: CallerRole, body: MethodBody) {
        self.name = name
        self.role = role
        self.body = body
    }

    /// A method that is called as written. `executeDistributedTarget` takes several times as long, because it takes a mangled name
    /// apart and looks up the types of the arguments and of the result each time.
    ///
    ///     Method("echo") { (echo: isolated Echo, text: String) in echo.echo(text) }
    ///
    /// The result is encoded on the actor, and sent before the actor's next call runs. Where that would keep the actor
    /// too long, have it return bytes that are ready.
    ///
    /// - Parameters:
    ///   - name: the method's name without its parameters, which is its name on the wire.
    ///   - role: the least role of those who may call it.
    ///   - body: calls the method on the actor.
    public convenience init<Act: ClusterActor, each Argument: Codable & Sendable, Result: Codable & Sendable>(
        _ name: String, for role: CallerRole = .node,
        _ body: @escaping @Sendable (isolated Act, repeat each Argument) async throws -> Result
    ) {
        self.init(
            name: name, role: role,
            body: DirectMethodBody(body) { responder, result, scratch in try responder.reply(result, by: &scratch) })
    }

    /// The same for a method without a result.
    public convenience init<Act: ClusterActor, each Argument: Codable & Sendable>(
        _ name: String, for role: CallerRole = .node,
        _ body: @escaping @Sendable (isolated Act, repeat each Argument) async throws -> Void
    ) {
        self.init(
            name: name, role: role,
            body: DirectMethodBody(body) { responder, _, _ in responder.replyVoid() })
    }

    /// A method that does not suspend. Calls of such methods that come in together share a task and a turn of the actor, so each
    /// takes a fraction of the time. The compiler chooses this one by the closure.
    public convenience init<Act: ClusterActor, each Argument: Codable & Sendable, Result: Codable & Sendable>(
        _ name: String, for role: CallerRole = .node,
        _ body: @escaping @Sendable (isolated Act, repeat each Argument) throws -> Result
    ) {
        self.init(
            name: name, role: role,
            body: DirectMethodBody(synchronous: body) { responder, result, scratch in
                try responder.reply(result, by: &scratch)
            })
    }

    /// The same for a method without a result.
    public convenience init<Act: ClusterActor, each Argument: Codable & Sendable>(
        _ name: String, for role: CallerRole = .node,
        _ body: @escaping @Sendable (isolated Act, repeat each Argument) throws -> Void
    ) {
        self.init(
            name: name, role: role,
            body: DirectMethodBody(synchronous: body) { responder, _, _ in responder.replyVoid() })
    }

    func run(_ call: InboundCall) async { await body.run(call) }
}
