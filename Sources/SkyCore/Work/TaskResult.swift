import Base

/// What a task came to, of any kind that there is.
package struct TaskResult: Sendable {
    package var value: any KindResult

    package init(_ value: some KindResult) { self.value = value }
}

extension TaskResult: Codable {
    package init(from decoder: any Decoder) throws { value = try JobKinds.result(from: decoder) }

    package func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

/// What a worker process says of a task.
package enum TaskOutcome: Codable, Sendable {
    case done(TaskResult)
    /// It failed; another try may succeed.
    case fault(String)
    /// The worker process died.
    case crash(String)
    /// The input is bad: no try will succeed.
    case badInput(String)
    /// This node cannot reach the input; another may.
    case unavailable(String)

    /// What an error says of another try.
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
