import Base
import Transport

/// A job's plan, brought to where it was from the stored results and failures, which come in the order of tasks.
struct JobReplay: Sendable {
    private(set) var plan: any JobPlan
    private(set) var tasks = 0
    private(set) var basis = TaskBasis()
    private(set) var isSealed = false
    private(set) var abort: SkyError?
    /// What is wrong with the stored data; `nil` if nothing is.
    private(set) var damage: String?
    /// A task that has something stored although the job has no task of that number.
    private(set) var strayTask: TaskID?
    /// What happened to the job, as far as the stored data shows it.
    private(set) var events: [JobEvent.Kind] = []
    private(set) var published = JobTally()
    /// Tasks that ran on the coordinator's own node when that died.
    var risks: [TaskRisk] = []
    /// Whether the node may die again, so that the coordinator has to store which tasks run there.
    var isRisky = false
    /// About how many bytes are stored of its tasks.
    private(set) var bytes = 0
    private var completedTasks: [Int] = []
    private var failedTasks: [Int] = []

    init(_ request: JobRequest) {
        plan = request.kind.request.plan()
        apply(plan.begin())
    }

    var completed: FinishedTasks { FinishedTasks(sorted: completedTasks) }
    var failed: FinishedTasks { FinishedTasks(sorted: failedTasks) }

    /// Completes the next task, with its stored result.
    mutating func complete(with result: StoredResult) {
        guard result.task.index < tasks else { return strayTask = result.task }
        bytes += StoredResult.rowBytes + (plan.needsResults ? result.payload.readableBytes : 0)
        completedTasks.append(result.task.index)
        published.complete(by: result.node)
        guard plan.needsResults else { return }
        guard let value = try? WireCoder.decode(TaskResult.self, from: result.payload) else {
            abort = SkyError(.failed, "a stored result of it cannot be read")
            damage = "what is stored of task \(result.task.index + 1) cannot be read"
            return
        }
        plan.ran(result.task.index, value, on: result.node, took: result.duration)
        basis.complete(result.task.index, result.payload)
        apply(plan.completed(result.task.index, value))
    }

    /// Fails the next task, as it is stored.
    mutating func fail(with failure: StoredFailure) {
        guard failure.task.index < tasks else { return strayTask = failure.task }
        bytes += failure.byteCount
        failedTasks.append(failure.task.index)
        published.failed += 1
        basis.fail(failure.task.index)
        apply(plan.failed(failure.task.index, failure.reason, isBadInput: failure.isBadInput))
    }

    /// Applies a step of the plan: its events, its new tasks, its end.
    private mutating func apply(_ step: PlanStep) {
        events += step.events
        if step.newTasks > 0 { basis.issue(from: tasks) }
        tasks += step.newTasks
        if step.isLast { isSealed = true }
        if let abort = step.abort { self.abort = abort }
    }
}
