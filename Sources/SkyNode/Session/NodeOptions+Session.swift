import Base
import SkyCore
import Transport

extension NodeOptions {
    /// A node that has handed its jobs over has no coordinator for a moment, and its jobs are nowhere. What was called then has not
    /// been done.
    private func whileOpening<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        let end = ContinuousClock.now + .seconds(2)
        while true {
            do {
                return try await body()
            } catch let error as RemoteError
                where (error.kind == .noSuchActor || error.mayBeTakenOver) && ContinuousClock.now < end
            {
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }

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
                return try await whileOpening { try await body(reach) }
            } catch let error as RemoteError where error.kind == .noSuchActor {
                throw CommandFailure(.noCluster, "the node \(UnopenedJobs.words)")
            } catch let error as RemoteError where error.mayBeTakenOver {
                throw CommandFailure(.noCluster, PrintableText.of(error.message))
            } catch let error as RemoteError {
                throw CommandFailure(.usage, PrintableText.of(error.message))
            }
        }
    }
}
