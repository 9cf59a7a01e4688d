package import NIOCore
package import Transport

/// What the work of a worker process has at hand from task to task. Used by its one thread.
package final class WorkerTools {
    /// The worker's own, whose only peer is its daemon.
    package let system: ClusterSystem
    /// On which to wait for the daemon's answers.
    package let eventLoop: any EventLoop
    private var tools: [ObjectIdentifier: AnyObject] = [:]

    package init(_ system: ClusterSystem, on eventLoop: any EventLoop) {
        (self.system, self.eventLoop) = (system, eventLoop)
    }

    /// The tool of a type: made by the first task that needs one, and kept.
    package func tool<Tool: AnyObject>(_ make: () -> Tool) -> Tool {
        if let known = tools[ObjectIdentifier(Tool.self)] as? Tool { return known }
        let tool = make()
        tools[ObjectIdentifier(Tool.self)] = tool
        return tool
    }
}
