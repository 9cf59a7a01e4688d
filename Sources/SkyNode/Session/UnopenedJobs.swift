import SkyCore
import Transport

/// What is said of a node whose coordinator does not work yet.
enum UnopenedJobs {
    /// - Parameter node: where commands reach the node.
    static func words(at node: NodeAddress?) -> String {
        "does not take or show jobs now: it is starting, or waits for the nodes with copies of its jobs, which may have taken them "
            + "over (\(PersonsWord.unprotect(at: node)) lets it go on alone)"
    }

    /// As `words`, of the node to which a command is linked.
    static func words(of coordinator: Coordinator) -> String {
        let members = coordinator.actorSystem.members
        return words(at: members.first { $0.node == coordinator.id.node }?.address)
    }
}
