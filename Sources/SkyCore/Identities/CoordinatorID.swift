package import Transport

/// Who hands out work, through all its incarnations: a coordinator keeps this number in its journal, while the node it
/// lives in gets a new id at every start.
package typealias CoordinatorID = Identity<JobCoordinator>

/// What a `CoordinatorID` is the identity of.
package enum JobCoordinator {}

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
