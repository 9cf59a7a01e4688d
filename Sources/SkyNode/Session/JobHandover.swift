import SkyCore
import Transport

/// Hands jobs over.
enum JobHandover {
    /// Returns once the job is stored.
    ///
    /// - Throws: `CommandFailure` where the coordinator refuses it, or cannot store it.
    static func submit(_ submission: Submission, to coordinator: Coordinator) async throws -> JobID {
        do {
            return try await coordinator.submit(submission)
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
