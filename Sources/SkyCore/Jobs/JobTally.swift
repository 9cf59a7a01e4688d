/// How far a job is.
struct JobTally {
    var completed = 0
    var failed = 0
    var retries = 0
    /// Tasks completed by each node, by the node's name, because names outlive their nodes.
    var nodes: [String: Int] = [:]
    /// How many tasks were answered by earlier results.
    var cached = 0
    var report: JobReport?

    /// Counts one more task as done, by a node or, if the name is empty, by an earlier result.
    mutating func complete(by node: String) {
        completed += 1
        if node.isEmpty { cached += 1 } else { nodes[node, default: 0] += 1 }
    }

    /// Nodes with a part in the job, in the order of their names.
    ///
    /// - Parameter running: attempts under way, by the names of their nodes.
    func shares(running: [String: Int] = [:]) -> [NodeShare] {
        Set(nodes.keys).union(running.keys).sorted().map {
            NodeShare(name: $0, completed: nodes[$0] ?? 0, running: running[$0] ?? 0)
        }
    }
}
