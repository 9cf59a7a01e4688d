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
    /// The index of the task whose end the event tells, or from whose end it follows. A history that another coordinator begins has
    /// these events again, in another order, and by the index they are known again. `nil` for other events, and from coordinators of
    /// earlier versions.
    package var task: Int?
}

extension JobEvent.Kind {
    var isEndOfTask: Bool {
        switch self {
        case .completed, .failed: true
        case .retrying, .special, .ended: false
        }
    }
}

extension JobEvent.Kind: Codable {
    /// The events that jobs of all kinds have.
    private enum Name: String, CodingKey {
        case completed
        case retrying
        case failed
        case ended
    }

    private enum Field: String, CodingKey {
        case task
        case node
        case reason
        case delay
        case report = "_0"
    }

    // The form is the one that `Codable` gives to an enum. This way takes half the time, and there is an event for each task.
    package init(from decoder: any Decoder) throws {
        let events = try decoder.container(keyedBy: Name.self)
        let names = events.allKeys
        guard let name = names.first else {
            guard let event = try JobKinds.event(from: decoder) else {
                throw CaseName.notOne(try CaseName.all(of: decoder), at: decoder)
            }
            self = .special(event)
            return
        }
        guard names.count == 1 else { throw CaseName.notOne(names.map(\.stringValue), at: decoder) }
        let fields = try events.nestedContainer(keyedBy: Field.self, forKey: name)
        func text(_ field: Field) throws -> String { try fields.decode(String.self, forKey: field) }
        switch name {
        case .completed: self = .completed(task: try text(.task), node: try text(.node))
        case .retrying:
            self = .retrying(
                task: try text(.task), node: try text(.node), reason: try text(.reason),
                delay: try fields.decode(Duration.self, forKey: .delay))
        case .failed: self = .failed(task: try text(.task), reason: try text(.reason))
        case .ended: self = .ended(try fields.decode(JobReport.self, forKey: .report))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        if case .special(let event) = self { return try event.encode(to: encoder) }
        var events = encoder.container(keyedBy: Name.self)
        func fields(_ name: Name) -> KeyedEncodingContainer<Field> {
            events.nestedContainer(keyedBy: Field.self, forKey: name)
        }
        switch self {
        case .completed(let task, let node):
            var fields = fields(.completed)
            try fields.encode(task, forKey: .task)
            try fields.encode(node, forKey: .node)
        case .retrying(let task, let node, let reason, let delay):
            var fields = fields(.retrying)
            try fields.encode(task, forKey: .task)
            try fields.encode(node, forKey: .node)
            try fields.encode(reason, forKey: .reason)
            try fields.encode(delay, forKey: .delay)
        case .failed(let task, let reason):
            var fields = fields(.failed)
            try fields.encode(task, forKey: .task)
            try fields.encode(reason, forKey: .reason)
        case .ended(let report):
            var fields = fields(.ended)
            try fields.encode(report, forKey: .report)
        case .special: break
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
