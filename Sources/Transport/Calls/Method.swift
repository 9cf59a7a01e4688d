/// One method of a distributed actor that peers may call.
///
/// A class, because every call holds its method: one count of references and not one for each of its parts.
public final class Method: Sendable {
    let name: String
    let target: String
    /// Runs it without the runtime's look-up by name; `nil` leaves it to the runtime.
    let direct: DirectCall?

    private init(name: String, target: String, direct: DirectCall?) {
        self.name = name
        self.target = target
        self.direct = direct
    }

    /// A method that the runtime finds by its mangled name, at each call.
    public convenience init(_ name: String, _ target: String) {
        self.init(name: name, target: target, direct: nil)
    }

    /// A method that is called as written. The runtime's way takes several times as long: it takes the mangled name
    /// apart and looks up the types of the arguments and of the result each time.
    ///
    ///     Method("echo", "$s...") { (echo: Echo, text: String) in try await echo.echo(text) }
    ///
    /// - Parameters:
    ///   - name: on the wire.
    ///   - target: the compiler's name, by which this program's own calls are recognised.
    ///   - body: calls the method on the actor.
    public convenience init<Act: ClusterActor, each Argument: Codable & Sendable, Result: Codable & Sendable>(
        _ name: String, _ target: String,
        _ body: @escaping @Sendable (Act, repeat each Argument) async throws -> Result
    ) {
        let direct: DirectCall = { actor, decoder, handler in
            guard let actor = actor as? Act else { throw RemoteError(.noSuchMethod, "the actor has no such method") }
            var decoder = decoder
            let arguments = (repeat try decoder.decodeNextArgument() as each Argument)
            let result: Result
            do {
                result = try await body(actor, repeat each arguments)
            } catch {
                return try await handler.onThrow(error: error)
            }
            try await handler.onReturn(value: result)
        }
        self.init(name: name, target: target, direct: direct)
    }

    /// The same for a method without a result.
    public convenience init<Act: ClusterActor, each Argument: Codable & Sendable>(
        _ name: String, _ target: String,
        _ body: @escaping @Sendable (Act, repeat each Argument) async throws -> Void
    ) {
        let direct: DirectCall = { actor, decoder, handler in
            guard let actor = actor as? Act else { throw RemoteError(.noSuchMethod, "the actor has no such method") }
            var decoder = decoder
            let arguments = (repeat try decoder.decodeNextArgument() as each Argument)
            do {
                try await body(actor, repeat each arguments)
            } catch {
                return try await handler.onThrow(error: error)
            }
            try await handler.onReturnVoid()
        }
        self.init(name: name, target: target, direct: direct)
    }
}

/// Decodes the arguments, calls the method, answers.
typealias DirectCall = @Sendable (any ClusterActor, CallDecoder, ReplyHandler) async throws -> Void
