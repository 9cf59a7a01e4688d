package import Base
import Transport

/// A job to be done.
package struct Submission: Codable, Sendable {
    package var request: JobRequest
    /// What the submitter calls it: a submission that is repeated with the same token starts nothing, and answers with the job
    /// that the first one started.
    package var token: String?

    /// Longest token, in bytes.
    static let tokenLimit = 200

    package init(_ request: JobRequest, token: String? = nil) {
        self.request = request
        self.token = token
    }

    /// Whatever way it came: by the command line, from another node, by HTTP.
    ///
    /// - Throws: `SkyError` of kind `badInput`, in words for whoever submitted it.
    package func validate() throws(SkyError) {
        try request.validate()
        guard let token else { return }
        // A token is shown in lists and logs, and somebody has to be able to type it again.
        guard (1...Submission.tokenLimit).contains(token.utf8.count), PrintableText.isWhole(token) else {
            throw SkyError(
                .badInput, "a token has 1 to \(Submission.tokenLimit) bytes, and no line breaks or control characters")
        }
    }
}

/// A job that was taken, and what has happened to it already.
package struct StartedJob: Codable, Sendable {
    package var job: JobID
    package var batch: EventBatch
}

/// One line of the list of jobs.
package struct JobListing: Codable, Sendable {
    package var id: JobID
    package var title: String
    /// How it ended; `nil` while it goes on.
    package var state: JobReport.State?
    package var priority: Int
    /// Why nothing is sent out, or how it ended.
    package var reason: String?
    package var status: JobStatus
    /// Milliseconds since 1970.
    package var submitted: UInt64
}

/// What there is to know of one job beside its line in the list.
package struct JobDetails: Codable, Sendable {
    package struct Failure: Codable, Sendable {
        package var task: String
        package var reason: String
    }

    package var request: JobRequest
    /// The first of the tasks that failed.
    package var failures: [Failure]
    package var hiddenFailures: Int
}

/// Whether a node is to get new work.
package struct DrainRequest: Codable, Sendable {
    /// Its name or id.
    package var node: String
    package var isDraining: Bool

    package init(node: String, isDraining: Bool) {
        self.node = node
        self.isDraining = isDraining
    }
}

/// Where a job stands.
package struct JobStatus: Codable, Sendable {
    package var scheduled: Int
    package var running: Int
    package var completed: Int
    package var failed: Int
    package var retries: Int
    /// Nodes with a part in it, by name.
    package var nodes: [NodeShare]
    package var elapsed: Duration
    /// Those of the completed tasks that were answered by earlier results.
    package var cached: Int?
    /// Why the job cannot go on at present, as where results cannot be stored; `nil` where it can, and from nodes of
    /// versions that do not tell.
    package var paused: String?

    package init(
        scheduled: Int, running: Int, completed: Int, failed: Int, retries: Int, nodes: [NodeShare],
        elapsed: Duration, cached: Int? = nil, paused: String? = nil
    ) {
        self.scheduled = scheduled
        self.running = running
        self.completed = completed
        self.failed = failed
        self.retries = retries
        self.nodes = nodes
        self.elapsed = elapsed
        self.cached = cached
        self.paused = paused
    }
}

/// Asks for what happened since.
package struct EventsRequest: Codable, Sendable {
    package var job: JobID
    /// Number of the first event wanted.
    package var from: Int

    package init(job: JobID, from: Int) {
        self.job = job
        self.from = from
    }
}

/// The answer: events, perhaps none, and where the job stands.
package struct EventBatch: Codable, Sendable {
    package var events: [JobEvent]
    /// Number to ask from next.
    package var next: Int
    package var status: JobStatus
}
