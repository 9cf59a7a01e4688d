import Base

/// A coordinator, through all its incarnations. It keeps this number in its journal, while the node that it lives in gets a
/// new id at every start.
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

/// One incarnation of a coordinator. A node refuses the requests of an earlier incarnation once it has seen a later one. If
/// two processes have copies of one journal, nodes obey only the younger one.
package struct CoordinatorIncarnation: Hashable, Codable, Sendable {
    package var coordinator: CoordinatorID
    /// The number of starts of this coordinator so far, including this one.
    package var generation: UInt64

    package init(_ coordinator: CoordinatorID, generation: UInt64) {
        self.coordinator = coordinator
        self.generation = generation
    }
}
