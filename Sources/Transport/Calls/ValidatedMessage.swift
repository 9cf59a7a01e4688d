import Base
import NIOCore

/// A message whose values are checked where it arrives, before anything else sees them.
///
/// The decoder bounds what a message may take; this bounds what it may say. Every argument and every result of a call whose type
/// conforms is checked right after it is decoded, so that no code behind that check has to doubt a number of a peer: sums and
/// products of values within these limits cannot overflow.
public protocol ValidatedMessage {
    /// - Throws: `InvalidMessage` for values that no peer of good faith sends.
    func validate() throws(InvalidMessage)
}

extension Array: ValidatedMessage where Element: ValidatedMessage {
    public func validate() throws(InvalidMessage) {
        for element in self { try element.validate() }
    }
}

/// What is wrong with the values of a message that could be decoded.
public struct InvalidMessage: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which value, and what it has to be.
    public let description: String

    public init(_ description: String) {
        self.description = PrintableText.of(description)
    }

    /// Throws unless `condition` holds.
    ///
    /// - Parameter text: which value is wrong, and what it has to be.
    public static func unless(
        _ condition: @autoclosure () -> Bool, _ text: @autoclosure () -> String
    ) throws(InvalidMessage) {
        if !condition() { throw InvalidMessage(text()) }
    }
}

extension WireCoder {
    /// Decodes a message of a peer, and checks its values where it is a `ValidatedMessage`.
    static func decodeChecked<Value: Decodable>(_ type: Value.Type, from bytes: ByteBuffer) throws -> Value {
        let value = try decode(type, from: bytes)
        if !isPlain(type) { try (value as? any ValidatedMessage)?.validate() }
        return value
    }

    /// Whether a type is one of those that have nothing to validate and come alone most often. To ask the runtime for a conformance
    /// takes longer than to read a short message.
    @inline(__always)
    private static func isPlain<Value>(_ type: Value.Type) -> Bool {
        type == [UInt8].self || type == ByteBuffer.self || type == String.self || type == Int.self || type == Bool.self
    }
}
