import Base

/// Who hands out work, through all its lives: a coordinator keeps this number in its journal, while the node it lives in gets
/// a new id at every start.
package struct CoordinatorID: Hashable, Codable, Sendable, Comparable, CustomStringConvertible {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package static func random() -> CoordinatorID { CoordinatorID(rawValue: .random(in: 1...UInt64.max)) }

    package static func < (left: CoordinatorID, right: CoordinatorID) -> Bool { left.rawValue < right.rawValue }

    /// Sixteen hexadecimal digits.
    package var description: String { HexText.of(rawValue) }

    package init(from decoder: any Decoder) throws {
        rawValue = try decoder.singleValueContainer().decode(UInt64.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

/// One life of a coordinator. What an earlier one asks for is refused once a later one has been heard: of two processes with
/// copies of one journal, only the younger is obeyed.
package struct CoordinatorIncarnation: Hashable, Codable, Sendable {
    package var coordinator: CoordinatorID
    /// Starts of this coordinator so far, this one included.
    package var generation: UInt64

    package init(_ coordinator: CoordinatorID, generation: UInt64) {
        self.coordinator = coordinator
        self.generation = generation
    }
}
