import Transport

/// One job: the tasks that were never tried, a record for each task under way, and counts for those that are done.
///
/// A task that is done leaves nothing but a count, so a job of a million tasks needs memory only for those under way.
struct JobRecord {
    let id: JobID
    let options: JobOptions
    /// The nodes that may take its tasks, by their number among all selections.
    let selection: Int
    /// The person who submitted it, by the place among all people.
    let person: Int
    /// How many slots the person's jobs may hold for this one to get another; `nil` for no limit.
    let slotLimit: Int?
    /// Whether the job gets no slot for a while, whatever slots there are.
    var isWithheld = false
    /// Tasks added so far.
    private(set) var total = 0
    var isSealed = false
    /// Whether the job is in the rotation of jobs that have something to run.
    var isInRotation = false
    /// When it went to the end of the rotation, as a number that increases.
    var turn: UInt64 = 0

    /// Tasks with an attempt under way.
    private(set) var running = 0
    private(set) var completed = 0
    private(set) var failed = 0
    var retried = 0
    private(set) var completedByNode: [NodeID: Int] = [:]

    private var fresh = FreshTasks()
    private var touched: [Int: TaskRecord] = [:]
    private var retries = RetryQueue()
    private var readyRetries = 0
    private var backingOff = 0
    /// The mean time of the tasks that ended lately.
    private(set) var meanSeconds: Double?
    /// Where the job's input is at hand, if it is not at hand everywhere.
    var locality = JobLocality()
    /// Since when a slow node gets none of the job's tasks, because faster nodes will have done them sooner.
    var leftSince: Duration?
    private let generation: UInt64

    init(id: JobID, options: JobOptions, selection: Int, person: Int, slotLimit: Int?, generation: UInt64) {
        self.id = id
        self.options = options
        self.selection = selection
        self.person = person
        self.slotLimit = slotLimit
        self.generation = generation
    }

    /// Tasks that could run now.
    var ready: Int { fresh.count + readyRetries }
    /// Tasks that will run.
    var waiting: Int { ready + backingOff }
    var tasks: ScheduledPeople.Tasks { .init(ready: ready, waiting: waiting) }
    var isDone: Bool { isSealed && completed + failed == total }
    var remaining: Int { total - completed - failed }

    /// How long a task is expected to take, in nanoseconds.
    var expectedTime: Int { meanSeconds.map { Int(min($0, 1000) * 1e9) } ?? NodeRecord.unknownTime }

    subscript(task: Int) -> TaskRecord? { touched[task] }

    var progress: JobProgress {
        var progress = JobProgress()
        progress.scheduled = total
        progress.waiting = waiting
        progress.running = running
        progress.completed = completed
        progress.failed = failed
        progress.retried = retried
        progress.completedByNode = completedByNode
        return progress
    }

    /// Tasks that have been tried and are not done.
    var open: [(task: Int, record: TaskRecord)] { touched.map { ($0.key, $0.value) } }

    /// Attempts under way, in order.
    func runningAttempts() -> [(attempt: AttemptID, node: NodeID)] {
        touched.flatMap { task, record in record.runners.map { (attempt(task, $0), $0.node) } }
            .sorted { $0.0 < $1.0 }
    }

    /// Tasks under way that have one attempt and may be worth a second, each with that attempt.
    func single() -> [(task: Int, attempt: AttemptID, node: NodeID)] {
        touched.compactMap { task, record in
            guard record.phase == .running, record.speculative == nil, let runner = record.runner else { return nil }
            return (task, attempt(task, runner), runner.node)
        }
    }

    private func attempt(_ task: Int, _ runner: TaskRecord.Runner) -> AttemptID {
        AttemptID(job: id, task: TaskID(task), number: runner.number, generation: runner.generation)
    }

    /// - Parameter affinity: for some of these tasks, the earlier task whose node has at hand what they need.
    mutating func add(_ count: Int, affinity: [TaskID: TaskID] = [:]) {
        guard !isSealed else { return }
        // More tasks than that are a mistake of the submitter, which should have refused them, so they are cut off here.
        let count = min(max(0, count), TaskID.countLimit - total)
        // Tasks of another phase take another time.
        if count > 0, waiting + running == 0 { meanSeconds = nil }
        locality.add(affinity)
        fresh.append(total..<(total + count))
        total += count
    }

    /// Takes over the state of an earlier incarnation. This is called once, before anything else.
    mutating func restore(_ tasks: Int, completed: FinishedTasks, failed: FinishedTasks) {
        total = min(max(0, tasks), TaskID.countLimit)
        (self.completed, self.failed) = (completed.count, failed.count)
        for range in FinishedTasks.missing(of: total, in: completed, failed) { fresh.append(range) }
    }

    /// Takes a task for a slot on `node`. A retry that may go there comes first, because it has waited longer.
    mutating func claim(
        for node: NodeID, roster: Roster, limit: Int
    ) -> (claimed: (task: Int, number: Int)?, isCutShort: Bool) {
        var isCutShort = false
        if readyRetries > 0 {
            let found = retries.pop(for: node, roster: roster, limit: limit) { [touched] entry in
                touched[entry.task]?.ticket == entry.ticket
            }
            isCutShort = found.isCutShort
            if let task = found.entry?.task, let number = start(task, on: node) { return ((task, number), false) }
        }
        guard let task = nextFresh(for: node, roster: roster) else { return (nil, isCutShort) }
        if options.sharesInput == true, task > 0 { locality.begin(on: node) }
        leftSince = nil
        running += 1
        touched[task] = TaskRecord(.init(number: 1, generation: generation, node: node))
        touched[task]?.attempts = 1
        return ((task, 1), false)
    }

    private mutating func nextFresh(for node: NodeID, roster: Roster) -> Int? {
        guard let task = locality.choice(for: node, among: fresh, roster: roster) else { return fresh.popFirst() }
        return fresh.remove(task) ? task : fresh.popFirst()
    }

    /// Starts one more attempt of a task that is under way or waits for a node of its own.
    mutating func start(_ task: Int, on node: NodeID) -> Int? {
        guard move(task, to: .running) != nil, let number = touched[task].map({ $0.attempts + 1 }) else { return nil }
        touched[task]?.attempts = number
        touched[task]?.add(.init(number: number, generation: generation, node: node))
        return number
    }

    /// Takes up an earlier attempt that runs on a node. Returns `false` if its task has ended or already has two attempts.
    mutating func adopt(_ attempt: AttemptID, on node: NodeID) -> Bool {
        let task = attempt.task.index
        let runner = TaskRecord.Runner(number: attempt.number, generation: attempt.generation, node: node)
        if fresh.remove(task) {
            running += 1
            touched[task] = TaskRecord(runner)
        } else {
            guard let record = touched[task], record.speculative == nil, !record.runners.contains(runner),
                move(task, to: .running) != nil
            else { return false }
            touched[task]?.add(runner)
        }
        if attempt.generation == generation {
            let known = touched[task]?.attempts ?? 0
            touched[task]?.attempts = max(known, attempt.number)
        }
        return true
    }

    /// Takes note that an attempt is no longer under way. Returns `false` if it was not.
    mutating func remove(_ attempt: AttemptID, on node: NodeID) -> Bool {
        touched[attempt.task.index]?.remove(attempt, on: node) ?? false
    }

    /// Charges the failure of a task's attempt.
    mutating func charge(
        _ failure: AttemptFailure, to task: Int, on node: NodeID, alone: Bool, policy: SchedulerPolicy
    ) -> TaskRecord.Verdict? {
        touched[task]?.charge(
            failure, on: node, alone: alone, retries: options.retries ?? policy.maximumFaults,
            crashes: options.crashes ?? .max, policy: policy)
    }

    /// Charges a task for running on a node that died in an earlier incarnation. The task may not have been tried in this one.
    mutating func blame(_ task: Int, _ risk: TaskRisk, policy: SchedulerPolicy) -> TaskRecord.Verdict? {
        if fresh.remove(task) {
            backingOff += 1
            touched[task] = TaskRecord()
        }
        return charge(
            .nodeLost("\(risk.node) ended"), to: task, on: risk.node, alone: risk.isAlone, policy: policy)
    }

    /// Puts a task into its line. Returns nil, and changes nothing, when no live node may take the task.
    mutating func makeReady(_ task: Int, relaxed: Bool = false, roster: Roster) -> (RetryEntry, RetryPlacement)? {
        guard var placement = placement(of: task, in: roster) else { return nil }
        if relaxed { placement = placement.relaxed }
        guard placement.choice(in: roster) != .none else { return nil }
        guard let ticket = move(task, to: .ready) else { return nil }
        let entry = RetryEntry(task: task, ticket: ticket)
        retries.append(entry, placement, roster: roster)
        return (entry, placement)
    }

    /// Where a task that has been tried may go.
    func placement(of task: Int, in roster: Roster) -> RetryPlacement? {
        touched[task]?.placement(
            in: roster, barred: roster.barred(for: options),
            // What is done is lost where the job ends. A file was there then.
            sendsInput: options.sendsInput == true && completed == 0)
    }

    /// The nodes that can reach the input of none of the tasks that could run now.
    var outOfReach: Set<NodeID> { fresh.count == 0 && readyRetries > 0 ? retries.outOfReach : [] }

    mutating func backOff(_ task: Int) -> RetryEntry? {
        move(task, to: .backingOff).map { RetryEntry(task: task, ticket: $0) }
    }

    /// Completes a task. The task may not have been tried: its result may be from an earlier incarnation.
    mutating func complete(_ task: Int, on node: NodeID?) {
        guard forget(task) || fresh.remove(task) else { return }
        completed += 1
        guard let node else { return }
        completedByNode[node, default: 0] += 1
        if options.sharesInput == true { locality.completed(task, on: node) }
    }

    mutating func fail(_ task: Int) {
        if forget(task) { failed += 1 }
    }

    /// Whether a task is neither done nor out of range.
    func isOpen(_ task: Int) -> Bool { touched[task] != nil || fresh.contains(task) }

    /// Takes out the tasks that wait for a slot and that no live node may take any more.
    mutating func popStranded(roster: Roster) -> [Int] {
        guard readyRetries > 0 else { return [] }
        return retries.popStranded(roster: roster) { [touched] entry in
            touched[entry.task]?.ticket == entry.ticket
        }.map(\.task)
    }

    /// Takes note of how long a task took, and returns how that compares with the job's other tasks.
    mutating func measure(_ duration: Duration) -> Double {
        let seconds = max(0, duration / .seconds(1))
        guard let mean = meanSeconds, mean > 0 else {
            meanSeconds = seconds
            return 1
        }
        // About the last twenty tasks count: enough to be steady, few enough to follow a job whose parts differ.
        meanSeconds = mean + (seconds - mean) * 0.05
        return seconds / mean
    }
}

extension JobRecord {
    private mutating func move(_ task: Int, to phase: TaskRecord.Phase) -> UInt32? {
        guard let index = touched.index(forKey: task) else { return nil }
        count(touched.values[index].phase, -1)
        count(phase, 1)
        touched.values[index].phase = phase
        touched.values[index].ticket &+= 1
        return touched.values[index].ticket
    }

    private mutating func forget(_ task: Int) -> Bool {
        guard let record = touched.removeValue(forKey: task) else { return false }
        count(record.phase, -1)
        return true
    }

    private mutating func count(_ phase: TaskRecord.Phase, _ change: Int) {
        switch phase {
        case .running: running += change
        case .ready: readyRetries += change
        case .backingOff: backingOff += change
        }
    }
}
