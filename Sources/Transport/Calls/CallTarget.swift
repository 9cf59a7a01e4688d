import NIOCore

/// What a call is for: an actor of the other side and one of its methods, both by their names on the wire.
package struct CallTarget: Hashable, Sendable {
    package var actor: String
    package var method: String

    package init(actor: String, method: String) {
        self.actor = actor
        self.method = method
    }

    /// Longest name, in bytes of UTF-8.
    package static let nameLimit = 255

    /// Writes the length (UInt8) and the UTF-8 of the actor's name, then those of the method's name.
    func write(into buffer: inout ByteBuffer) {
        for text in [actor, method] {
            let bytes = text.utf8.prefix(CallTarget.nameLimit)
            buffer.writeInteger(UInt8(truncatingIfNeeded: bytes.count))
            buffer.writeBytes(bytes)
        }
    }

    /// The result is `nil` where the bytes are not a target. The bytes behind the target stay in the buffer.
    init?(from buffer: inout ByteBuffer) {
        guard let actor = CallTarget.readName(&buffer), let method = CallTarget.readName(&buffer) else { return nil }
        self.init(actor: actor, method: method)
    }

    private static func readName(_ buffer: inout ByteBuffer) -> String? {
        guard let length = buffer.readInteger(as: UInt8.self) else { return nil }
        return try? buffer.readUTF8ValidatedString(length: Int(length))
    }
}
