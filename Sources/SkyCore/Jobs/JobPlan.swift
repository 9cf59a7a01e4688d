package import Base
package import Transport

/// Which tasks a job consists of, and what its results come to: a value that the coordinator asks. Tasks come in
/// phases; later ones need the results of earlier ones.
package protocol JobPlan: Sendable {
    /// The first tasks.
    mutating func begin() -> PlanStep
    /// A task's result has been committed.
    mutating func completed(_ task: Int, _ result: TaskResult) -> PlanStep
    /// A task has failed for good.
    mutating func failed(_ task: Int, _ reason: String, isBadInput: Bool) -> PlanStep
    /// The work of a task, by its number in the order of issue.
    func task(_ number: Int) -> ScanTask?
    /// What people see of a task: "sector 9".
    func label(_ number: Int) -> String?
    /// What the job lacks where the task fails for good.
    func loss(_ number: Int) -> String?
    /// Whether a result answers the question that the task is.
    func accepts(_ number: Int, _ result: TaskResult) -> Bool
    /// What decides a task's result, where an earlier one may answer in its place.
    func cacheKey(_ number: Int) -> CacheKey?
    /// Whether its next tasks may have such keys.
    var usesCache: Bool { get }
    /// An earlier task whose node has at hand what this one needs.
    func affinity(_ number: Int) -> Int?
    /// The node that has its input and gives it to others.
    var holder: NodeID? { get }
    /// Who did a task, and how long it took: told when results are put together, before `completed`.
    mutating func ran(_ task: Int, _ result: TaskResult, on node: String, took duration: Duration)
    /// What the job came to, as far as it is done.
    var results: any JobResults { get }
    /// Whether results mean anything to it.
    var needsResults: Bool { get }
    /// Lets go of what only the end needed: results can be read again from the journal.
    mutating func release()
}

extension JobPlan {
    package func accepts(_ number: Int, _ result: TaskResult) -> Bool { true }

    package func cacheKey(_ number: Int) -> CacheKey? { nil }

    package var usesCache: Bool { false }

    package func loss(_ number: Int) -> String? { nil }

    package func affinity(_ number: Int) -> Int? { nil }

    package mutating func ran(_ task: Int, _ result: TaskResult, on node: String, took duration: Duration) {}

    package var results: any JobResults { NoResults() }

    package var holder: NodeID? { nil }
}

/// Of a job that comes to nothing that could be fetched.
struct NoResults: JobResults {
    var byteCount: Int { 1024 }
}

/// What follows.
package struct PlanStep {
    /// How many tasks come on top of those issued before.
    package var newTasks = 0
    /// No more will come: the job ends with its last task.
    package var isLast = false
    /// The job cannot succeed any more; its remaining tasks are pointless.
    package var abort: SkyError?
    /// What the submitter hears of it.
    package var events: [JobEvent.Kind] = []

    package init(newTasks: Int = 0, isLast: Bool = false, abort: SkyError? = nil, events: [JobEvent.Kind] = []) {
        (self.newTasks, self.isLast, self.abort, self.events) = (newTasks, isLast, abort, events)
    }
}
