import DequeModule
import NIOCore
import Transport

/// Everything a coordinator decides, as a value: it is told what happened and says what to do. It asks each job's plan for tasks,
/// has `JobScheduler` decide where they run, counts each result once, and orders what must be stored before what may be told.
///
/// - What is told to watchers waits until the journal has stored what it rests on (`stored`).
/// - A node may forget a result when what followed from it is stored (`Delivery`).
struct CoordinatorCore {
    enum Output {
        /// Wish for so many slots of a node.
        case reserve(NodeID, wanted: Int)
        case assign(RunRequest, to: NodeID)
        case stop(AttemptID, on: NodeID)
        /// Store this, after all before it.
        case store(JournalEntry)
        /// Look for earlier results of these tasks, in order and a few at a time, and say each time what was `lookedUp`.
        case lookUp(JobID, Range<Int>, [TaskID: CacheKey])
        /// There is something new for those who watch the job.
        case told(JobID)
        /// A node should hear soon what it may forget.
        case acknowledge(NodeID)
    }

    /// Something to tell once an entry is stored.
    private struct Pending {
        var entry: UInt64
        var job: JobID
        var kind: JobEvent.Kind
        var at: Duration
    }

    let life: CoordinatorLife
    var scheduler: JobScheduler
    private(set) var jobs: [JobID: CoordinatedJob] = [:]
    private(set) var order: [JobID] = []
    /// Jobs whose end has been told.
    private var endedCount = 0
    private(set) var deliveries: [NodeID: Delivery] = [:]
    /// Why nothing can be stored at present, and why nothing more may be.
    private var journalFailure: String?
    private var limitReason: String?
    /// Bytes that the journal may hold; `nil` for no limit.
    private(set) var storageLimit: Int?
    /// What it held last.
    private var journalBytes = 0
    /// The entry that deletes a job to make room: what follows from it is not known before it is stored.
    private var roomEntry: UInt64 = 0
    /// When a job will have ended long enough ago to be deleted.
    private var roomDue: Duration?

    private var byToken: [String: JobID] = [:]
    private var deadlines: [(due: Duration, job: JobID)] = []
    /// Names of nodes seen, also of those that are gone.
    private var names: [NodeID: String] = [:]
    private var present: Set<NodeID> = []
    private var events: Deque<JobScheduler.Event> = []
    private var isHandling = false
    private var now: Duration = .zero
    private var wall: UInt64 = 0
    private var outbox: [Output] = []
    /// Entries given out to be stored, and entries that are.
    private(set) var lastEntry: UInt64 = 0
    private(set) var lastStored: UInt64 = 0
    private var pending: Deque<Pending> = []
    /// Attempts that are to be sent to this node once it is stored that they are.
    private var held: Deque<(entry: UInt64, request: RunRequest)> = []
    private let node: NodeID
    private var retention: JobRetention

    /// Entries that may wait to be stored before nothing new is sent out, and from which on it goes on.
    static let backlogLimit: UInt64 = 100_000
    private(set) var isBehind = false
    /// Of all jobs of this life.
    private(set) var taskCounts = TaskCounts()
    /// As the scheduler was told.
    private var isSuspended = false
    /// Bytes of stored results after which a node is told although nothing else is to be said to it.
    static let unsaidLimit = 8 << 20

    init(
        life: CoordinatorLife, node: NodeID, name: String, retention: JobRetention = JobRetention(),
        storageLimit: Int? = nil
    ) {
        self.life = life
        self.storageLimit = storageLimit
        self.node = node
        self.retention = retention
        scheduler = JobScheduler(localNode: node, generation: life.generation, seed: node.rawValue)
        names[node] = name
    }

    /// Why nothing is sent out at present.
    var pauseReason: String? { journalFailure ?? limitReason }

    /// When something is due without anything happening.
    var nextWake: Duration? { [scheduler.nextWake, deadlines.first?.due, roomDue].compactMap(\.self).min() }

    /// Runs `change` at a moment and returns what is to be done about it, in order.
    mutating func at(_ now: Duration, wall: UInt64, _ change: (inout CoordinatorCore) -> Void) -> [Output] {
        (self.now, self.wall) = (now, wall)
        change(&self)
        defer { outbox = [] }
        return outbox
    }
}

// MARK: - Jobs

extension CoordinatorCore {
    /// Takes a job and starts it; one with a token that is known is not started again.
    mutating func submit(_ request: JobRequest, token: String?, as id: JobID) -> JobID {
        if let token, let known = byToken[token] { return known }
        let stored = StoredJob(id: id, token: token, request: request, submitted: wall)
        insert(CoordinatedJob(stored: stored, submittedAt: now, plan: CoordinatorCore.plan(of: request)))
        store(.submitted(stored))
        handle(.submitted(id, tasks: 0, request.schedulingOptions))
        if let step = jobs[id]?.plan.begin() { follow(step, of: id) }
        return id
    }

    /// Takes a job over from an earlier life, with what was stored of it.
    ///
    /// - Parameter replay: the job's plan after all results that are stored.
    mutating func restore(_ stored: StoredJob, _ replay: JobReplay) {
        let age = Duration.milliseconds(Int64(clamping: wall >= stored.submitted ? wall - stored.submitted : 0))
        var job = CoordinatedJob(stored: stored, submittedAt: now - age, plan: replay.plan)
        (job.told, job.decided) = (replay.told, replay.told)
        job.issued = replay.tasks
        job.isRisky = replay.isRisky
        for event in replay.events { job.log.append(event, time: age) }
        if let report = stored.report {
            job.report = report
            job.told.report = report
            job.endedAt = now - CoordinatorCore.fetchingTime
            endedCount += 1
            job.log.append(.ended(report), time: report.duration)
        }
        insert(job)
        guard stored.report == nil else { return }
        handle(
            .restored(
                stored.id, tasks: replay.tasks, completed: replay.completed, failed: replay.failed,
                risks: replay.risks, isSealed: replay.isSealed, stored.request.schedulingOptions))
        if let abort = replay.abort { return give(up: stored.id, abort) }
        // It is another node by now: this one, most likely, on which the job was submitted.
        if replay.plan.holder != nil { handle(.inputFound(stored.id, on: node)) }
    }

    /// Stops a job; what runs is stopped everywhere.
    mutating func cancel(_ job: JobID) {
        guard jobs[job]?.isActive == true else { return }
        handle(.cancelled(job))
    }

    /// Forgets a job with its results, after cancelling it where it still goes on.
    mutating func delete(_ job: JobID) {
        cancel(job)
        guard let record = jobs.removeValue(forKey: job) else { return }
        if let place = order.firstIndex(of: job) { order.remove(at: place) }
        if record.told.report != nil { endedCount -= 1 }
        if let token = record.stored.token { byToken[token] = nil }
        store(.deleted(job))
        outbox.append(.told(job))
    }

    static func plan(of request: JobRequest) -> any JobPlan {
        switch request.kind {
        case .simulate(let request): SimulatePlan(request: request)
        case .sky(let request): SkyPlan(request)
        case .compare(let request): ComparePlan(request)
        }
    }

    private mutating func insert(_ job: CoordinatedJob) {
        jobs[job.id] = job
        order.append(job.id)
        if let token = job.stored.token { byToken[token] = job.id }
        guard job.isActive, let deadline = job.request.deadline else { return }
        let due = job.submittedAt + deadline
        deadlines.insert((due, job.id), at: deadlines.firstIndex { $0.due > due } ?? deadlines.endIndex)
    }

    private mutating func give(up job: JobID, _ reason: SkyError) {
        jobs[job]?.abort = reason
        handle(.cancelled(job))
    }
}

// MARK: - What happens

extension CoordinatorCore {
    mutating func tick() {
        while let first = deadlines.first, first.due <= now {
            deadlines.removeFirst()
            guard let job = jobs[first.job], job.isActive, let deadline = job.request.deadline else { continue }
            give(up: first.job, SkyError(.failed, "it was not done by its deadline, \(deadline) after its submission"))
        }
        if let due = roomDue, due <= now {
            makeRoom()
            updateSuspension()
        }
        handle(.tick)
    }

    mutating func leased(_ lease: Lease, on node: NodeID) {
        handle(.leased(node, slots: lease.slots, epoch: lease.epoch))
    }

    mutating func leaseLost(on node: NodeID) { handle(.leaseLost(node)) }

    /// What a node has delivered. Each result counts once, however often it arrives.
    mutating func collected(_ results: [AttemptResult], from node: NodeID) {
        for result in results where deliveries[node, default: Delivery()].receive(result.sequence) {
            ended(result, on: node)
        }
        deliveries[node, default: Delivery()].rests(on: lastEntry)
        deliveries[node]?.stored(lastStored)
    }

    /// What was found among earlier results for the next tasks of the step that a job's plan has issued last.
    mutating func lookedUp(_ job: JobID, _ tasks: Range<Int>, _ found: [TaskID: ByteBuffer]) {
        guard let record = jobs[job], record.isActive, let search = record.search else { return }
        let isDone = tasks.upperBound >= search.end
        if isDone { jobs[job]?.search = nil }
        var answered: [TaskID] = []
        for (task, payload) in found.sorted(by: { $0.key < $1.key }) {
            // What is no answer is as good as nothing found.
            guard let result = try? WireCoder.decode(TaskResult.self, from: payload),
                record.plan.accepts(task.index, result)
            else { continue }
            let attempt = AttemptID(job: job, task: task, number: 0, generation: life.generation)
            jobs[job]?.uncommitted[attempt] = CoordinatedJob.Uncommitted(
                payload: payload, duration: .zero, value: result)
            answered.append(task)
        }
        handle(.tasksAdded(job, count: tasks.count, answered: answered, kin: kin(of: tasks, in: job)))
        if isDone, search.isLast { handle(.noMoreTasks(job)) }
    }

    /// A node has heard up to where its results are stored.
    mutating func heard(_ sequence: UInt64, by node: NodeID) { deliveries[node]?.heard(sequence) }

    /// Whether a node is a member, as far as is known here.
    func isPresent(_ node: NodeID) -> Bool { present.contains(node) }

    /// What runs on a node that nobody here may know of.
    mutating func found(_ attempts: [AttemptID], on node: NodeID) {
        for attempt in attempts { handle(.adopted(attempt, on: node)) }
    }

    /// Attempts that could not be sent.
    mutating func undeliverable(_ attempts: [AttemptID], to node: NodeID, _ failure: AttemptFailure) {
        for attempt in attempts { handle(.failed(attempt, on: node, failure)) }
    }

    mutating func joined(_ node: NodeID, name: String, version: String = SkyNetVersion.current, isDraining: Bool) {
        names[node] = name
        if present.insert(node).inserted {
            handle(.nodeJoined(node, name: name, measuresAlike: SkyNetVersion.measuresAlike(version)))
        }
        handle(.nodeDraining(node, isDraining))
    }

    mutating func draining(_ node: NodeID, _ isDraining: Bool) { handle(.nodeDraining(node, isDraining)) }

    mutating func lost(_ node: NodeID) {
        guard present.remove(node) != nil else { return }
        // A node that has nothing of ours needs no memory of what it had: it keeps only what nobody has acknowledged.
        if deliveries[node]?.isSettled == true { deliveries[node] = nil }
        handle(.nodeLost(node))
    }

    /// The feed of members begins (again): those that left unheard are gone.
    func unheard(_ members: Set<NodeID>, besides own: NodeID) -> Set<NodeID> {
        present.subtracting(members).subtracting([own])
    }

    /// The journal has stored everything up to an entry: it may be told, and nodes may forget.
    mutating func stored(_ entry: UInt64) {
        lastStored = max(lastStored, entry)
        var changed: Set<JobID> = []
        while let first = pending.first, first.entry <= lastStored {
            pending.removeFirst()
            tell(first)
            changed.insert(first.job)
        }
        for job in changed { outbox.append(.told(job)) }
        while let first = held.first, first.entry <= lastStored {
            held.removeFirst()
            outbox.append(.assign(first.request, to: node))
        }
        for node in Array(deliveries.keys) {
            deliveries[node]?.stored(lastStored)
            guard let unsaid = deliveries[node]?.unsaid, unsaid > CoordinatorCore.unsaidLimit else { continue }
            deliveries[node]?.unsaid = 0
            outbox.append(.acknowledge(node))
        }
        if lastEntry - lastStored < CoordinatorCore.backlogLimit / 2 { isBehind = false }
        updateSuspension()
    }

    /// The journal cannot store for now: what runs goes on, nothing new is sent out.
    mutating func journalFails(_ reason: String) {
        journalFailure = reason
        updateSuspension()
    }

    /// - Parameter bytes: what it holds now.
    mutating func journalWorks(bytes: Int) {
        journalFailure = nil
        journalBytes = bytes
        makeRoom()
        updateSuspension()
    }

    /// Another limit from now on; without effect where there is none.
    mutating func limitStorage(_ bytes: Int) {
        guard storageLimit != nil else { return }
        storageLimit = bytes
        makeRoom()
        updateSuspension()
    }

    /// How long the results of a job are left to whoever waited for its end.
    static let fetchingTime = Duration.seconds(60)

    /// Deletes the oldest of the jobs that have ended, one after the other, while the journal holds more than it may; where there
    /// is none, tasks wait until there is, or somebody deletes jobs or raises the limit.
    private mutating func makeRoom() {
        (limitReason, roomDue) = (nil, nil)
        guard let storageLimit, journalBytes > storageLimit, lastStored >= roomEntry else { return }
        let ended = order.compactMap { job in jobs[job]?.told.report == nil ? nil : jobs[job]?.endedAt.map { (job, $0) }
        }
        if let oldest = ended.first(where: { now - $0.1 >= CoordinatorCore.fetchingTime }) {
            delete(oldest.0)
            roomEntry = lastEntry
            return
        }
        roomDue = ended.map { $0.1 + CoordinatorCore.fetchingTime }.min()
        let limit = storageLimit >> 20
        limitReason =
            "the journal holds \(journalBytes >> 20) MiB and may hold \(limit) MiB (--data-limit); delete jobs or raise it"
    }

    /// Nothing new is sent out while the journal cannot store, or is far behind.
    private mutating func updateSuspension() {
        let isSuspended = pauseReason != nil || isBehind
        guard isSuspended != self.isSuspended else { return }
        self.isSuspended = isSuspended
        handle(.suspended(isSuspended))
    }
}

// MARK: - Deciding

extension CoordinatorCore {
    private mutating func ended(_ result: AttemptResult, on node: NodeID) {
        let attempt = result.attempt
        deliveries[node]?.unsaid += result.byteCount
        switch result.outcome {
        case .done(let payload):
            var uncommitted = CoordinatedJob.Uncommitted(payload: payload, duration: result.duration)
            if jobs[attempt.job]?.plan.needsResults == true {
                uncommitted.value =
                    scheduler.measuresAlike(node) ? try? WireCoder.decode(TaskResult.self, from: payload) : nil
                guard uncommitted.value != nil else {
                    let reason = "node \(node) runs a version whose results cannot be used here"
                    return handle(.failed(attempt, on: node, .unavailable(reason)))
                }
            }
            jobs[attempt.job]?.uncommitted[attempt] = uncommitted
            handle(.succeeded(attempt, on: node, took: result.duration))
            // Not committed now means never.
            jobs[attempt.job]?.uncommitted[attempt] = nil
        case .fault(let reason):
            handle(.failed(attempt, on: node, .fault(reason)))
        case .crash(let reason):
            handle(.failed(attempt, on: node, .crash(reason)))
        case .badInput(let reason):
            jobs[attempt.job]?.badInput.insert(attempt.task.index)
            handle(.failed(attempt, on: node, .permanent(reason)))
        case .unavailable(let reason):
            jobs[attempt.job]?.badInput.insert(attempt.task.index)
            handle(.failed(attempt, on: node, .unavailable(reason)))
        case .refused(let reason):
            handle(.failed(attempt, on: node, .refused(reason)))
        }
    }

    /// Feeds an event to the scheduler and does what it says. Events that come up meanwhile wait their turn, so that
    /// every action is done in the order in which it was decided.
    private mutating func handle(_ event: JobScheduler.Event) {
        events.append(event)
        guard !isHandling else { return }
        isHandling = true
        while let event = events.popFirst() {
            for action in scheduler.handle(event, now: now) { perform(action) }
        }
        isHandling = false
    }

    private mutating func perform(_ action: JobScheduler.Action) {
        switch action {
        case .reserve(let node, let wanted):
            outbox.append(.reserve(node, wanted: wanted))
        case .run(let attempt, let node):
            guard let record = jobs[attempt.job], record.isActive, var task = record.plan.task(attempt.task.index)
            else {
                // The scheduler holds a slot for it until it hears.
                handle(.failed(attempt, on: node, .refused("the job has ended")))
                return
            }
            if scheduler.hasFailed(before: attempt) { task.rehearsal.failsFirstAttempt = false }
            let request = RunRequest(attempt: attempt, task: task, timeLimit: record.request.taskTimeLimit)
            guard record.isRisky, node == self.node else {
                outbox.append(.assign(request, to: node))
                return
            }
            let risk = TaskRisk(task: attempt.task, node: node, isAlone: scheduler.isAlone(attempt))
            store(.risked(attempt.job, risk))
            held.append((lastEntry, request))
        case .stop(let attempt, let node):
            guard let index = held.firstIndex(where: { $0.request.attempt == attempt }) else {
                outbox.append(.stop(attempt, on: node))
                return
            }
            held.remove(at: index)
            handle(.failed(attempt, on: node, .refused("stopped")))
        case .completed(let attempt, let node):
            committed(attempt, on: node)
        case .discarded:
            break
        case .retrying(let job, let task, let node, let reason, let delay, attempt: _):
            taskCounts.retries += 1
            note(
                .retrying(task: label(job, task), node: name(of: node), reason: withNames(reason), delay: delay),
                in: job)
        case .taskFailed(let job, let task, let reason):
            failed(job, task, withNames(reason))
        case .jobFinished(let job, let outcome):
            finished(job, outcome)
        }
    }

    private mutating func committed(_ attempt: AttemptID, on node: NodeID) {
        let (job, task) = (attempt.job, attempt.task)
        guard let result = jobs[job]?.uncommitted.removeValue(forKey: attempt) else { return }
        let isCached = attempt.number == 0
        let name = isCached ? "" : name(of: node)
        var stored = StoredResult(
            job: job, task: task, node: name, duration: result.duration, payload: result.payload)
        jobs[job]?.decided.complete(by: name)
        if isCached { taskCounts.cached += 1 } else { taskCounts.completed += 1 }
        // Only what answers the question may answer it again.
        if !isCached, let value = result.value, jobs[job]?.plan.accepts(task.index, value) == true {
            stored.cacheKey = jobs[job]?.cacheKeys[task] ?? jobs[job]?.plan.cacheKey(task.index)
        }
        jobs[job]?.cacheKeys[task] = nil
        store(.result(stored))
        note(.completed(task: label(job, task), node: name), in: job)
        guard let value = result.value else { return }
        if let step = jobs[job]?.plan.completed(task.index, value) { follow(step, of: job) }
    }

    private mutating func failed(_ job: JobID, _ task: TaskID, _ reason: String) {
        let isBadInput = jobs[job]?.badInput.contains(task.index) ?? false
        let reason = jobs[job]?.plan.loss(task.index).map { "\(reason); \($0)" } ?? reason
        guard let step = jobs[job]?.plan.failed(task.index, reason, isBadInput: isBadInput) else { return }
        store(.failed(job, task, reason: reason, isBadInput: isBadInput))
        jobs[job]?.decided.failed += 1
        taskCounts.failed += 1
        // Where the job ends by it, its end says why; once is enough.
        if step.abort == nil { note(.failed(task: label(job, task), reason: reason), in: job) }
        follow(step, of: job)
        if step.abort == nil, let job = jobs[job], let allowed = job.request.allowedFailures,
            job.decided.failed > allowed
        {
            give(up: job.id, SkyError(.failed, "more than \(allowed) tasks failed, the last because \(reason)"))
        }
    }

    private mutating func follow(_ step: PlanStep, of job: JobID) {
        for event in step.events { note(event, in: job) }
        if let abort = step.abort { return give(up: job, abort) }
        if step.newTasks > 0, let holder = jobs[job]?.plan.holder {
            handle(.inputFound(job, on: present.contains(holder.node) ? holder.node : node))
        }
        let first = jobs[job]?.issued ?? 0
        jobs[job]?.issued = first + step.newTasks
        let tasks = first..<first + step.newTasks
        let keys = cacheKeys(of: tasks, in: job)
        if !keys.isEmpty {
            // A plan issues its next tasks when these are done: one search at a time.
            jobs[job]?.search = CoordinatedJob.Search(end: tasks.upperBound, isLast: step.isLast)
            jobs[job]?.cacheKeys.merge(keys) { $1 }
            outbox.append(.lookUp(job, tasks, keys))
            return
        }
        if step.newTasks > 0 { handle(.tasksAdded(job, count: step.newTasks, kin: kin(of: tasks, in: job))) }
        if step.isLast { handle(.noMoreTasks(job)) }
    }

    private func kin(of tasks: Range<Int>, in job: JobID) -> [TaskID: TaskID] {
        guard let plan = jobs[job]?.plan, plan.needsResults else { return [:] }
        return tasks.reduce(into: [:]) { kin, task in kin[TaskID(task)] = plan.kin(task).map { TaskID($0) } }
    }

    private func cacheKeys(of tasks: Range<Int>, in job: JobID) -> [TaskID: CacheKey] {
        // Plans without results that mean anything have none, and may have millions of tasks.
        guard let plan = jobs[job]?.plan, plan.needsResults else { return [:] }
        return tasks.reduce(into: [:]) { $0[TaskID($1)] = plan.cacheKey($1) }
    }

    private mutating func finished(_ job: JobID, _ outcome: JobOutcome) {
        guard let record = jobs[job], record.isActive else { return }
        let state: JobReport.State =
            switch record.abort?.kind {
            case .badInput, .unavailable: .badInput
            case .failed: .failed
            case nil: outcome.cancelled > 0 ? .cancelled : .done
            }
        let report = JobReport(
            state: state, reason: record.abort?.message,
            scheduled: outcome.completed + outcome.failed + outcome.cancelled,
            completed: outcome.completed, failed: outcome.failed, retries: outcome.retries,
            duration: now - record.submittedAt,
            nodes: CoordinatorCore.shares(record.decided), cached: record.decided.cached)
        jobs[job]?.report = report
        jobs[job]?.endedAt = now
        jobs[job]?.stored.ended = wall
        jobs[job]?.plan.release()
        jobs[job]?.uncommitted = [:]
        jobs[job]?.cacheKeys = [:]
        store(.ended(job, report, at: wall))
        note(.ended(report), in: job)
        forgetOldJobs()
    }

    /// Keeps what `retention` says from now on.
    mutating func retain(_ retention: JobRetention) {
        self.retention = retention
        forgetOldJobs()
    }

    /// Removes jobs that ended long ago, and the oldest where there are too many.
    mutating func forgetOldJobs() {
        for job in order {
            // Whoever waits for a job's end is told of it first.
            guard let record = jobs[job], record.told.report != nil else { continue }
            let since = record.stored.ended ?? record.stored.submitted
            let age = Duration.milliseconds(Int64(clamping: wall) - Int64(clamping: since))
            // Those behind it are younger: a thousand are not looked at for each that ends.
            guard endedCount > retention.count || age > retention.age else { return }
            delete(job)
        }
    }

    // MARK: - Telling

    private mutating func store(_ entry: JournalEntry) {
        lastEntry += 1
        outbox.append(.store(entry))
        guard lastEntry - lastStored > CoordinatorCore.backlogLimit else { return }
        isBehind = true
        updateSuspension()
    }

    private mutating func note(_ kind: JobEvent.Kind, in job: JobID) {
        pending.append(Pending(entry: lastEntry, job: job, kind: kind, at: now))
        if lastEntry <= lastStored { stored(lastStored) }
    }

    private mutating func tell(_ event: Pending) {
        guard let submitted = jobs[event.job]?.submittedAt else { return }
        switch event.kind {
        case .completed(_, let node):
            jobs[event.job]?.told.complete(by: node)
        case .failed: jobs[event.job]?.told.failed += 1
        case .retrying: jobs[event.job]?.told.retries += 1
        case .ended(let report):
            jobs[event.job]?.told.report = report
            endedCount += 1
        case .planned, .sectorDone: break
        }
        jobs[event.job]?.log.append(event.kind, time: event.at - submitted)
    }

    /// Nodes with a part in a job, by name.
    func shares(of job: JobID) -> [NodeShare] {
        guard let record = jobs[job] else { return [] }
        var running: [String: Int] = [:]
        for (node, count) in scheduler.runningByNode(job) { running[name(of: node)] = count }
        return CoordinatorCore.shares(record.told, running: running)
    }

    /// In the order of names.
    private static func shares(_ tally: CoordinatedJob.Tally, running: [String: Int] = [:]) -> [NodeShare] {
        Set(tally.nodes.keys).union(running.keys).sorted().map {
            NodeShare(name: $0, completed: tally.nodes[$0] ?? 0, running: running[$0] ?? 0)
        }
    }

    func name(of node: NodeID) -> String { names[node] ?? node.description }

    func label(_ job: JobID, _ task: TaskID) -> String {
        jobs[job]?.plan.label(task.index) ?? "task \(task.index + 1)"
    }

    /// The scheduler knows nodes by their ids, people by their names.
    func withNames(_ reason: String) -> String {
        names.reduce(reason) { text, entry in
            text.replacing("node \(entry.key)", with: entry.value).replacing("\(entry.key)", with: entry.value)
        }
    }
}
