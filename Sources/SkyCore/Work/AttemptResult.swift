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

    /// The same with a reason that is not longer than people read.
    func bounded() -> AttemptOutcome {
        switch self {
        case .done: self
        case .fault(let reason): .fault(reason.cut(toBytes: FailureReason.limit))
        case .crash(let reason): .crash(reason.cut(toBytes: FailureReason.limit))
        case .badInput(let reason): .badInput(reason.cut(toBytes: FailureReason.limit))
        case .unavailable(let reason): .unavailable(reason.cut(toBytes: FailureReason.limit))
        case .refused(let reason): .refused(reason.cut(toBytes: FailureReason.limit))
        }
    }

    /// Why there is no result; `nil` where there is one.
    var reason: String? {
        switch self {
        case .done: nil
        case .fault(let reason), .crash(let reason), .badInput(let reason), .unavailable(let reason),
            .refused(let reason):
            reason
        }
    }
}

/// The one result of an attempt that was assigned to a node.
package struct AttemptResult: Hashable, Codable, Sendable {
    /// Counts the results of one coordinator on one node, from 1.
    package var sequence: UInt64
    package var attempt: AttemptID
    package var outcome: AttemptOutcome
    /// Time it took on the node, without waiting and travelling.
    package var duration: Duration
    /// As in the request; `nil` of a node of an earlier version.
    package var receipt: UInt64?

    package init(
        sequence: UInt64, attempt: AttemptID, outcome: AttemptOutcome, duration: Duration, receipt: UInt64? = nil
    ) {
        self.receipt = receipt
        self.sequence = sequence
        self.attempt = attempt
        self.outcome = outcome
        self.duration = duration
    }

    /// About what it takes in memory and on the wire.
    package var byteCount: Int {
        if case .done(let result) = outcome { return 64 + result.readableBytes }
        return 64 + (outcome.reason?.utf8.count ?? 0)
    }
}
