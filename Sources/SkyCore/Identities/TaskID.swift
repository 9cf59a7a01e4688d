/// One unit of a job: its position in the order in which the job's tasks were added, from 0.
public struct TaskID: Hashable, Codable, Sendable, Comparable, CustomStringConvertible, ExpressibleByIntegerLiteral {
    /// Position within the job.
    public let index: Int

    /// The most tasks that a job may have.
    static let countLimit = Int(Int32.max)

    /// The task at a position.
    public init(_ index: Int) {
        self.index = index
    }

    /// The task at a position, written as a number.
    public init(integerLiteral value: Int) {
        index = value
    }

    /// The order in which tasks were added.
    public static func < (left: TaskID, right: TaskID) -> Bool {
        left.index < right.index
    }

    /// The bare number.
    public var description: String { String(index) }

    /// Reads the bare number.
    public init(from decoder: any Decoder) throws {
        index = try decoder.singleValueContainer().decode(Int.self)
    }

    /// Writes the bare number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(index)
    }
}
