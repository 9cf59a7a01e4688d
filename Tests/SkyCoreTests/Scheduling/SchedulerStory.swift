import SkyCore
import Transport

/// A scheduler with a clock that the test sets: tests read as events and the actions that follow.
struct SchedulerStory {
    typealias Event = JobScheduler.Event
    typealias Action = JobScheduler.Action

    static let local = NodeID(rawValue: 1)
    static let east = NodeID(rawValue: 2)
    static let west = NodeID(rawValue: 3)
    static let job = JobID(rawValue: 0xA)

    var scheduler: JobScheduler
    var now: Duration = .zero
    private var lastFencingToken: UInt64 = 0

    /// Nodes that have joined and lent slots, and no jobs.
    init(_ slots: KeyValuePairs<NodeID, Int> = [:], policy: SchedulerPolicy = .init()) {
        scheduler = JobScheduler(localNode: Self.local, policy: policy, seed: 1)
        for (node, count) in slots {
            handle(.nodeJoined(node))
            lease(node, count)
        }
    }

    @discardableResult
    mutating func handle(_ event: Event) -> [Action] { scheduler.handle(event, now: now) }

    @discardableResult
    mutating func lease(_ node: NodeID, _ slots: Int) -> [Action] {
        lastFencingToken += 1
        return handle(.leased(node, slots: slots, fencingToken: lastFencingToken))
    }

    /// A sealed job with so many tasks.
    @discardableResult
    mutating func submit(_ tasks: Int, as job: JobID = job, options: JobOptions = JobOptions()) -> [Action] {
        handle(.submitted(job, tasks: tasks, options)) + handle(.noMoreTasks(job))
    }

    /// Lets time pass, waking the scheduler whenever it asks for it.
    @discardableResult
    mutating func wait(_ duration: Duration) -> [Action] {
        let end = now + duration
        var actions: [Action] = []
        while let wake = scheduler.nextWake, wake <= end {
            now = max(now, wake)
            actions += handle(.tick)
        }
        now = end
        return actions
    }
}

extension [JobScheduler.Action] {
    /// Where attempts were sent, in order.
    var runs: [(attempt: AttemptID, node: NodeID)] {
        compactMap { if case .run(let attempt, let node) = $0 { (attempt, node) } else { nil } }
    }

    var demands: [NodeID: Int] {
        var demands: [NodeID: Int] = [:]
        for case .reserve(let node, let wanted) in self { demands[node] = wanted }
        return demands
    }

    var delays: [Duration] {
        compactMap { if case .retrying(_, _, _, _, let delay, _) = $0 { delay } else { nil } }
    }

    var failures: [String] {
        compactMap { if case .taskFailed(_, _, let reason) = $0 { reason.description } else { nil } }
    }

    var outcome: JobOutcome? {
        for case .jobFinished(_, let outcome) in self { return outcome }
        return nil
    }

    /// The actions without demands for slots, which most stories are not about.
    var withoutDemands: [JobScheduler.Action] {
        filter { if case .reserve = $0 { false } else { true } }
    }
}

/// An attempt of a task of the story's job.
func attempt(_ task: Int, _ number: Int = 1, of job: JobID = SchedulerStory.job) -> AttemptID {
    AttemptID(job: job, task: TaskID(task), number: number)
}
