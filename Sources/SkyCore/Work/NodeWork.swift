/// What a node did for a job: the attempts whose results count, and how long they took.
package struct NodeWork: Hashable, Codable, Sendable {
    /// The name of the node; empty for the sum of all nodes beyond `JobWork.nodeLimit`.
    package var name: String
    /// The number of attempts whose results count.
    package var tasks = 0
    /// How long these attempts took on the node together, without waiting for a slot.
    package var duration = Duration.zero
    /// The most slots that the coordinator had there when a result was counted.
    package var slots = 0
    /// How long they spent in each stage of their work; empty where that is not known.
    package var stages = StageTimes()

    package init(name: String) { self.name = name }
}
