import Base

/// The identity of somebody or something: a random number, so that nobody has to be asked for a new one. Identities of different
/// subjects are different types. On the wire and in files each is the bare number.
///
/// - Parameter Subject: the subject of the identity, a type that has no other purpose.
public struct Identity<Subject>: Hashable, Codable, Sendable, Comparable, CustomStringConvertible {
    /// The number itself. Nobody has the number 0.
    public let rawValue: UInt64

    /// Takes an identity that is known from elsewhere, such as a peer or a journal.
    @inlinable
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Draws a new identity.
    public static func random() -> Identity {
        Identity(rawValue: .random(in: 1...UInt64.max))
    }

    @inlinable
    public static func == (left: Identity, right: Identity) -> Bool { left.rawValue == right.rawValue }

    @inlinable
    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

    /// An arbitrary but stable order.
    @inlinable
    public static func < (left: Identity, right: Identity) -> Bool { left.rawValue < right.rawValue }

    /// Sixteen hexadecimal digits.
    public var description: String { HexText.of(rawValue) }

    /// Reads the bare number.
    public init(from decoder: any Decoder) throws {
        rawValue = try decoder.singleValueContainer().decode(UInt64.self)
    }

    /// Writes the bare number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
