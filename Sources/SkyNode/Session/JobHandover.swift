import Base
import Sky
import SkyCore
import Transport

/// Hands jobs over.
enum JobHandover {
    /// Returns once the job is stored.
    ///
    /// - Throws: `CommandFailure` where the coordinator refuses it, or cannot store it.
    static func submit(_ submission: Submission, to coordinator: CoordinatorReach) async throws -> JobID {
        let named = named(submission)
        return try await telling { try await coordinator.call { try await $0.submit(named) } }
    }

    /// As `submit`, with what has happened already.
    static func start(_ submission: Submission, at coordinator: CoordinatorReach) async throws -> StartedJob {
        let named = named(submission)
        return try await telling { try await coordinator.call { try await $0.start(named) } }
    }

    /// With a name, so that it can be handed over twice.
    private static func named(_ submission: Submission) -> Submission {
        var submission = submission
        if submission.token == nil { submission.token = "\(JobID.random())" }
        return submission
    }

    private static func telling<Result>(_ call: () async throws -> Result) async throws -> Result {
        do {
            return try await call()
        } catch let error as SkyError {
            throw CommandFailure(.usage, PrintableText.of(error.message))
        } catch let error as RemoteError {
            throw CommandFailure(.partlyFailed, PrintableText.of(error.message))
        }
    }

    /// Prints the id of each, in order, once it is stored.
    ///
    /// - Throws: `CommandFailure` where no node runs that could keep them.
    static func detach(_ submissions: [Submission], _ cluster: ClusterOptions) async throws {
        try await ClusterSession.client(node: cluster.node, network: cluster.network, log: cluster.log) { coordinator in
            for submission in submissions {
                let job = try await submit(submission, to: coordinator)
                Console.output(cluster.format == .json ? try JSONLine.encode(["job": "\(job)"]) : "\(job)")
            }
        }
    }
}
