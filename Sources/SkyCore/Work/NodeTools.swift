package import Transport

/// What the work of a kind needs in the daemon of a node, as it needs `WorkerTools` in a worker process: for scans, the pixels
/// on their way. Each node has one of each type that the kinds name.
package protocol NodeTool: Sendable {
    init(_ site: NodeToolSite)
    /// Makes the actor that the node's workers reach. The system does not keep it alive.
    ///
    /// - Parameter system: the actor system between the daemon and its workers, apart from the cluster's.
    func actorForWorkers(in system: ClusterSystem) -> any ClusterActor
    /// Gives back the memory that it holds for further tasks.
    func trim() async
}

/// The node that a tool belongs to.
package struct NodeToolSite: Sendable {
    /// The actor system of the cluster. It has not started yet.
    package let system: ClusterSystem
    /// How many bytes it may hold for further tasks; `nil` for as many as it holds usually.
    package let memory: Int?
    /// Does work that belongs to no job in a worker process, because it may block or die. It needs no slot.
    package let perform: @Sendable (_ task: ScanTask, _ timeLimit: Duration) async -> AttemptEnd<WorkerResult>
}

/// The tools of a node.
package struct NodeTools: Sendable {
    private let tools: [any NodeTool]

    package init(_ tools: [any NodeTool] = []) { self.tools = tools }

    /// The tool of a type; `nil` where the node has none.
    package func tool<Tool: NodeTool>(_ type: Tool.Type = Tool.self) -> Tool? {
        tools.lazy.compactMap { $0 as? Tool }.first
    }

    func actorsForWorkers(in system: ClusterSystem) -> [any ClusterActor] {
        tools.map { $0.actorForWorkers(in: system) }
    }

    func trim() async { for tool in tools { await tool.trim() } }
}
