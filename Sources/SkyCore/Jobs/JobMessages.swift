package import Base
import Transport

/// A job to be done.
package struct Submission: Codable, Sendable {
    package var request: JobRequest
    /// A token that the submitter chooses. If a submission is repeated with the same token, it starts nothing, and the
    /// answer is the job that the first one started.
    package var token: String?
    /// Whether it may have been submitted to another node, which does not answer any more. That node's jobs are asked for the token
    /// then.
    package var isRepeated: Bool?

    /// The longest token, in bytes.
    static let tokenLimit = 200

    package init(_ request: JobRequest, token: String? = nil) {
        self.request = request
        self.token = token
    }

    /// Checks a submission, whichever way it came: by the command line, from another node, by HTTP.
    ///
    /// - Throws: `SkyError` of kind `badInput`, in words for the person who submitted the job.
    package func validate() throws(SkyError) {
        try request.validate()
        guard let token else { return }
        // A token is shown in lists and logs, and people have to be able to type it again.
        guard (1...Submission.tokenLimit).contains(token.utf8.count), PrintableText.isWhole(token) else {
            throw SkyError(
                .badInput, "a token has 1 to \(Submission.tokenLimit) bytes, and no line breaks or control characters")
        }
    }
}

/// A job that was accepted, with what has happened to it already.
package struct StartedJob: Codable, Sendable {
    package var job: JobID
    package var batch: EventBatch
}

/// One line of the list of jobs.
package struct JobListing: Codable, Sendable {
    package var id: JobID
    package var title: String
    /// How the job ended; `nil` while it goes on.
    package var state: JobReport.State?
    package var priority: Int
    /// Why nothing is sent to nodes at present, or why the job ended as it did.
    package var reason: String?
    package var status: JobStatus
    /// Milliseconds since 1970.
    package var submitted: UInt64
    /// The name of the person who submitted the job, as their credential says; `nil` where that was somebody with the cluster key.
    package var submitter: String?
    /// Where the copies of what the job's coordinator has stored are; `nil` where none are kept, and from nodes of versions that do
    /// not report this.
    package var copies: CopyReport?
}

/// What is known about one job, apart from its line in the list.
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

/// Tells whether a node is to get new work.
package struct DrainRequest: Codable, Sendable {
    /// The node's name or id.
    package var node: String
    package var isDraining: Bool

    package init(node: String, isDraining: Bool) {
        self.node = node
        self.isDraining = isDraining
    }
}

/// How far a job is.
package struct JobStatus: Codable, Sendable {
    package var scheduled: Int
    package var running: Int
    package var completed: Int
    package var failed: Int
    package var retries: Int
    /// The nodes that have a part in the job, by name.
    package var nodes: [NodeShare]
    package var elapsed: Duration
    /// How many of the completed tasks were answered by earlier results.
    package var cached: Int?
    /// Why the job cannot go on at present, for example because results cannot be stored; `nil` if it can go on, and from
    /// nodes of versions that do not report this.
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

/// Asks for the events of a job from a number on.
package struct EventsRequest: Codable, Sendable {
    package var job: JobID
    /// The number of the first event that is wanted.
    package var from: Int
    /// Whether the ends of tasks that an earlier incarnation of the coordinator has stored are wanted too, because the caller knows
    /// those again that it has seen. Callers of earlier versions do not, and do not set it.
    package var wantsRestored: Bool?

    package init(job: JobID, from: Int, wantsRestored: Bool = true) {
        self.job = job
        self.from = from
        self.wantsRestored = wantsRestored
    }
}

/// The answer: events, perhaps none, and how far the job is.
package struct EventBatch: Codable, Sendable {
    package var events: [JobEvent]
    /// The number from which to ask next.
    package var next: Int
    package var status: JobStatus
    /// The incarnation of the coordinator whose history this is. Another one counts its events anew. `nil` where an earlier version
    /// of the program answers.
    package var generation: UInt64?
    /// The name of the node that has the job; `nil` where an earlier version of the program answers.
    package var node: String?

    /// Whether this is the history of a coordinator that another one had taken over before one of generation `known` answered. It may
    /// still answer, until it hears of that.
    package func isOutdated(by known: UInt64?) -> Bool {
        guard let generation, let known else { return false }
        return CoordinatorIncarnation.term(of: generation) < CoordinatorIncarnation.term(of: known)
    }
}
