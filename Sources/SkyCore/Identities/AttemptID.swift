/// One attempt at one task. The numbers fence results: the result of an earlier attempt is never taken for that of a later one.
public struct AttemptID: Hashable, Codable, Sendable, Comparable, CustomStringConvertible {
    /// The job that the task belongs to.
    public var job: JobID
    /// The task that is tried.
    public var task: TaskID
    /// The number of the attempt at this task in that incarnation of its coordinator, from 1.
    public var number: Int
    /// The generation of the coordinator that ordered the attempt. A coordinator that has been started again counts
    /// attempts anew.
    public var generation: UInt64

    /// The attempt with that number.
    public init(job: JobID, task: TaskID, number: Int, generation: UInt64 = 1) {
        self.job = job
        self.task = task
        self.number = number
        self.generation = generation
    }

    /// Orders attempts by job, then task, then generation and number.
    public static func < (left: AttemptID, right: AttemptID) -> Bool {
        (left.job, left.task, left.generation, left.number) < (right.job, right.task, right.generation, right.number)
    }

    /// `job/task#number`, with the generation before the number if it is not the first.
    public var description: String {
        generation == 1 ? "\(job)/\(task)#\(number)" : "\(job)/\(task)#\(generation).\(number)"
    }
}
