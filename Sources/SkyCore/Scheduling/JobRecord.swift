import Transport

/// One job: a range of untouched tasks, a record for each task in between, and counts for those that are done.
///
/// A task that is done leaves nothing but a count, so a job of a million tasks needs memory only for those under way.
struct JobRecord {
    let id: JobID
    /// Tasks added so far.
    private(set) var total = 0
    var isSealed = false
    /// Whether the job stands in the round of jobs with something to run.
    var isInRotation = false

    private(set) var running = 0
    private(set) var completed = 0
    private(set) var failed = 0
    var retried = 0
    private(set) var completedByNode: [NodeID: Int] = [:]

    /// The first task that was never tried; all after it are untouched too.
    private var nextFresh = 0
    private var touched: [Int: TaskRecord] = [:]
    private var retries = RetryQueue()
    private var readyRetries = 0
    private var backingOff = 0
    private var meanSeconds: Double?

    /// More tasks than a job may have are a mistake of the submitter, who should have refused them; here they are cut off.
    private static let taskLimit = Int(Int32.max)

    init(id: JobID) {
        self.id = id
    }

    /// Tasks that could run now.
    var ready: Int { total - nextFresh + readyRetries }
    /// Tasks that will run.
    var waiting: Int { ready + backingOff }
    var isDone: Bool { isSealed && completed + failed == total }
    var remaining: Int { total - completed - failed }

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

    /// Attempts under way, in order.
    func runningAttempts() -> [(attempt: AttemptID, node: NodeID)] {
        var found: [(attempt: AttemptID, node: NodeID)] = []
        for (task, record) in touched {
            guard case .running(let node) = record.phase else { continue }
            found.append((AttemptID(job: id, task: TaskID(task), number: record.attempts), node))
        }
        return found.sorted { $0.attempt < $1.attempt }
    }

    mutating func add(_ count: Int) {
        guard !isSealed else { return }
        total += min(max(0, count), Self.taskLimit - total)
    }

    /// Takes a task for a slot on `node`: a retry that may go there first, because it has waited longer.
    mutating func claim(
        for node: NodeID, roster: Roster, limit: Int
    ) -> (claimed: (task: Int, number: Int)?, isCutShort: Bool) {
        var isCutShort = false
        if readyRetries > 0 {
            let found = retries.pop(for: node, roster: roster, limit: limit) { [touched] entry in
                touched[entry.task]?.ticket == entry.ticket
            }
            isCutShort = found.isCutShort
            if let task = found.entry?.task, let number = restart(task, on: node) { return ((task, number), false) }
        }
        guard nextFresh < total else { return (nil, isCutShort) }
        let task = nextFresh
        nextFresh += 1
        running += 1
        touched[task] = TaskRecord(runningOn: node)
        return ((task, 1), false)
    }

    /// Charges the failure of a task's attempt.
    mutating func charge(
        _ failure: AttemptFailure, to task: Int, on node: NodeID, policy: JobScheduler.Policy
    ) -> TaskRecord.Verdict? {
        touched[task]?.charge(failure, on: node, policy: policy)
    }

    /// Puts a task into its line. Nil, and nothing done, when no live node may take it.
    mutating func makeReady(_ task: Int, relaxed: Bool = false, roster: Roster) -> (RetryEntry, RetryPlacement)? {
        guard var placement = touched[task]?.placement(in: roster) else { return nil }
        if relaxed { placement = placement.relaxed }
        guard placement.choice(in: roster) != .none else { return nil }
        guard let ticket = move(task, to: .ready) else { return nil }
        let entry = RetryEntry(task: task, ticket: ticket)
        retries.append(entry, placement, roster: roster)
        return (entry, placement)
    }

    mutating func backOff(_ task: Int) -> RetryEntry? {
        move(task, to: .backingOff).map { RetryEntry(task: task, ticket: $0) }
    }

    mutating func complete(_ task: Int, on node: NodeID) {
        guard forget(task) else { return }
        completed += 1
        completedByNode[node, default: 0] += 1
    }

    mutating func fail(_ task: Int) {
        if forget(task) { failed += 1 }
    }

    /// Tasks waiting for a slot that no live node may take any more.
    mutating func popStranded(roster: Roster) -> [Int] {
        guard readyRetries > 0 else { return [] }
        return retries.popStranded(roster: roster) { [touched] entry in
            touched[entry.task]?.ticket == entry.ticket
        }.map(\.task)
    }

    /// Notes how long a task took and says how that compares with the job's others.
    mutating func measure(_ duration: Duration) -> Double {
        let seconds = max(0, duration / .seconds(1))
        guard let mean = meanSeconds, mean > 0 else {
            meanSeconds = seconds
            return 1
        }
        // About the last twenty count: enough to be steady, few enough to follow a job whose parts differ.
        meanSeconds = mean + (seconds - mean) * 0.05
        return seconds / mean
    }
}

extension JobRecord {
    private mutating func restart(_ task: Int, on node: NodeID) -> Int? {
        guard move(task, to: .running(on: node)) != nil else { return nil }
        touched[task]?.attempts += 1
        return touched[task]?.attempts
    }

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
