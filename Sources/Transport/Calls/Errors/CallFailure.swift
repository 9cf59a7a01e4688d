package import NIOCore

/// The value of a failure frame: a kind and a message, which every caller understands, and the error itself where it is declared.
package struct CallFailure: Codable, Sendable {
    package var kind: RemoteError.Kind
    package var message: String
    /// Wire name of a declared error; `nil` for all others.
    package var error: String?
    /// The value encoding of the declared error.
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

    /// The error that the caller throws: a declared error as itself, any other with its kind and its message.
    func error(among declared: [DeclaredError]) -> any Error {
        if let error, let value, let type = declared.first(where: { $0.name == error }),
            let decoded = try? type.decode(value)
        {
            return decoded
        }
        return RemoteError(kind, message)
    }

    /// The body of a failure frame. A declared error that is too large to be carried is sent as its kind and its message alone.
    func encoded(limit: Int) -> ByteBuffer {
        if let body = try? WireCoder.encode(self), body.readableBytes <= limit { return body }
        return (try? WireCoder.encode(CallFailure(kind: kind, message: message))) ?? ByteBuffer()
    }
}
