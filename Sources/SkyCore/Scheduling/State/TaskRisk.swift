package import Transport

/// A task that was run on a coordinator's own node, under the id that this had then.
package struct TaskRisk: Hashable, Sendable {
    package var task: TaskID
    package var node: NodeID
    /// Whether nothing else ran there.
    package var isAlone: Bool

    package init(task: TaskID, node: NodeID, isAlone: Bool) {
        self.task = task
        self.node = node
        self.isAlone = isAlone
    }
}
