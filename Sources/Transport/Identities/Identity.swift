import Base

/// Who somebody or something is: a random number, so that whoever draws one needs to ask nobody. Numbers of different
/// subjects are different types, and on the wire and in files each is the bare number.
///
/// - Parameter Subject: what it is the identity of; a type that says so and is nothing else.
public struct Identity<Subject>: Hashable, Codable, Sendable, Comparable, CustomStringConvertible {
    /// The number itself; 0 is nobody's.
    public let rawValue: UInt64

    /// One that is known from elsewhere: a peer, a journal.
    @inlinable
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// A new one.
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
