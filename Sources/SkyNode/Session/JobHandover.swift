import SkyCore
import Transport

/// Hands jobs over and leaves.
enum JobHandover {
    /// Prints the id of each, in order, once it is stored.
    ///
    /// - Throws: `CommandFailure` where no node runs that could keep them.
    static func detach(_ submissions: [Submission], _ cluster: ClusterOptions) async throws {
        try await ClusterSession.client(node: cluster.node, network: cluster.network, log: cluster.log) { coordinator in
            for submission in submissions {
                let job: JobID
                do {
                    job = try await coordinator.submit(submission)
                } catch let error as SkyError {
                    throw CommandFailure(.usage, error.message)
                } catch let error as RemoteError {
                    throw CommandFailure(.usage, error.message)
                }
                Console.output(cluster.format == .json ? try JSONLine.encode(["job": "\(job)"]) : "\(job)")
            }
        }
    }
}
