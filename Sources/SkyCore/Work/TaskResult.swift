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
    case done(TaskResult)
    /// The task failed; another attempt may succeed.
    case fault(String)
    case crash(String)
    case badInput(String)
    case unavailable(String)

    /// A worker that refuses nothing, and is no node, has no other ends.
    init(_ end: AttemptEnd<TaskResult>) {
        switch end {
        case .success(let result): self = .done(result)
        case .failure(.crash(let reason)): self = .crash(reason.description)
        case .failure(.permanent(let reason)): self = .badInput(reason.description)
        case .failure(.unavailable(let reason)): self = .unavailable(reason.description)
        case .failure(.fault(let reason)), .failure(.nodeLost(let reason)), .failure(.refused(let reason)):
            self = .fault(reason.description)
        }
    }

    var end: AttemptEnd<TaskResult> {
        switch self {
        case .done(let result): .success(result)
        case .fault(let reason): .failure(.fault(FailureReason(reason)))
        case .crash(let reason): .failure(.crash(FailureReason(reason)))
        case .badInput(let reason): .failure(.permanent(FailureReason(reason)))
        case .unavailable(let reason): .failure(.unavailable(FailureReason(reason)))
        }
    }
}
