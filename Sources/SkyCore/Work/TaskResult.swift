package import NIOCore

/// What a task came to, of any kind that there is.
package struct TaskResult: Sendable {
    package var value: any KindResult

    package init(_ value: some KindResult) { self.value = value }
}

extension TaskResult: Codable {
    package init(from decoder: any Decoder) throws { value = try JobKinds.result(from: decoder) }

    package func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

/// How a task ended in a worker process.
package enum TaskOutcome: Codable, Sendable {
    /// The stages of its work come with it; `nil` from a worker of an earlier version, and where the kind does not tell.
    case done(TaskResult, stages: StageTimes? = nil)
    /// The same with a result that is encoded already.
    case encoded(ByteBuffer, stages: StageTimes? = nil)
    /// The task failed; another attempt may succeed.
    case fault(String)
    case crash(String)
    case badInput(String)
    case unavailable(String)

    /// A worker that refuses nothing, and is no node, has no other ends.
    init(_ end: AttemptEnd<WorkerResult>, stages: StageTimes? = nil) {
        switch end {
        case .success(.read(let result)): self = .done(result, stages: stages)
        case .success(.encoded(let result)): self = .encoded(result, stages: stages)
        case .failure(.crash(let reason)): self = .crash(reason.description)
        case .failure(.permanent(let reason)): self = .badInput(reason.description)
        case .failure(.unavailable(let reason)): self = .unavailable(reason.description)
        case .failure(.fault(let reason)), .failure(.nodeLost(let reason)), .failure(.refused(let reason)):
            self = .fault(reason.description)
        }
    }

    var end: AttemptEnd<WorkerResult> {
        switch self {
        case .done(let result, stages: _): .success(.read(result))
        case .encoded(let result, stages: _): .success(.encoded(result))
        case .fault(let reason): .failure(.fault(FailureReason(reason)))
        case .crash(let reason): .failure(.crash(FailureReason(reason)))
        case .badInput(let reason): .failure(.permanent(FailureReason(reason)))
        case .unavailable(let reason): .failure(.unavailable(FailureReason(reason)))
        }
    }

    /// How long the stages of its work took, if that is known. The worker ran foreign code, so what it says is checked.
    var stages: StageTimes? {
        switch self {
        case .done(_, stages: let stages?), .encoded(_, stages: let stages?): stages.isSound ? stages : nil
        case .done, .encoded, .fault, .crash, .badInput, .unavailable: nil
        }
    }
}
