import Base

/// One submission. The coordinator draws a random number, so that two coordinators never need to agree on it.
public struct JobID: Hashable, Codable, Sendable, Comparable, CustomStringConvertible {
    /// The number itself.
    public let rawValue: UInt64

    /// A job that is known from elsewhere, such as a journal or a peer.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// A new submission.
    public static func random() -> JobID {
        JobID(rawValue: .random(in: 1...UInt64.max))
    }

    /// An arbitrary but stable order.
    public static func < (left: JobID, right: JobID) -> Bool {
        left.rawValue < right.rawValue
    }

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
