package import Base
package import Transport

/// Which tasks a job consists of, and what its results come to. A plan is a value that the coordinator asks. Tasks come in
/// phases, and later ones need the results of earlier ones.
package protocol JobPlan: Sendable {
    /// Returns the first tasks.
    mutating func begin() -> PlanStep
    /// Tells the plan that a task's result has been committed.
    mutating func completed(_ task: Int, _ result: TaskResult) -> PlanStep
    /// Tells the plan that a task has failed for good.
    mutating func failed(_ task: Int, _ reason: String, isBadInput: Bool) -> PlanStep
    /// The work of a task, by its number in the order of issue.
    func task(_ number: Int) -> ScanTask?
    /// The name of a task that people see: "sector 9".
    func label(_ number: Int) -> String?
    /// What the job lacks if the task fails for good.
    func consequence(ofFailed number: Int) -> String?
    /// Whether a result fits the task.
    func accepts(_ number: Int, _ result: TaskResult) -> Bool
    /// The key of a task's result, if an earlier result may answer in its place.
    func cacheKey(_ number: Int) -> CacheKey?
    /// Whether the plan's next tasks may have such keys.
    var usesCache: Bool { get }
    /// An earlier task whose node has at hand what this task needs.
    func affinity(_ number: Int) -> Int?
    /// The node that has the job's input and gives it to others.
    var holder: NodeID? { get }
    /// Tells the plan which node did a task, and how long that took. It is called before `completed`.
    mutating func ran(_ task: Int, _ result: TaskResult, on node: String, took duration: Duration)
    /// The results of the job, as far as it is done. They do not depend on the order in which the tasks were completed.
    var results: any JobResults { get }
    /// Whether the plan needs the content of the results.
    var needsResults: Bool { get }
    /// Releases what was only needed at the end of the job. The results can be read again from the journal.
    mutating func release()
}

extension JobPlan {
    package func accepts(_ number: Int, _ result: TaskResult) -> Bool { true }

    package func cacheKey(_ number: Int) -> CacheKey? { nil }

    package var usesCache: Bool { false }

    package func consequence(ofFailed number: Int) -> String? { nil }

    package func affinity(_ number: Int) -> Int? { nil }

    package mutating func ran(_ task: Int, _ result: TaskResult, on node: String, took duration: Duration) {}

    package var results: any JobResults { NoResults() }

    package var holder: NodeID? { nil }
}

/// The results of a job that has nothing to fetch.
struct NoResults: JobResults {
    var byteCount: Int { 1024 }
}

/// What follows after a task has ended.
package struct PlanStep {
    /// How many tasks are added to those issued before.
    package var newTasks = 0
    /// Whether no more tasks will come. The job then ends with its last task.
    package var isLast = false
    /// Why the job cannot succeed any more, so that its remaining tasks are pointless; `nil` while it can.
    package var abort: SkyError?
    /// The events that the submitter gets.
    package var events: [JobEvent.Kind] = []

    package init(newTasks: Int = 0, isLast: Bool = false, abort: SkyError? = nil, events: [JobEvent.Kind] = []) {
        (self.newTasks, self.isLast, self.abort, self.events) = (newTasks, isLast, abort, events)
    }
}
