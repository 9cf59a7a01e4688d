/// One try of one task on one node. The number fences results: what an earlier attempt says is never taken for what a
/// later one says.
public struct AttemptID: Hashable, Codable, Sendable, Comparable, CustomStringConvertible {
    /// The job the task belongs to.
    public var job: JobID
    /// The task that is tried.
    public var task: TaskID
    /// Which try of the task this is, from 1.
    public var number: Int

    /// The try with that number.
    public init(job: JobID, task: TaskID, number: Int) {
        self.job = job
        self.task = task
        self.number = number
    }

    /// By job, then task, then number.
    public static func < (left: AttemptID, right: AttemptID) -> Bool {
        (left.job, left.task, left.number) < (right.job, right.task, right.number)
    }

    /// `job/task#number`.
    public var description: String { "\(job)/\(task)#\(number)" }
}
