/// Something that happened to a job, for those who watch it.
package struct JobEvent: Codable, Sendable {
    package enum Kind: Sendable {
        /// A task was completed by a node, or, if the node's name is empty, by an earlier result.
        case completed(task: String, node: String)
        case retrying(task: String, node: String, reason: String, delay: Duration)
        case failed(task: String, reason: String)
        /// An event that only jobs of one kind have.
        case special(any KindEvent)
        /// The last event of every job.
        case ended(JobReport)
    }

    /// Position in the job's history, from 0.
    package var number: Int
    /// The time since the job's submission.
    package var time: Duration
    package var kind: Kind
}

extension JobEvent.Kind: Codable {
    /// The events that jobs of all kinds have, as they are coded.
    private enum Common: Codable {
        case completed(task: String, node: String)
        case retrying(task: String, node: String, reason: String, delay: Duration)
        case failed(task: String, reason: String)
        case ended(JobReport)
    }

    package init(from decoder: any Decoder) throws {
        if let event = try JobKinds.event(from: decoder) {
            self = .special(event)
            return
        }
        switch try Common(from: decoder) {
        case .completed(let task, let node): self = .completed(task: task, node: node)
        case .retrying(let task, let node, let reason, let delay):
            self = .retrying(task: task, node: node, reason: reason, delay: delay)
        case .failed(let task, let reason): self = .failed(task: task, reason: reason)
        case .ended(let report): self = .ended(report)
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .completed(let task, let node): try Common.completed(task: task, node: node).encode(to: encoder)
        case .retrying(let task, let node, let reason, let delay):
            try Common.retrying(task: task, node: node, reason: reason, delay: delay).encode(to: encoder)
        case .failed(let task, let reason): try Common.failed(task: task, reason: reason).encode(to: encoder)
        case .ended(let report): try Common.ended(report).encode(to: encoder)
        case .special(let event): try event.encode(to: encoder)
        }
    }
}

/// How a job ended.
package struct JobReport: Codable, Sendable {
    package enum State: String, Codable, Sendable {
        case done
        case cancelled
        /// The input was bad, so nothing could be done.
        case badInput
        case failed
    }

    package var state: State
    /// Why the job ended, if the state is not `done`.
    package var reason: String?
    package var scheduled: Int
    package var completed: Int
    package var failed: Int
    package var retries: Int
    package var duration: Duration
    /// Tasks completed by each node, by name and id, in the order of names.
    package var nodes: [NodeShare]
    /// How many of the completed tasks were answered by earlier results.
    package var cached: Int?
    /// What each node did, in the order of names, as far as this incarnation of the coordinator has seen it. Earlier results
    /// took no work. `nil` from a coordinator of an earlier version.
    package var work: [NodeWork]?
    /// About how many bytes are stored of the job, request and results; `nil` where whoever has the cluster key submitted it.
    package var bytes: Int?
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
