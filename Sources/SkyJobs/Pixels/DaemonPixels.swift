import Base
import Distributed
package import NIOCore
import Sky
import SkyCore
package import Transport

/// Gives a worker parts of images that its daemon gets from other nodes.
package struct DaemonPixels: PixelSupply {
    private let system: ClusterSystem
    private let eventLoop: any EventLoop

    /// - Parameters:
    ///   - system: the worker's own actor system, whose only peer is its daemon.
    ///   - eventLoop: the event loop on which to wait for the daemon's answers.
    package init(_ system: ClusterSystem, on eventLoop: any EventLoop) {
        (self.system, self.eventLoop) = (system, eventLoop)
    }

    func parts(_ requests: [PixelRequest]) throws(SkyError) -> [ByteBuffer] {
        // This blocks the engine's own thread, which nothing else waits for.
        let replies = eventLoop.makeFutureWithTask { try await self.replies(to: requests) }
        let found: [PixelReply]
        do {
            found = try replies.wait()
        } catch {
            throw SkyError(.unavailable, "the daemon gives no pixels: \(error)")
        }
        var parts: [ByteBuffer] = []
        for reply in found {
            switch reply {
            case .part(let bytes): parts.append(bytes)
            case .unavailable(let reason): throw SkyError(.unavailable, reason)
            case .badInput(let reason): throw SkyError(.badInput, reason)
            }
        }
        return parts
    }

    private func replies(to requests: [PixelRequest]) async throws -> [PixelReply] {
        guard let daemon = system.members.first else { throw TransportError.notRunning }
        let actor = try PixelActor.resolve(
            id: ActorAddress(node: daemon.node, name: PixelActor.wellKnownName), using: system)
        return try await withThrowingTaskGroup(of: (Int, PixelReply).self) { group in
            for (index, request) in requests.enumerated() {
                group.addTask {
                    (index, try await withDeadline(DaemonPixels.patience) { try await actor.part(request) })
                }
            }
            var replies = [PixelReply?](repeating: nil, count: requests.count)
            for try await (index, reply) in group { replies[index] = reply }
            return replies.compactMap(\.self)
        }
    }

    /// Longer than all the parts take one after the other over a slow link. The task's own limit comes first.
    private static let patience = Duration.seconds(600)
}
