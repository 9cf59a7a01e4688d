import Base
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
        /// Demand so many slots of a node.
        case reserve(NodeID, wanted: Int)
        case assign(RunRequest, to: NodeID)
        case stop(AttemptID, on: NodeID)
        /// Store this, after all before it.
        case store(JournalEntry)
        /// Look for earlier results of these tasks, in order and a few at a time, and say each time what was `lookedUp`.
        ///
        /// The plan says what they are looked for by: to find out takes a while where there are many.
        case lookUp(JobID, Range<Int>, any JobPlan)
        /// There is something new for those who watch the job.
        case published(JobID)
        /// A node should hear soon what it may forget.
        case acknowledge(NodeID)
    }

    /// Something that waits until an entry is stored.
    private struct Pending {
        enum Matter {
            /// To be told.
            case event(JobEvent.Kind, at: Duration)
            /// Tasks of a plan's next step, which rest on the results before it: after a restart these must be the same.
            case step(Range<Int>, isLast: Bool)
        }

        var entry: UInt64
        var job: JobID
        var matter: Matter
    }

    let incarnation: CoordinatorIncarnation
    var scheduler: JobScheduler
    private(set) var jobs: [JobID: CoordinatedJob] = [:]
    private(set) var order: [JobID] = []
    /// Jobs whose end has been told.
    var endedJobs = EndedJobs()
    /// Jobs that go on.
    private(set) var activeCount = 0
    var nodes: KnownNodes
    /// How long all earlier lives ran together.
    let ranBefore: Duration
    /// Why nothing can be stored at present, and why nothing more may be.
    var journalFailure: String?
    var limitReason: String?
    /// What the journal held last, and may hold; `nil` for no limit.
    var room: JournalRoom?
    /// The entry that deletes a job to make room: what follows from it is not known before it is stored.
    var roomEntry: UInt64 = 0
    /// When a job will have ended long enough ago to be deleted.
    var roomDue: Duration?

    private var byToken: [String: JobID] = [:]
    private var deadlines: [(due: Duration, job: JobID)] = []
    private var events: Deque<JobScheduler.Event> = []
    private var isHandling = false
    private(set) var now: Duration = .zero
    private var wall: UInt64 = 0
    var outbox: [Output] = []
    /// Entries given out to be stored, and entries that are.
    private(set) var lastEntry: UInt64 = 0
    private(set) var lastStored: UInt64 = 0
    private var pending: Deque<Pending> = []
    /// Attempts that are to be sent to this node once it is stored that they are.
    private var held: Deque<(entry: UInt64, request: RunRequest)> = []
    let node: NodeID
    var retention: JobRetention
    let receipts: AttemptReceipts

    /// Entries that may wait to be stored before nothing new is sent out, and from which on it goes on.
    static let backlogLimit: UInt64 = 100_000
    private(set) var isBehind = false
    /// Of all jobs of this life.
    private(set) var taskCounts = TaskCounts()
    /// As the scheduler was told.
    private var isSuspended = false
    /// Bytes of a result that means nothing to its plan.
    private static let meaninglessLimit = 64
    /// Jobs that may go on at one time. Each takes some kilobytes of memory, and a place in the journal.
    static let activeLimit = 100_000

    /// - Parameters:
    ///   - secret: by which results of earlier lives are known; see `AttemptReceipts`.
    ///   - ranBefore: how long all earlier lives ran together.
    init(
        incarnation: CoordinatorIncarnation, secret: [UInt8] = [], node: NodeID, name: String,
        retention: JobRetention = JobRetention(), ranBefore: Duration = .zero
    ) {
        self.incarnation = incarnation
        self.node = node
        self.retention = retention
        self.ranBefore = ranBefore
        receipts = AttemptReceipts(secret: secret)
        nodes = KnownNodes(own: node, name: name)
        scheduler = JobScheduler(localNode: node, generation: incarnation.generation, seed: node.rawValue)
    }

    /// Why nothing is sent out at present.
    var pauseReason: String? { journalFailure ?? limitReason }

    /// How long this coordinator has run in all its lives. What is kept for some time is kept by this clock: that of the machine
    /// may be set, and must not end anything by that.
    var ran: Duration { ranBefore + now }

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
    ///
    /// - Throws: `SkyError` where the token is that of another job, where there are too many jobs, and where the request cannot
    ///   be written down.
    mutating func submit(_ request: JobRequest, token: String?, as id: JobID) throws(SkyError) -> JobID {
        let encoded = try JournalText.encode(request)
        if let token, let known = byToken[token] {
            // Written down once more: the text of one that was read is not kept, and may be an earlier version's.
            guard let job = jobs[known], try JournalText.encode(job.stored.request) == encoded else {
                throw SkyError(.badInput, "the token belongs to job \(known), which was asked for something else")
            }
            return known
        }
        guard activeCount < CoordinatorCore.activeLimit else {
            throw SkyError(.failed, "\(activeCount) jobs go on already; submit it when some of them have ended")
        }
        var stored = StoredJob(id: id, token: token, request: request, submitted: wall)
        stored.encodedRequest = encoded
        stored.submittedRun = ran
        insert(CoordinatedJob(stored: stored, submittedAt: now, plan: request.kind.request.plan()))
        store(.submitted(stored))
        handle(.submitted(id, tasks: 0, request.schedulingOptions))
        if let step = jobs[id]?.plan.begin() { follow(step, of: id) }
        return id
    }

    /// Takes a job over from an earlier life, with what was stored of it.
    ///
    /// - Parameter replay: the job's plan after all results that are stored.
    mutating func restore(_ stored: StoredJob, _ replay: JobReplay) {
        // For people only: by the machine's clock, which may have been set since.
        let age = min(
            Duration.milliseconds(Int64(clamping: wall >= stored.submitted ? wall - stored.submitted : 0)),
            CoordinatorCore.longestAge)
        var job = CoordinatedJob(stored: stored, submittedAt: now - age, plan: replay.plan)
        (job.published, job.decided) = (replay.published, replay.published)
        job.issued = replay.tasks
        job.isRisky = replay.isRisky
        for event in replay.events { job.log.append(event, time: age) }
        if let report = stored.report {
            job.report = report
            job.published.report = report
            // Earlier versions did not note it: those jobs are kept as if they had ended now.
            endedJobs.insert(stored.id, endedAt: stored.endedRun.map { $0 - ranBefore } ?? now)
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

    /// Longest age of a job that is shown: a clock that was wrong when it was submitted would make it older than its program.
    private static let longestAge = Duration.seconds(3650 * 86_400)

    /// Forgets a job with its results, after cancelling it where it still goes on.
    mutating func delete(_ job: JobID) {
        cancel(job)
        guard let record = jobs.removeValue(forKey: job) else { return }
        if let place = order.firstIndex(of: job) { order.remove(at: place) }
        endedJobs.remove(job)
        if let token = record.stored.token { byToken[token] = nil }
        store(.deleted(job))
        outbox.append(.published(job))
    }

    private mutating func insert(_ job: CoordinatedJob) {
        jobs[job.id] = job
        order.append(job.id)
        if let token = job.stored.token { byToken[token] = job.id }
        guard job.isActive else { return }
        activeCount += 1
        guard let deadline = job.request.deadline else { return }
        // Time in which nobody worked on it does not count: a clock that was set while the node was down must not end jobs.
        let due = (job.stored.submittedRun.map { $0 - ranBefore } ?? now) + deadline
        deadlines.insert((due, job.id), at: deadlines.firstIndex { $0.due > due } ?? deadlines.endIndex)
    }

    mutating func give(up job: JobID, _ reason: SkyError) {
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

    /// What was found among earlier results for the next tasks of the step that a job's plan has issued last.
    mutating func lookedUp(_ job: JobID, _ tasks: Range<Int>, _ found: [TaskID: ByteBuffer]) {
        guard let record = jobs[job], record.isActive, let search = record.search, search.contains(tasks) else {
            return
        }
        let isDone = tasks.upperBound >= search.end
        jobs[job]?.search?.next = tasks.upperBound
        if isDone { jobs[job]?.search = nil }
        var answered: [TaskID] = []
        for (task, payload) in found.sorted(by: { $0.key < $1.key }) {
            // What is no answer is as good as nothing found.
            guard let result = try? WireCoder.decode(TaskResult.self, from: payload),
                record.plan.accepts(task.index, result)
            else { continue }
            let attempt = AttemptID(job: job, task: task, number: 0, generation: incarnation.generation)
            jobs[job]?.uncommitted[attempt] = CoordinatedJob.Uncommitted(
                payload: payload, duration: .zero, value: result)
            answered.append(task)
        }
        handle(.tasksAdded(job, count: tasks.count, answered: answered, affinity: affinity(of: tasks, in: job)))
        if isDone, search.isLast { handle(.noMoreTasks(job)) }
    }

    /// The journal has stored everything up to an entry: it may be told, and nodes may forget.
    mutating func stored(_ entry: UInt64) {
        lastStored = max(lastStored, entry)
        var changed: Set<JobID> = []
        while let first = pending.first, first.entry <= lastStored {
            pending.removeFirst()
            switch first.matter {
            case .event(let kind, let time):
                tell(kind, of: first.job, at: time)
                changed.insert(first.job)
            case .step(let tasks, let isLast): issue(tasks, of: first.job, isLast: isLast)
            }
        }
        for job in changed { outbox.append(.published(job)) }
        while let first = held.first, first.entry <= lastStored {
            held.removeFirst()
            outbox.append(.assign(first.request, to: node))
        }
        nodes.stored(lastStored) { outbox.append(.acknowledge($0)) }
        if lastEntry - lastStored < CoordinatorCore.backlogLimit / 2 { isBehind = false }
        updateSuspension()
    }

    /// Nothing new is sent out while the journal cannot store, or is far behind.
    mutating func updateSuspension() {
        let isSuspended = pauseReason != nil || isBehind
        guard isSuspended != self.isSuspended else { return }
        self.isSuspended = isSuspended
        handle(.suspended(isSuspended))
    }
}

// MARK: - Deciding

extension CoordinatorCore {
    mutating func ended(_ result: AttemptResult, on node: NodeID) {
        let attempt = result.attempt
        // What is known to run there needs no proof.
        guard scheduler.isRunning(attempt, on: node) || isProven(attempt, on: node, result.receipt) else { return }
        switch result.outcome {
        case .done(let payload):
            var uncommitted = CoordinatedJob.Uncommitted(payload: payload, duration: result.duration)
            if jobs[attempt.job]?.plan.needsResults == true {
                uncommitted.value =
                    scheduler.measuresAlike(node) ? try? WireCoder.decode(TaskResult.self, from: payload) : nil
                guard let value = uncommitted.value else {
                    return handle(
                        .failed(
                            attempt, on: node, .unavailable("\(node) runs a version whose results cannot be used here"))
                    )
                }
                // Of a task that is done already it does not matter what another attempt says.
                guard jobs[attempt.job]?.plan.accepts(attempt.task.index, value) != false else {
                    return handle(
                        .failed(attempt, on: node, .unavailable("\(node) answered another question than it was asked")))
                }
            } else if payload.readableBytes > CoordinatorCore.meaninglessLimit {
                // It is stored all the same.
                uncommitted.payload = ByteBuffer()
            }
            jobs[attempt.job]?.uncommitted[attempt] = uncommitted
            handle(.succeeded(attempt, on: node, took: result.duration))
            // Not committed now means never.
            jobs[attempt.job]?.uncommitted[attempt] = nil
        case .fault(let reason):
            handle(.failed(attempt, on: node, .fault(FailureReason(reason))))
        case .crash(let reason):
            handle(.failed(attempt, on: node, .crash(FailureReason(reason))))
        case .badInput(let reason):
            jobs[attempt.job]?.badInput.insert(attempt.task.index)
            handle(.failed(attempt, on: node, .permanent(FailureReason(reason))))
        case .unavailable(let reason):
            jobs[attempt.job]?.badInput.insert(attempt.task.index)
            handle(.failed(attempt, on: node, .unavailable(FailureReason(reason))))
        case .refused(let reason):
            handle(.failed(attempt, on: node, .refused(FailureReason(reason))))
        }
    }

    /// Feeds an event to the scheduler and does what it says. Events that come up meanwhile wait their turn, so that
    /// every action is done in the order in which it was decided.
    mutating func handle(_ event: JobScheduler.Event) {
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
            var request = RunRequest(attempt: attempt, task: task, timeLimit: record.request.taskTimeLimit)
            request.receipt = receipts.receipt(for: attempt, on: node)
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
        if !isCached, result.value != nil {
            stored.cacheKey = jobs[job]?.plan.cacheKey(task.index)
        }
        store(.result(stored))
        note(.completed(task: label(job, task), node: name), in: job)
        guard let value = result.value else { return }
        if let step = jobs[job]?.plan.completed(task.index, value) { follow(step, of: job) }
    }

    private mutating func failed(_ job: JobID, _ task: TaskID, _ reason: String) {
        let isBadInput = jobs[job]?.badInput.contains(task.index) ?? false
        let reason = (jobs[job]?.plan.loss(task.index).map { "\(reason); \($0)" } ?? reason)
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
        let first = jobs[job]?.issued ?? 0
        jobs[job]?.issued = first + step.newTasks
        let tasks = first..<first + step.newTasks
        guard first > 0, !tasks.isEmpty, lastEntry > lastStored else {
            return issue(tasks, of: job, isLast: step.isLast)
        }
        pending.append(Pending(entry: lastEntry, job: job, matter: .step(tasks, isLast: step.isLast)))
    }

    /// Hands the tasks of a step to the scheduler, or has them looked for among earlier results first.
    private mutating func issue(_ tasks: Range<Int>, of job: JobID, isLast: Bool) {
        guard let record = jobs[job], record.isActive else { return }
        if !tasks.isEmpty, let holder = record.plan.holder {
            handle(.inputFound(job, on: nodes.present.contains(holder) ? holder : node))
        }
        if !tasks.isEmpty, record.plan.usesCache {
            // A plan issues its next tasks when these are done: one search at a time.
            jobs[job]?.search = CoordinatedJob.Search(next: tasks.lowerBound, end: tasks.upperBound, isLast: isLast)
            outbox.append(.lookUp(job, tasks, record.plan))
            return
        }
        if !tasks.isEmpty { handle(.tasksAdded(job, count: tasks.count, affinity: affinity(of: tasks, in: job))) }
        if isLast { handle(.noMoreTasks(job)) }
    }

    private func affinity(of tasks: Range<Int>, in job: JobID) -> [TaskID: TaskID] {
        guard let plan = jobs[job]?.plan, plan.needsResults else { return [:] }
        return tasks.reduce(into: [:]) { affinity, task in
            affinity[TaskID(task)] = plan.affinity(task).map { TaskID($0) }
        }
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
        activeCount -= 1
        jobs[job]?.stored.ended = wall
        jobs[job]?.plan.release()
        jobs[job]?.uncommitted = [:]
        store(.ended(job, report, at: wall, ran: ran))
        note(.ended(report), in: job)
    }

    // MARK: - Telling

    mutating func store(_ entry: JournalEntry) {
        lastEntry += 1
        outbox.append(.store(entry))
        guard lastEntry - lastStored > CoordinatorCore.backlogLimit else { return }
        isBehind = true
        updateSuspension()
    }

    private mutating func note(_ kind: JobEvent.Kind, in job: JobID) {
        pending.append(Pending(entry: lastEntry, job: job, matter: .event(kind, at: now)))
        if lastEntry <= lastStored { stored(lastStored) }
    }

    private mutating func tell(_ event: JobEvent.Kind, of job: JobID, at time: Duration) {
        guard let submitted = jobs[job]?.submittedAt else { return }
        switch event {
        case .completed(_, let node):
            jobs[job]?.published.complete(by: node)
        case .failed: jobs[job]?.published.failed += 1
        case .retrying: jobs[job]?.published.retries += 1
        case .ended(let report):
            jobs[job]?.published.report = report
            endedJobs.insert(job, endedAt: time)
        case .special: break
        }
        jobs[job]?.log.append(event, time: time - submitted)
        // Whoever waits for a job's end is told of it first.
        if case .ended = event { forgetOldJobs() }
    }

    /// Nodes with a part in a job, by name.
    func shares(of job: JobID) -> [NodeShare] {
        guard let record = jobs[job] else { return [] }
        var running: [String: Int] = [:]
        for (node, count) in scheduler.runningByNode(job) { running[name(of: node)] = count }
        return CoordinatorCore.shares(record.published, running: running)
    }

    /// In the order of names.
    private static func shares(_ tally: JobTally, running: [String: Int] = [:]) -> [NodeShare] {
        Set(tally.nodes.keys).union(running.keys).sorted().map {
            NodeShare(name: $0, completed: tally.nodes[$0] ?? 0, running: running[$0] ?? 0)
        }
    }

    func name(of node: NodeID) -> String { nodes.name(of: node) ?? node.description }

    func label(_ job: JobID, _ task: TaskID) -> String {
        jobs[job]?.plan.label(task.index) ?? "task \(task.index + 1)"
    }

    /// The scheduler knows nodes by their ids, people by their names.
    func withNames(_ reason: FailureReason) -> String { reason.text { nodes.name(of: $0) } }
}
