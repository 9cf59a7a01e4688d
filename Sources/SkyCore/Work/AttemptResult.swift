package import NIOCore

/// How an attempt ended: what it brought, or why it brought nothing. This is its one type inside a process; what goes over a
/// link is made of it at the door, and it of that: `TaskOutcome` between a worker and its daemon, `AttemptOutcome` between a node
/// and a coordinator.
package typealias AttemptEnd<Value> = Result<Value, AttemptFailure>

/// How an attempt ended, as its node reports it to the coordinator: an `AttemptEnd` on that way.
package enum AttemptOutcome: Hashable, Codable, Sendable {
    /// The attempt completed. The bytes are the `TaskResult`, encoded where it was made. The coordinator stores these
    /// bytes, and reads them only if a plan needs that.
    case done(ByteBuffer)
    /// The attempt failed; another attempt may succeed.
    case fault(String)
    /// The process that ran the attempt died.
    case crash(String)
    /// The input is bad: no attempt will succeed.
    case badInput(String)
    /// This node cannot reach the input; another node may.
    case unavailable(String)
    /// The attempt was not started, or it was stopped for a reason outside it.
    case refused(String)

    /// A node does not report its own loss.
    init(_ end: AttemptEnd<ByteBuffer>) {
        switch end {
        case .success(let result): self = .done(result)
        case .failure(.fault(let reason)): self = .fault(reason.description)
        case .failure(.crash(let reason)): self = .crash(reason.description)
        case .failure(.permanent(let reason)): self = .badInput(reason.description)
        case .failure(.unavailable(let reason)): self = .unavailable(reason.description)
        case .failure(.refused(let reason)), .failure(.nodeLost(let reason)): self = .refused(reason.description)
        }
    }

    /// The same outcome, with its reason cut to a length that people read.
    var end: AttemptEnd<ByteBuffer> {
        switch self {
        case .done(let result): .success(result)
        case .fault(let reason): .failure(.fault(FailureReason(reason)))
        case .crash(let reason): .failure(.crash(FailureReason(reason)))
        case .badInput(let reason): .failure(.permanent(FailureReason(reason)))
        case .unavailable(let reason): .failure(.unavailable(FailureReason(reason)))
        case .refused(let reason): .failure(.refused(FailureReason(reason)))
        }
    }

    /// Why there is no result; `nil` if there is one.
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
    /// The number of the result, counted from 1 for each coordinator on each node.
    package var sequence: UInt64
    package var attempt: AttemptID
    package var outcome: AttemptOutcome
    /// How long the attempt took on the node, without waiting and transfer.
    package var duration: Duration
    /// The receipt of the request; `nil` from a node of an earlier version.
    package var receipt: UInt64?
    /// How long it spent in each stage of its work; `nil` where that is not known, as from a node of an earlier version.
    package var stages: StageTimes?

    package init(
        sequence: UInt64, attempt: AttemptID, outcome: AttemptOutcome, duration: Duration, receipt: UInt64? = nil,
        stages: StageTimes? = nil
    ) {
        self.receipt = receipt
        self.stages = stages
        self.sequence = sequence
        self.attempt = attempt
        self.outcome = outcome
        self.duration = duration
    }

    /// About how many bytes the result takes in memory and on the wire.
    package var byteCount: Int {
        let own = 64 + 16 * (stages?.durations.count ?? 0)
        if case .done(let result) = outcome { return own + result.readableBytes }
        return own + (outcome.reason?.utf8.count ?? 0)
    }
}
