/// One try of one task. The numbers fence results: what an earlier attempt says is never taken for what a later one says.
public struct AttemptID: Hashable, Codable, Sendable, Comparable, CustomStringConvertible {
    /// The job the task belongs to.
    public var job: JobID
    /// The task that is tried.
    public var task: TaskID
    /// Which try of the task this is in that life of its coordinator, from 1.
    public var number: Int
    /// The life of the coordinator that ordered it: a coordinator that has been started again counts tries anew.
    public var generation: UInt64

    /// The try with that number.
    public init(job: JobID, task: TaskID, number: Int, generation: UInt64 = 1) {
        self.job = job
        self.task = task
        self.number = number
        self.generation = generation
    }

    /// By job, then task, then generation and number.
    public static func < (left: AttemptID, right: AttemptID) -> Bool {
        (left.job, left.task, left.generation, left.number) < (right.job, right.task, right.generation, right.number)
    }

    /// `job/task#number`, with the generation before the number where it is not the first.
    public var description: String {
        generation == 1 ? "\(job)/\(task)#\(number)" : "\(job)/\(task)#\(generation).\(number)"
    }
}
