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
    /// What happened to the job, as far as the stored data shows it: the ends of its tasks and what follows from them. Only the last
    /// are kept, as in an `EventLog`.
    private var happenings: [Happening] = []
    private(set) var published = JobTally()
    /// Tasks that ran on the coordinator's own node when that died.
    var risks: [TaskRisk] = []
    /// Whether the node may die again, so that the coordinator has to store which tasks run there.
    var isRisky = false
    /// About how many bytes are stored of its tasks.
    private(set) var bytes = 0
    private var completedTasks: [Int] = []
    private var failedTasks: [Int] = []

    private struct Happening {
        enum Kind {
            case completed(node: String)
            case failed(reason: String)
            case special(JobEvent.Kind)
        }

        var task: Int?
        var kind: Kind
    }

    init(_ request: JobRequest) {
        plan = request.kind.request.plan()
        apply(plan.begin(), after: nil)
    }

    /// The history as far as it was stored. Whoever watched the job knows those of its events again that an earlier incarnation has
    /// shown.
    ///
    /// - Parameter time: the time that the events get. When they happened is not stored.
    func log(at time: Duration) -> EventLog {
        var log = EventLog()
        for happening in happenings {
            let label = { (task: Int?) in task.flatMap { plan.label($0) } ?? "task \((task ?? 0) + 1)" }
            switch happening.kind {
            case .completed(let node):
                log.append(.completed(task: label(happening.task), node: node), of: happening.task, time: time)
            case .failed(let reason):
                log.append(.failed(task: label(happening.task), reason: reason), of: happening.task, time: time)
            case .special(let event): log.append(event, of: happening.task, time: time)
            }
        }
        log.markRestored()
        return log
    }

    private mutating func note(_ kind: Happening.Kind, of task: Int?) {
        happenings.append(Happening(task: task, kind: kind))
        if happenings.count > 2 * EventLog.limit { happenings.removeFirst(EventLog.limit) }
    }

    var completed: FinishedTasks { FinishedTasks(sorted: completedTasks) }
    var failed: FinishedTasks { FinishedTasks(sorted: failedTasks) }

    /// Completes the next task, with its stored result.
    mutating func complete(with result: StoredResult) {
        guard result.task.index < tasks else { return strayTask = result.task }
        bytes += StoredResult.rowBytes + (plan.needsResults ? result.payload.readableBytes : 0)
        completedTasks.append(result.task.index)
        published.complete(by: result.node)
        note(.completed(node: result.node), of: result.task.index)
        guard plan.needsResults else { return }
        guard let value = try? WireCoder.decode(TaskResult.self, from: result.payload) else {
            abort = SkyError(.failed, "a stored result of it cannot be read")
            damage = "what is stored of task \(result.task.index + 1) cannot be read"
            return
        }
        plan.ran(result.task.index, value, on: result.node, took: result.duration)
        basis.complete(result.task.index, result.payload)
        apply(plan.completed(result.task.index, value), after: result.task.index)
    }

    /// Fails the next task, as it is stored.
    mutating func fail(with failure: StoredFailure) {
        guard failure.task.index < tasks else { return strayTask = failure.task }
        bytes += failure.byteCount
        failedTasks.append(failure.task.index)
        published.failed += 1
        basis.fail(failure.task.index)
        let step = plan.failed(failure.task.index, failure.reason, isBadInput: failure.isBadInput)
        // A failure that ends the job is told by the event of its end.
        if step.abort == nil { note(.failed(reason: failure.reason), of: failure.task.index) }
        apply(step, after: failure.task.index)
    }

    /// Applies a step of the plan: its events, its new tasks, its end.
    private mutating func apply(_ step: PlanStep, after task: Int?) {
        for event in step.events { note(.special(event), of: task) }
        if step.newTasks > 0 { basis.issue(from: tasks) }
        tasks += step.newTasks
        if step.isLast { isSealed = true }
        if let abort = step.abort { self.abort = abort }
    }
}
