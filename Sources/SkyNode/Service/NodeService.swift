import Logging
import ServiceLifecycle
import SkyCore
import Transport

/// A node as a service: starts, says where it listens, works until shutdown is asked for.
struct NodeService: Service {
    let node: Node
    let listen: NodeAddress
    /// What the operator is told of the node's reach, once it listens.
    let notice: String?

    func run() async throws {
        do {
            try await node.start()
        } catch {
            await node.system.shutdown()
            throw StartFailure.command(error, listen: listen)
        }
        Console.output("skynode \(node.system.name) listening on \(node.system.listeningAddress ?? listen)")
        if let notice { node.system.logger.notice("\(notice)") }
        await cancelWhenGracefulShutdown { await node.run() }
    }
}
