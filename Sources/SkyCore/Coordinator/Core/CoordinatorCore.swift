import Base
import NIOCore
import Transport

/// All decisions of a coordinator, as a value. Each event enters it once (`at`) and results in one list of outputs.
///
/// It decides little itself. An event crosses four values in order:
///
/// - `jobs`: which jobs there are, and how their plans use results (`CoordinatedJobs`);
/// - `writeAhead`: what is stored before what is published (`WriteAheadQueue`);
/// - `room`: which jobs are deleted so that results can be stored (`StorageRoom`);
/// - `dispatch`: which node does what (`NodeDispatch`, with `JobScheduler`).
struct CoordinatorCore {
    /// An output of an event.
    enum Output {
        /// For `CoordinatorEffects` to carry out.
        case effect(CoordinatorEffect)
        /// There is something new for those who watch the job.
        case published(JobID)
        /// A node does not work for this coordinator, and says why.
        case refused(by: NodeID, String)
        /// A node's answers make no sense. The node is not used any more.
        case distrusted(NodeID, String)
    }

    var jobs: CoordinatedJobs
    var writeAhead = WriteAheadQueue()
    var room: StorageRoom
    var dispatch: NodeDispatch
    private(set) var now: Duration = .zero
    private(set) var wall: UInt64 = 0
    /// The time of the next wake that was requested last; `nil` where none is requested.
    private var armedWake: Duration?
    /// The outputs that have gathered while an event is handled.
    var outbox: [Output] = []

    /// - Parameters:
    ///   - secret: the secret that proves results of earlier incarnations; see `AttemptReceipts`.
    ///   - ranBefore: how long all earlier incarnations ran together.
    init(
        incarnation: CoordinatorIncarnation, secret: [UInt8] = [], node: NodeID, name: String,
        retention: JobRetention = JobRetention(), ranBefore: Duration = .zero
    ) {
        jobs = CoordinatedJobs(ranBefore: ranBefore)
        room = StorageRoom(retention)
        dispatch = NodeDispatch(incarnation: incarnation, secret: secret, own: node, name: name)
    }

    /// Why nothing can be stored, so that nothing is sent out at present.
    var pauseReason: String? { writeAhead.failure ?? room.limitReason }

    /// How long this coordinator has run in all its incarnations. Retention times are measured by this clock. The machine's clock
    /// may be set, and that must not end anything.
    var ran: Duration { jobs.ranBefore + now }

    /// The time when something is due even if no event happens.
    var nextWake: Duration? {
        [dispatch.scheduler.nextWake, jobs.nextDeadline, room.due, writeAhead.due(at: now)].compactMap(\.self).min()
    }

    /// Handles one event at the time `now` and returns its outputs, in order.
    mutating func at(_ now: Duration, wall: UInt64, _ event: (inout CoordinatorCore) -> Void) -> [Output] {
        (self.now, self.wall) = (now, wall)
        event(&self)
        armWake()
        defer { outbox = [] }
        return outbox
    }

    /// Requests a wake for the time when something is due next, unless an earlier wake is requested already.
    private mutating func armWake() {
        guard let wake = nextWake, armedWake.map({ wake < $0 }) ?? true else { return }
        armedWake = wake
        outbox.append(.effect(.wake(at: wake, after: max(.zero, wake - now))))
    }

    /// A wake has come. It has no effect if an earlier wake has replaced it.
    mutating func wake(_ due: Duration) {
        guard armedWake == due else { return }
        armedWake = nil
        tick()
    }
}

// MARK: - Events of jobs

extension CoordinatorCore {
    /// Accepts a job and starts it. A submission with a known token is not started again.
    ///
    /// - Parameters:
    ///   - isUser: whether the submitter is a user, who has limits even where the credential has none.
    ///   - other: what the submitter's jobs take at other coordinators of this node.
    ///   - wait: how long the job waits to be stored, so that its first results are stored with it; `hurry` then. `nil` where it is
    ///     stored at once.
    /// - Throws: what `CoordinatedJobs.submit` throws.
    mutating func submit(
        _ request: JobRequest, token: String?, as id: JobID, isUser: Bool = false, beside other: PersonUsage? = nil,
        waiting wait: Duration? = nil
    ) throws -> JobID {
        switch try jobs.submit(request, token: token, as: id, isUser: isUser, beside: other, now: now, wall: wall) {
        case .known(let known): return known
        case .new(let stored):
            store(.submitted(stored), waiting: wait)
            schedule(.submitted(id, tasks: 0, request.schedulingOptions, by: request.jobSubmitter))
            applyQuotas()
            if let step = jobs.beginPlan(of: id) { apply(step, to: id) }
            return id
        }
    }

    /// Takes a job over from an earlier incarnation, with what was stored of it.
    ///
    /// - Parameter replay: the job's plan after all results that are stored.
    mutating func restore(_ stored: StoredJob, _ replay: JobReplay) {
        jobs.restore(stored, replay, now: now, wall: wall)
        guard stored.report == nil else { return }
        schedule(
            .restored(
                stored.id, tasks: replay.tasks, completed: replay.completed, failed: replay.failed,
                risks: replay.risks, isSealed: replay.isSealed, stored.request.schedulingOptions,
                by: stored.request.jobSubmitter))
        applyQuotas()
        if let abort = replay.abort { return giveUp(stored.id, abort) }
        // The holder of the input has another id by now. Most likely it is this node, on which the job was submitted.
        if replay.plan.holder != nil { schedule(.inputFound(stored.id, on: dispatch.own)) }
    }

    /// Stops a job and its attempts on all nodes.
    mutating func cancel(_ job: JobID) {
        guard jobs[job]?.isActive == true else { return }
        schedule(.cancelled(job))
    }

    /// Stops a job because it cannot succeed.
    mutating func giveUp(_ job: JobID, _ reason: SkyError) {
        jobs.abort(job, reason)
        schedule(.cancelled(job))
    }

    /// Forgets a job with its results, after cancelling it where it still goes on.
    mutating func delete(_ job: JobID) {
        cancel(job)
        guard jobs.remove(job) else { return }
        store(.deleted(job))
        outbox.append(.published(job))
        applyQuotas()
    }

    /// Tells the scheduler which jobs get no slots because of what their person stores, or get some again.
    mutating func applyQuotas() {
        for change in jobs.takeQuotaChanges() { schedule(.withheld(change.job, change.isWithheld)) }
    }

    /// Why a job cannot go on at present; `nil` where it can.
    func pauseReason(of job: CoordinatedJob) -> String? {
        pauseReason ?? jobs.quotas.reason(job.id, job.request) ?? missingNode(of: job)
    }

    /// Somebody fetches results of a job. It is not deleted meanwhile to make room for others.
    mutating func use(_ job: JobID) { jobs.use(job, now: now) }

    /// Releases what is kept for whoever may fetch results. They can be read from the journal.
    mutating func releaseResults() { jobs.releaseResults() }

    /// Something is due: entries that have gathered, a deadline, a deletion, or an event of the scheduler.
    mutating func tick() {
        if writeAhead.begin(at: now) { outbox.append(.effect(.write)) }
        while let (job, deadline) = jobs.nextOverdue(now: now) {
            giveUp(job, SkyError(.failed, "it was not done by its deadline, \(deadline) after its submission"))
        }
        if let due = room.due, due <= now {
            makeRoom()
            updateSuspension()
        }
        schedule(.tick)
    }

    /// The look-up of earlier results has an answer for the next tasks of the step that a job's plan issued last.
    mutating func lookedUp(_ job: JobID, _ tasks: Range<Int>, _ found: [TaskID: ByteBuffer]) {
        let generation = dispatch.incarnation.generation
        guard let (answered, isLast) = jobs.takeFound(found, for: tasks, of: job, generation: generation) else {
            return
        }
        let affinity = jobs.affinity(of: tasks, in: job)
        schedule(.tasksAdded(job, count: tasks.count, answered: answered, affinity: affinity))
        if isLast { schedule(.noMoreTasks(job)) }
    }

    /// The shares that nodes have in a job, by the names of the nodes.
    func shares(of job: JobID) -> [NodeShare] {
        jobs[job]?.published.shares(running: dispatch.runningByName(job)) ?? []
    }
}
