package import Transport

/// A task that ran on a coordinator's own node, with the id that the node had then.
package struct TaskRisk: Hashable, Sendable {
    package var task: TaskID
    package var node: NodeID
    /// Whether nothing else ran on the node.
    package var isAlone: Bool

    package init(task: TaskID, node: NodeID, isAlone: Bool) {
        self.task = task
        self.node = node
        self.isAlone = isAlone
    }
}
