import SkyCore
import Transport

/// A coordinator of the simulation: its scheduler, and a ledger that checks every action against what was promised.
struct SimulatedCoordinator {
    enum Entry: Equatable { case open, completed, failed }

    /// What a set of histories must contain, or it proves nothing.
    enum Sight: CaseIterable {
        case faultRetried, lossRetried, inputOutOfReach, refusal, poison, faultsUsedUp, forgottenByNode, nodeLost
        case secondResult, lateResultAccepted, attemptStopped, cancelled
    }

    let id: NodeID
    var scheduler: JobScheduler
    /// When the scheduler will be woken.
    var wake: Duration?
    var links: [NodeID: SimulatedLink] = [:]
    var wanted: [NodeID: Int] = [:]
    /// Links whose lease is being renewed.
    var renewing: Set<SimulatedLink> = []
    private(set) var ledger: [JobID: [Entry]] = [:]
    private(set) var finished: [JobID: JobOutcome] = [:]
    private(set) var violations: [String] = []
    private(set) var seen: Set<Sight> = []
    private var leases: [NodeID: (epoch: UInt64, slots: Int)] = [:]
    private var runs: Set<AttemptID> = []

    init(id: NodeID, seed: UInt64) {
        self.id = id
        scheduler = JobScheduler(localNode: id, seed: seed)
    }

    var unfinished: [JobID] { ledger.keys.filter { finished[$0] == nil }.sorted() }

    /// Tells the scheduler something and checks what it answers.
    mutating func handle(_ event: JobScheduler.Event, now: Duration) -> [JobScheduler.Action] {
        note(event)
        let actions = scheduler.handle(event, now: now)
        for action in actions { check(action) }
        // Leases come often, and alone change no counts.
        if case .leased = event, actions.isEmpty { return actions }
        for job in ledger.keys where finished[job] == nil { checkProgress(of: job) }
        return actions
    }

    private mutating func note(_ event: JobScheduler.Event) {
        switch event {
        case .submitted(let job, let tasks): ledger[job] = Array(repeating: .open, count: tasks)
        case .tasksAdded(let job, let count): ledger[job]? += Array(repeating: .open, count: count)
        case .leased(let node, let slots, let epoch):
            if epoch >= leases[node]?.epoch ?? 0 { leases[node] = (epoch, slots) }
        case .nodeLost(let node):
            leases[node] = nil
            seen.insert(.nodeLost)
        case .leaseLost(let node):
            leases[node]?.slots = 0
            seen.insert(.forgottenByNode)
        case .failed(_, _, .refused(let reason)) where reason != "stopped": seen.insert(.refusal)
        case .failed(_, _, .unavailable): seen.insert(.inputOutOfReach)
        default: break
        }
    }

    private mutating func check(_ action: JobScheduler.Action) {
        switch action {
        case .run(let attempt, let node):
            expect(runs.insert(attempt).inserted, "\(attempt) was run twice")
            expect(links[node] != nil, "\(attempt) was sent to a node that is gone")
            expect(entry(attempt.job, attempt.task) == .open, "\(attempt) was run for a task that is done")
            let slots = leases[node]?.slots ?? 0
            expect(scheduler.running(on: node) <= slots, "more than \(slots) sent to \(node)")
        case .completed(let job, let task, let number, _):
            expect(runs.contains(AttemptID(job: job, task: task, number: number)), "a result from nowhere")
            close(job, task, as: .completed)
            if runs.contains(AttemptID(job: job, task: task, number: number + 1)) { seen.insert(.lateResultAccepted) }
        case .taskFailed(let job, let task, let reason):
            expect(!reason.isEmpty, "\(job)/\(task) failed without a reason")
            close(job, task, as: .failed)
            if reason.hasPrefix("poison") { seen.insert(.poison) }
            if reason.hasPrefix("failed 4 times") { seen.insert(.faultsUsedUp) }
        case .retrying(let job, let task, _, let reason, let delay, _):
            expect(entry(job, task) == .open && !reason.isEmpty && delay >= .zero, "\(job)/\(task) retried wrongly")
            seen.insert(delay > .zero ? .faultRetried : .lossRetried)
        case .jobFinished(let job, let outcome):
            finish(job, outcome)
        case .reserve(let node, let wanted):
            expect(wanted != self.wanted[node] ?? 0, "the same wish twice for \(node)")
            self.wanted[node] = wanted
        case .stop:
            seen.insert(.attemptStopped)
        case .discarded:
            seen.insert(.secondResult)
        }
    }

    private mutating func close(_ job: JobID, _ task: TaskID, as entry: Entry) {
        expect(self.entry(job, task) == .open, "\(job)/\(task) ended twice")
        ledger[job]?[task.index] = entry
    }

    private mutating func finish(_ job: JobID, _ outcome: JobOutcome) {
        let entries = ledger[job] ?? []
        expect(finished.updateValue(outcome, forKey: job) == nil, "\(job) finished twice")
        if outcome.cancelled > 0 { seen.insert(.cancelled) }
        expect(outcome.completed == entries.count { $0 == .completed }, "\(job) miscounts the completed")
        expect(outcome.failed == entries.count { $0 == .failed }, "\(job) miscounts the failed")
        expect(outcome.cancelled == entries.count { $0 == .open }, "\(job) miscounts the cancelled")
    }

    private mutating func checkProgress(of job: JobID) {
        guard let progress = scheduler.progress(of: job), let entries = ledger[job] else {
            return expect(false, "\(job) was forgotten")
        }
        let sum = progress.waiting + progress.running + progress.completed + progress.failed
        expect(sum == progress.scheduled && sum == entries.count, "the counts of \(job) do not add up")
        expect(progress.completed == entries.count { $0 == .completed }, "\(job) reports a wrong progress")
        expect(progress.completed == progress.completedByNode.values.reduce(0, +), "\(job) credits the wrong nodes")
    }

    private func entry(_ job: JobID, _ task: TaskID) -> Entry? {
        guard let entries = ledger[job], entries.indices.contains(task.index) else { return nil }
        return entries[task.index]
    }

    private mutating func expect(_ holds: Bool, _ complaint: @autoclosure () -> String) {
        if !holds { violations.append(complaint()) }
    }
}
