package import Transport

/// Who hands out work, through all its incarnations: a coordinator keeps this number in its journal, while the node it
/// lives in gets a new id at every start.
package typealias CoordinatorID = Identity<JobCoordinator>

/// What a `CoordinatorID` is the identity of.
package enum JobCoordinator {}

/// One incarnation of a coordinator. A node refuses the requests of an earlier incarnation once it has seen a later one. If
/// two processes have copies of one journal, nodes obey only the younger one.
package struct CoordinatorIncarnation: Hashable, Codable, Sendable {
    package var coordinator: CoordinatorID
    /// The number of starts of this coordinator so far, including this one.
    package var generation: UInt64

    /// Whether the coordinator began on another node.
    package var isTakenOver: Bool { CoordinatorIncarnation.term(of: generation) > 0 }

    /// The term in which another node took over, which is the upper half of a generation; 0 where none did.
    package static func term(of generation: UInt64) -> UInt64 { generation >> 32 }

    package init(_ coordinator: CoordinatorID, generation: UInt64) {
        self.coordinator = coordinator
        self.generation = generation
    }
}
