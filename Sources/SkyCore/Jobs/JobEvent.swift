package import Sky

/// Something that happened to a job, for those who watch it.
package struct JobEvent: Codable, Sendable {
    package enum Kind: Codable, Sendable {
        /// The image was looked at: so many sectors will be scanned.
        case planned(ImageInfo, sectors: Int)
        /// By a node; with an empty name, by an earlier result.
        case completed(task: String, node: String)
        case retrying(task: String, node: String, reason: String, delay: Duration)
        case failed(task: String, reason: String)
        case sectorDone(sector: Int, sources: Int)
        /// The last event of every job.
        case ended(JobReport)
    }

    /// Position in the job's history, from 0.
    package var number: Int
    /// Since the job's submission.
    package var time: Duration
    package var kind: Kind
}

/// How a job ended.
package struct JobReport: Codable, Sendable {
    package enum State: String, Codable, Sendable {
        case done
        case cancelled
        /// The input was bad: nothing could be done.
        case badInput
        case failed
    }

    package var state: State
    /// Why, where the state is not `done`.
    package var reason: String?
    package var scheduled: Int
    package var completed: Int
    package var failed: Int
    package var retries: Int
    package var duration: Duration
    /// Tasks completed by each node, by name and id, in the order of names.
    package var nodes: [NodeShare]
    /// Those of the completed tasks that were answered by earlier results.
    package var cached: Int?
}

/// One node's part in a job.
package struct NodeShare: Codable, Sendable {
    package var name: String
    package var completed: Int
    package var running: Int

    package init(name: String, completed: Int, running: Int) {
        self.name = name
        self.completed = completed
        self.running = running
    }
}
