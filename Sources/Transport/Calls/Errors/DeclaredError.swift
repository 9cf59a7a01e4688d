import NIOCore

/// An error type that an actor's methods may throw and that arrives at the caller as itself. All others arrive as
/// `RemoteError`.
///
/// The name is what crosses the wire. The caller looks it up in its own table of the actor's type: a peer can name no
/// type that is not declared there.
public struct DeclaredError: Sendable {
    let name: String
    let encode: @Sendable (any Error) throws -> ByteBuffer?
    let decode: @Sendable (ByteBuffer) throws -> any Error

    public init<E: Error & Codable>(_ name: String, _ type: E.Type) {
        self.name = name
        encode = { error in try (error as? E).map { try WireCoder.encode($0) } }
        decode = { bytes in try WireCoder.decode(E.self, from: bytes) }
    }
}
