package import NIOCore

/// How an attempt ended, as its node reports it to the coordinator.
package enum AttemptOutcome: Hashable, Codable, Sendable {
    /// The `TaskResult`, encoded where it was made: the coordinator stores these bytes, and looks into them only where a plan
    /// needs it.
    case done(ByteBuffer)
    /// It failed; another try may succeed.
    case fault(String)
    /// The process that tried died.
    case crash(String)
    /// The input is bad: no try will succeed.
    case badInput(String)
    /// This node cannot reach the input; another may.
    case unavailable(String)
    /// It was not started, or stopped for a reason that is not its own.
    case refused(String)

    package var isDone: Bool { if case .done = self { true } else { false } }
}

/// The one result of an attempt that was assigned to a node.
package struct AttemptResult: Hashable, Codable, Sendable {
    /// Counts the results of one coordinator on one node, from 1.
    package var sequence: UInt64
    package var attempt: AttemptID
    package var outcome: AttemptOutcome
    /// Time it took on the node, without waiting and travelling.
    package var duration: Duration

    package init(sequence: UInt64, attempt: AttemptID, outcome: AttemptOutcome, duration: Duration) {
        self.sequence = sequence
        self.attempt = attempt
        self.outcome = outcome
        self.duration = duration
    }

    /// About what it takes in memory and on the wire.
    package var byteCount: Int {
        switch outcome {
        case .done(let result): 64 + result.readableBytes
        case .fault(let text), .crash(let text), .badInput(let text), .unavailable(let text), .refused(let text):
            64 + text.utf8.count
        }
    }
}
