import Base
import SkyCore
import Transport

extension NodeOptions {
    /// A node that has handed its jobs over has no coordinator for a moment, and its jobs are nowhere. What was called then has not
    /// been done.
    private static func whileOpening<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
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
    ///
    /// - Parameter patience: how long it waits for that.
    func following<Result: Sendable>(
        patience: Duration = .zero, _ body: (CoordinatorConnection) async throws -> Result
    ) async throws -> Result {
        try await NodeOptions.following(node, network, log, patience: patience, body)
    }

    fileprivate static func following<Result: Sendable>(
        _ node: String?, _ network: NetworkOptions, _ log: LogOptions, patience: Duration,
        _ body: (CoordinatorConnection) async throws -> Result
    ) async throws -> Result {
        try await ClusterSession.client(node: node, network: network, log: log, patience: patience) { reach in
            do {
                // Where the connection waits, there is no need to do so here.
                return try await patience > .zero ? body(reach) : whileOpening { try await body(reach) }
            } catch let error as JobUnknownNow {
                throw CommandFailure(.noCluster, error.message)
            } catch let error as RemoteError where error.kind == .noSuchActor {
                throw CommandFailure(.noCluster, "the node \(UnopenedJobs.words(of: await reach.coordinator))")
            } catch let error as RemoteError where error.mayBeTakenOver || error.mayBeOutOfReach {
                throw CommandFailure(.noCluster, PrintableText.of(error.message))
            } catch let error as RemoteError {
                throw CommandFailure(.usage, PrintableText.of(error.message))
            }
        }
    }
}

extension JobsOptions {
    /// Finds jobs and works with them. Where the node that is asked is lost meanwhile, or a job is about to be taken over, both are
    /// done again.
    func with<Result: Sendable>(_ body: @Sendable (JobLookup) async throws -> Result) async throws -> Result {
        let here = here
        return try await following { connection in
            try await connection.call { try await body(JobLookup(coordinator: $0, isHere: here)) }
        }
    }

    /// As `with`, for work that follows a job through the loss of nodes.
    func following<Result: Sendable>(
        _ body: (CoordinatorConnection) async throws -> Result
    ) async throws -> Result {
        try await NodeOptions.following(choice.node, network, log, patience: reconnect.patience.duration, body)
    }
}
