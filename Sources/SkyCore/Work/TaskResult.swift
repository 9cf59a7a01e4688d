package import NIOCore
package import Sky

/// What a task came to.
package enum TaskResult: Sendable {
    case simulated
    case sky(SkyResult)
    case pixels(ByteBuffer)
}

extension TaskResult: Codable {
    /// What came of images goes over the wire under its own names, beside these.
    private enum CodingKeys: CodingKey {
        case simulated, pixels
    }

    private enum NoKeys: CodingKey {}

    private enum ValueKeys: String, CodingKey {
        case value = "_0"
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        switch container.allKeys.first {
        case .simulated: self = .simulated
        case .pixels:
            self = .pixels(
                try container.nestedContainer(keyedBy: ValueKeys.self, forKey: .pixels).decode(
                    ByteBuffer.self, forKey: .value))
        case nil: self = .sky(try SkyResult(from: decoder))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .simulated:
            var container = encoder.container(keyedBy: CodingKeys.self)
            _ = container.nestedContainer(keyedBy: NoKeys.self, forKey: .simulated)
        case .pixels(let bytes):
            var container = encoder.container(keyedBy: CodingKeys.self)
            var values = container.nestedContainer(keyedBy: ValueKeys.self, forKey: .pixels)
            try values.encode(bytes, forKey: .value)
        case .sky(let result): try result.encode(to: encoder)
        }
    }
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
}
