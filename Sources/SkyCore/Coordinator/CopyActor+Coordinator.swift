import Transport

extension CopyActor {
    /// The one on the node of a coordinator.
    package static func beside(_ coordinator: Coordinator) throws -> CopyActor {
        try resolve(
            id: ActorAddress(node: coordinator.id.node, name: wellKnownName), using: coordinator.actorSystem)
    }
}
