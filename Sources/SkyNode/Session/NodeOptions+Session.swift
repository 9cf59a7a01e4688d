import Base
import SkyCore
import Transport

extension NodeOptions {
    /// Asks the coordinator of the node that is meant.
    func with<Result: Sendable>(_ body: (Coordinator) async throws -> Result) async throws -> Result {
        try await following { reach in try await body(await reach.coordinator) }
    }

    /// As `with`, for what goes on where the node is lost and comes back.
    func following<Result: Sendable>(
        patience: Duration = .zero, _ body: (CoordinatorConnection) async throws -> Result
    ) async throws -> Result {
        try await ClusterSession.client(node: node, network: network, log: log, patience: patience) { reach in
            do {
                return try await body(reach)
            } catch let error as RemoteError {
                throw CommandFailure(.usage, PrintableText.of(error.message))
            }
        }
    }
}
