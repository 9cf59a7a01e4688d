package import Distributed
package import Transport

/// Gives out parts of images: parts of a node's files to other nodes, and, behind a node's private socket, parts of other
/// nodes' files to the node's workers.
package distributed actor PixelActor: ClusterActor {
    package typealias ActorSystem = ClusterSystem

    /// What peers may call. A test calls every method, so a name here that is not the compiler's is noticed.
    package static let methods = MethodTable([
        Method("part") { (actor: isolated PixelActor, argument: PixelRequest) in await actor.part(argument) }
    ])

    package static let wellKnownName = "pixels"

    private let give: @Sendable (PixelRequest) async -> PixelReply

    init(actorSystem: ClusterSystem, give: @escaping @Sendable (PixelRequest) async -> PixelReply) {
        self.actorSystem = actorSystem
        self.give = give
    }

    /// Returns a part of an image. The reply says how it ended.
    package distributed func part(_ request: PixelRequest) async -> PixelReply {
        // Requests are checked only here. Behind this check, paths and numbers are as they should be.
        if let objection = request.objection {
            return .badInput("a request for pixels that makes no sense: \(objection)")
        }
        return await give(request)
    }
}
