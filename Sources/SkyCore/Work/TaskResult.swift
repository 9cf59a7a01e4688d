import Base

/// The result of a task, of any kind.
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
    /// The worker process died.
    case crash(String)
    /// The input is bad: no attempt will succeed.
    case badInput(String)
    /// This node cannot reach the input; another node may.
    case unavailable(String)

    /// The outcome that an error stands for, by what it says about another attempt.
    init(failure error: any Error) {
        guard let error = error as? SkyError else {
            self = .fault(String(describing: error))
            return
        }
        switch error.kind {
        case .badInput: self = .badInput(error.message)
        case .unavailable: self = .unavailable(error.message)
        case .failed: self = .fault(error.message)
        }
    }
}
