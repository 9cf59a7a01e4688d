import Base

/// One run of one node: a random number drawn at each start, its incarnation. A node that restarts is another
/// node; names and addresses identify nobody.
public struct NodeID: Hashable, Codable, Sendable, Comparable, CustomStringConvertible {
    public let rawValue: UInt64

    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// A new incarnation.
    public static func random() -> NodeID {
        NodeID(rawValue: .random(in: 1...UInt64.max))
    }

    public static func < (left: NodeID, right: NodeID) -> Bool {
        left.rawValue < right.rawValue
    }

    /// Sixteen hexadecimal digits.
    public var description: String { HexText.of(rawValue) }

    public init(from decoder: any Decoder) throws {
        rawValue = try decoder.singleValueContainer().decode(UInt64.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
