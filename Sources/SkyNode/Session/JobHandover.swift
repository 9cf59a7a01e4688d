import Base
import Sky
import SkyCore
import Synchronization
import Transport

/// Submits jobs to a coordinator.
enum JobHandover {
    /// Submits a job, and returns when it is stored, with what has happened of it already.
    ///
    /// - Throws: `CommandFailure` where the coordinator refuses it, or cannot store it.
    static func start(_ submission: Submission, at coordinator: CoordinatorConnection) async throws -> StartedJob {
        var submission = submission
        // It can safely be submitted twice then.
        if submission.token == nil { submission.token = "\(JobID.random())" }
        let wasSubmitted = Atomic(false)
        return try await withCommandFailures {
            try await coordinator.call { [submission] coordinator in
                var submission = submission
                // A coordinator may have taken it before, and other nodes may go on with that one's jobs.
                if wasSubmitted.exchange(true, ordering: .relaxed) { submission.isRepeated = true }
                return try await coordinator.start(submission)
            }
        }
    }

    private static func withCommandFailures<Result>(_ call: () async throws -> Result) async throws -> Result {
        do {
            return try await call()
        } catch let error as SkyError {
            throw CommandFailure(.usage, PrintableText.of(error.message), refusal: .lasting)
        } catch let error as PassingRefusal {
            throw CommandFailure(.partlyFailed, PrintableText.of(error.message), refusal: .passing(error.cause))
        } catch let error as RemoteError {
            // Any other kind is about the node or the caller, and would be the same for the next job.
            let isOfJob = [.failed, .badArguments, .tooLarge].contains(error.kind)
            throw CommandFailure(
                .partlyFailed, PrintableText.of(error.message), refusal: isOfJob ? .lasting : nil)
        }
    }

    /// A job that was submitted, as a program reads it.
    private struct DetachedLine: Encodable {
        var job: String
        /// Why the job cannot go on at present; only where it cannot.
        var paused: String?

        init(_ job: JobID, _ paused: String?) { (self.job, self.paused) = ("\(job)", paused) }
    }

    /// The node that gets the jobs, and how the command prints.
    struct Destination {
        var node: String?
        var network: NetworkOptions
        var log: LogOptions
        /// How long it is waited for a node that is lost.
        var patience: Duration
        var format: OutputFormat
    }

    /// Submits jobs and prints the id of each, in order, when it is stored. On a terminal it also prints how to go on.
    ///
    /// - Parameter output: where the results of scans are to be written; `nil` for other jobs.
    /// - Throws: `CommandFailure` where no node runs that could keep the jobs.
    static func detach(_ submissions: [Submission], _ cluster: Destination, output: String? = nil) async throws {
        // A node that is lost or slow meanwhile may have stored a job: only asking again tells.
        try await ClusterSession.client(
            node: cluster.node, network: cluster.network, log: cluster.log, patience: cluster.patience
        ) { coordinator in
            var jobs: [JobID] = []
            var reported: Set<String> = []
            for submission in submissions {
                // The answer says why the job cannot go on at present.
                let started = try await start(submission, at: coordinator)
                let (job, paused) = (started.job, started.batch.status.paused)
                Console.output(cluster.format == .json ? try JSONLine.encode(DetachedLine(job, paused)) : "\(job)")
                jobs.append(job)
                // People hear it once, however many images there are.
                if cluster.format == .text, let paused, reported.insert(paused).inserted {
                    Console.error("paused: \(PrintableText.of(paused))")
                }
            }
            guard cluster.format == .text, Console.errorIsTerminal else { return }
            DetachHint(jobs, connection: cluster.network.connection(to: cluster.node), output: output).lines.forEach(
                Console.error)
        }
    }
}

extension ClusterOptions {
    var destination: JobHandover.Destination {
        JobHandover.Destination(
            node: node, network: network, log: log, patience: patience.duration, format: format)
    }
}
