package import Distributed
package import Transport

/// Gives out parts of images: of a node's files to other nodes; and, behind a node's private socket, of other nodes' files to
/// its workers.
package distributed actor PixelActor: ClusterActor {
    package typealias ActorSystem = ClusterSystem

    /// What peers may call. A test calls every method, so a name here that is not the compiler's is noticed.
    package static let methods = MethodTable([
        Method("part", "$s7SkyCore10PixelActorC4partyAA0C5ReplyOAA0C7RequestVYaKFTE") {
            (actor: isolated PixelActor, argument: PixelRequest) in await actor.part(argument)
        }
    ])

    package static let wellKnownName = "pixels"

    private let give: @Sendable (PixelRequest) async -> PixelReply

    init(actorSystem: ClusterSystem, give: @escaping @Sendable (PixelRequest) async -> PixelReply) {
        self.actorSystem = actorSystem
        self.give = give
    }

    /// A part of an image. How it ends is in the reply.
    package distributed func part(_ request: PixelRequest) async -> PixelReply {
        // The one door: behind it, paths and numbers are what they should be.
        if let objection = request.objection {
            return .badInput("a request for pixels that cannot be meant: \(objection)")
        }
        return await give(request)
    }
}
