package import NIOCore

/// The value of a failure frame: what every caller understands, and for a declared error that error too.
package struct CallFailure: Codable, Sendable {
    package var kind: RemoteError.Kind
    package var message: String
    /// Wire name of a declared error; `nil` for all others.
    package var error: String?
    /// Its value encoding.
    package var value: ByteBuffer?

    init(kind: RemoteError.Kind, message: String, error: String? = nil, value: ByteBuffer? = nil) {
        self.kind = kind
        self.message = message
        self.error = error
        self.value = value
    }

    init(_ error: RemoteError) {
        self.init(kind: error.kind, message: error.message)
    }

    /// Reads the body of a failure frame, whatever it holds.
    init(reading body: ByteBuffer) {
        self =
            (try? WireCoder.decode(CallFailure.self, from: body))
            ?? CallFailure(kind: .failed, message: "the other side failed with an error that cannot be read")
    }

    /// What the caller throws: a declared error as itself, every other by its words.
    func error(among declared: [DeclaredError]) -> any Error {
        if let error, let value, let type = declared.first(where: { $0.name == error }),
            let decoded = try? type.decode(value)
        {
            return decoded
        }
        return RemoteError(kind, message)
    }

    /// The body of a failure frame. A declared error too large to be carried is told by its words alone.
    func encoded(limit: Int) -> ByteBuffer {
        if let body = try? WireCoder.encode(self), body.readableBytes <= limit { return body }
        return (try? WireCoder.encode(CallFailure(kind: kind, message: message))) ?? ByteBuffer()
    }
}
