import Sky

/// Which tasks a job consists of, and what its results come to: a value that the coordinator asks. Tasks come in
/// phases; later ones need the results of earlier ones.
protocol JobPlan: Sendable {
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
    func kin(_ number: Int) -> Int?
    /// The node that has its input and gives it to others.
    var holder: PixelHolder? { get }
    /// Whether results mean anything to it.
    var needsResults: Bool { get }
    /// Lets go of what only the end needed: results can be read again from the journal.
    mutating func release()
}

extension JobPlan {
    func accepts(_ number: Int, _ result: TaskResult) -> Bool { true }

    func cacheKey(_ number: Int) -> CacheKey? { nil }

    var usesCache: Bool { false }

    func loss(_ number: Int) -> String? { nil }

    func kin(_ number: Int) -> Int? { nil }

    var holder: PixelHolder? { nil }
}

/// What follows.
struct PlanStep {
    /// How many tasks come on top of those issued before.
    var newTasks = 0
    /// No more will come: the job ends with its last task.
    var isLast = false
    /// The job cannot succeed any more; its remaining tasks are pointless.
    var abort: SkyError?
    /// What the submitter hears of it.
    var events: [JobEvent.Kind] = []
}
