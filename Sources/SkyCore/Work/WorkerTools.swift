package import NIOCore
package import Transport

/// The tools that the work in a worker process keeps from task to task. The worker's one thread uses them.
package final class WorkerTools {
    /// The actor system of the worker, whose only peer is its daemon.
    package let system: ClusterSystem
    /// The event loop on which to wait for the daemon's answers.
    package let eventLoop: any EventLoop
    /// The folders below which the worker may read, without symbolic links; empty if it may read everywhere.
    package let readFolders: [String]
    /// The folder of files that commands have sent to the node; `nil` if there is none.
    package let inputs: String?
    private var tools: [ObjectIdentifier: AnyObject] = [:]
    /// How long the present task's work spent in each of its stages, which the work sets before it ends; `nil` if its kind does
    /// not tell.
    package var stages: StageTimes?

    package init(
        _ system: ClusterSystem, on eventLoop: any EventLoop, readFolders: [String] = [], inputs: String? = nil
    ) {
        (self.system, self.eventLoop, self.readFolders, self.inputs) = (system, eventLoop, readFolders, inputs)
    }

    /// The tool of a type. The first task that needs one makes it, and it is kept.
    package func tool<Tool: AnyObject>(_ make: () -> Tool) -> Tool {
        if let known = tools[ObjectIdentifier(Tool.self)] as? Tool { return known }
        let tool = make()
        tools[ObjectIdentifier(Tool.self)] = tool
        return tool
    }
}
