import DequeModule
package import Distributed
package import Logging
package import Transport

/// Owns the jobs submitted to it: asks each job's plan for tasks, has `JobScheduler` decide where they run, does what
/// it says, commits each result once, and tells those who watch.
///
/// Every node has one. It decides nothing about placement or retries itself.
package distributed actor Coordinator: ClusterActor {
    package typealias ActorSystem = ClusterSystem

    /// What peers may call. A test calls every method, so a name here that is not the compiler's is noticed.
    package static let methods = MethodTable([
        Method("submit", "$s7SkyCore11CoordinatorC6submityAA5JobIDVAA0E7RequestVYaKFTE") {
            (coordinator: isolated Coordinator, argument: JobRequest) in try coordinator.submit(argument)
        },
        Method("cancel", "$s7SkyCore11CoordinatorC6cancelyyAA5JobIDVYaKFTE") {
            (coordinator: isolated Coordinator, argument: JobID) in coordinator.cancel(argument)
        },
        Method("events", "$s7SkyCore11CoordinatorC6eventsyAA10EventBatchVAA13EventsRequestVYaKFTE") {
            (coordinator: isolated Coordinator, argument: EventsRequest) in try await coordinator.events(argument)
        },
        Method("catalogue", "$s7SkyCore11CoordinatorC9catalogueyAA13CataloguePageVAA0E7RequestVYaKFTE") {
            (coordinator: isolated Coordinator, argument: CatalogueRequest) in try coordinator.catalogue(argument)
        },
        Method("preview", "$s7SkyCore11CoordinatorC7previewyAA12ImagePreviewVSgAA5JobIDVYaKFTE") {
            (coordinator: isolated Coordinator, argument: JobID) in coordinator.preview(argument)
        },
        Method("nodes", "$s7SkyCore11CoordinatorC5nodesSayAA10NodeReportVGyYaKFTE") {
            (coordinator: isolated Coordinator) in
            await coordinator.nodes()
        },
        Method("membership", "$s7SkyCore11CoordinatorC10membershipyAA14MembershipPageVAA0E7RequestVYaKFTE") {
            (coordinator: isolated Coordinator, argument: MembershipRequest) in
            await coordinator.membership(argument)
        },
    ])

    /// The name every node's coordinator is found under.
    package static let wellKnownName = "coordinator"

    let logger: Logger
    private let epoch = ContinuousClock.now
    private var scheduler: JobScheduler
    var jobs: [JobID: CoordinatedJob] = [:]
    /// Names of nodes seen, also of those that are gone.
    private var names: [NodeID: String] = [:]
    /// What is to be done outside this actor; `run()` does it.
    private let effects: AsyncStream<CoordinatorEffect>
    private let perform: AsyncStream<CoordinatorEffect>.Continuation
    private var pending: Deque<JobScheduler.Event> = []
    private var isHandling = false
    private var armedWake: Duration?
    /// What is wished for on each node, and who follows its lease.
    var wishes = WishBook()
    /// Members the scheduler knows of.
    private var present: Set<NodeID> = []
    /// Open to stop an attempt.
    private var stops: [AttemptID: Latch] = [:]
    private var finishedJobs: [JobID] = []
    private var waiters: [JobID: Latch] = [:]
    private var membershipLog = MembershipLog()
    /// Opens with the next change of the membership.
    private var membershipLatch = Latch()

    /// Finished jobs kept for those who come late.
    static let finishedLimit = 64
    /// Sources kept in all finished jobs together, about 500 MB.
    static let finishedSourcesLimit = 2_000_000
    /// How long a watcher of events waits when nothing happens.
    static let eventsPatience = Duration.seconds(1)

    package init(logger: Logger, actorSystem: ClusterSystem) {
        self.actorSystem = actorSystem
        self.logger = logger
        scheduler = JobScheduler(localNode: actorSystem.node, seed: actorSystem.node.rawValue)
        (effects, perform) = AsyncStream.makeStream(of: CoordinatorEffect.self)
    }

    var now: Duration { epoch.duration(to: .now) }

    // MARK: - Called by submitters

    /// Takes a job and starts it.
    ///
    /// - Throws: `RemoteError` where the request is not valid.
    package distributed func submit(_ request: JobRequest) throws -> JobID {
        try request.validate()
        let id = JobID.random()
        let plan: any JobPlan =
            switch request.kind {
            case .simulate(let request): SimulatePlan(request: request)
            case .sky(let request): SkyPlan(request)
            }
        jobs[id] = CoordinatedJob(id: id, request: request, submittedAt: now, plan: plan)
        logger.info("job submitted", metadata: ["job": "\(id)"])
        handle(.submitted(id, tasks: 0))
        if let step = jobs[id]?.plan.begin() { follow(step, of: id) }
        return id
    }

    /// Stops a job; what runs is stopped everywhere. Harmless for one that has ended.
    package distributed func cancel(_ job: JobID) {
        guard jobs[job]?.report == nil else { return }
        handle(.cancelled(job))
    }

    /// What happened to a job since event `from`; waits about a second where nothing did.
    ///
    /// - Throws: `RemoteError` for a job that is not known here.
    package distributed func events(_ request: EventsRequest) async throws -> EventBatch {
        guard let record = jobs[request.job] else { throw RemoteError(.failed, "there is no job \(request.job)") }
        if record.log.nextNumber <= request.from, record.report == nil { await somethingHappens(request.job) }
        guard let record = jobs[request.job] else { throw RemoteError(.failed, "job \(request.job) was deleted") }
        let events = record.log.events(from: request.from, count: 1000)
        return EventBatch(
            events: Array(events), next: events.last.map { $0.number + 1 } ?? request.from, status: status(of: record))
    }

    /// A part of the catalogue of a sky job that has ended.
    ///
    /// - Throws: `RemoteError` where there is none.
    package distributed func catalogue(_ request: CatalogueRequest) throws -> CataloguePage {
        guard let catalogue = jobs[request.job]?.catalogue else {
            throw RemoteError(.failed, "job \(request.job) has no catalogue")
        }
        let all = catalogue.sources
        let start = min(max(0, request.from), all.count)
        let page = all[start..<min(all.count, start + Coordinator.pageLength)]
        return CataloguePage(
            info: catalogue.info, sources: Array(page), total: all.count,
            truncated: catalogue.truncatedSources)
    }

    /// Sources in one page; about 4 MB on the wire.
    static let pageLength = 20_000

    /// The small image drawn for a sky job; `nil` where there is none (yet), or no such job.
    package distributed func preview(_ job: JobID) -> ImagePreview? {
        (jobs[job]?.plan as? SkyPlan)?.preview
    }

    /// All members with what they say of themselves, where they answer within a second.
    package distributed func nodes() async -> [NodeReport] {
        await NodeReport.collect(from: actorSystem, speeds: scheduler.speeds(now: now))
    }

    /// What happened to the membership since a number; waits where nothing did.
    package distributed func membership(_ request: MembershipRequest) async -> MembershipPage {
        if request.from == membershipLog.nextNumber {
            let latch = membershipLatch
            await latch.wait(atMost: min(max(.zero, request.patience), .seconds(10)))
        }
        let entries = request.from.flatMap { membershipLog.entries(from: $0) }
        let members = entries == nil ? [actorSystem.ownMember] + membershipLog.members.values : nil
        return MembershipPage(
            members: members, entries: entries ?? [], next: membershipLog.nextNumber, time: WallClock.milliseconds,
            uptime: actorSystem.now)
    }

    // MARK: - Events

    /// Feeds an event to the scheduler and does what it says. Events that come up meanwhile wait their turn, so that
    /// every action is done in the order in which it was decided.
    func handle(_ event: JobScheduler.Event) {
        pending.append(event)
        guard !isHandling else { return }
        isHandling = true
        while let event = pending.popFirst() {
            for action in scheduler.handle(event, now: now) { perform(action) }
        }
        isHandling = false
        armTimer()
    }

    private func perform(_ action: JobScheduler.Action) {
        switch action {
        case .reserve(let node, let wanted):
            if wishes.wish(wanted, on: node) { perform.yield(.reserve(node)) }
        case .run(let attempt, let node):
            guard let record = jobs[attempt.job], record.report == nil,
                let task = record.plan.task(attempt.task.index)
            else {
                // The scheduler holds a slot for it until it hears.
                handle(.failed(attempt, on: node, .refused("the job has ended")))
                return
            }
            jobs[attempt.job]?.running[attempt] = node
            let stop = Latch()
            stops[attempt] = stop
            let request = RunRequest(attempt: attempt, task: task, timeLimit: record.request.taskTimeLimit)
            perform.yield(.run(request, on: node, stop: stop))
        case .stop(let attempt, on: _):
            stops[attempt]?.open()
        case .completed(let job, let task, let number, let node):
            committed(AttemptID(job: job, task: task, number: number), on: node)
        case .discarded(let attempt):
            jobs[attempt.job]?.uncommitted[attempt] = nil
        case .retrying(let job, let task, let node, let reason, let delay, attempt: _):
            note(
                .retrying(task: label(job, task), node: name(of: node), reason: reason, delay: delay), in: job)
        case .taskFailed(let job, let task, let reason):
            failed(job, task, reason)
        case .jobFinished(let job, let outcome):
            finished(job, outcome)
        }
    }

    private func committed(_ attempt: AttemptID, on node: NodeID) {
        let (job, task) = (attempt.job, attempt.task)
        guard let result = jobs[job]?.uncommitted.removeValue(forKey: attempt) else { return }
        jobs[job]?.shares[node, default: NodeShare(name: name(of: node), completed: 0, running: 0)].completed += 1
        note(.completed(task: label(job, task), node: name(of: node)), in: job)
        if let step = jobs[job]?.plan.completed(task.index, result) { follow(step, of: job) }
    }

    private func failed(_ job: JobID, _ task: TaskID, _ reason: String) {
        let reason = withNames(reason)
        let isBadInput = jobs[job]?.badInput.contains(task.index) ?? false
        guard let step = jobs[job]?.plan.failed(task.index, reason, isBadInput: isBadInput) else { return }
        // Where the job ends by it, its end says why; once is enough.
        if step.abort == nil { note(.failed(task: label(job, task), reason: reason), in: job) }
        follow(step, of: job)
    }

    /// The scheduler knows nodes by their ids, people by their names.
    private func withNames(_ reason: String) -> String {
        names.reduce(reason) { text, entry in
            text.replacing("node \(entry.key)", with: entry.value).replacing("\(entry.key)", with: entry.value)
        }
    }

    private func follow(_ step: PlanStep, of job: JobID) {
        for event in step.events { note(event, in: job) }
        if let abort = step.abort {
            jobs[job]?.abort = abort
            handle(.cancelled(job))
            return
        }
        if step.newTasks > 0 { handle(.tasksAdded(job, count: step.newTasks)) }
        if step.isLast { handle(.noMoreTasks(job)) }
    }

    private func finished(_ job: JobID, _ outcome: JobOutcome) {
        guard let record = jobs[job], record.report == nil else { return }
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
            duration: now - record.submittedAt, nodes: shares(of: record))
        jobs[job]?.report = report
        if var plan = record.plan as? SkyPlan {
            jobs[job]?.catalogue = plan.catalogue
            plan.release()
            jobs[job]?.plan = plan
        }
        jobs[job]?.uncommitted = [:]
        jobs[job]?.running = [:]
        note(.ended(report), in: job)
        logger.info(
            "job ended",
            metadata: [
                "job": "\(job)", "state": "\(state.rawValue)", "completed": "\(report.completed)",
                "failed": "\(report.failed)", "retries": "\(report.retries)",
            ])
        forgetOldJobs(newest: job)
    }

    private func armTimer() {
        guard let wake = scheduler.nextWake else { return }
        if let armedWake, armedWake <= wake { return }
        armedWake = wake
        perform.yield(.wake(at: wake, after: max(.zero, wake - now)))
    }

    // MARK: - What the effects report

    func ticked(_ due: Duration) {
        // An earlier wake has taken this one's place.
        guard armedWake == due else { return }
        armedWake = nil
        handle(.tick)
    }

    func ran(_ request: RunRequest, on node: NodeID, _ result: RunResult) {
        let attempt = request.attempt
        jobs[attempt.job]?.running[attempt] = nil
        stops[attempt] = nil
        switch result {
        case .lost(let reason):
            handle(.failed(attempt, on: node, .nodeLost(reason)))
        case .ended(.done(let result)):
            jobs[attempt.job]?.uncommitted[attempt] = result
            handle(.succeeded(attempt, on: node))
            // Not committed now means never.
            jobs[attempt.job]?.uncommitted[attempt] = nil
        case .ended(.fault(let reason)):
            handle(.failed(attempt, on: node, .fault(reason)))
        case .ended(.badInput(let reason)):
            jobs[attempt.job]?.badInput.insert(attempt.task.index)
            handle(.failed(attempt, on: node, .permanent(reason)))
        case .ended(.unavailable(let reason)):
            jobs[attempt.job]?.badInput.insert(attempt.task.index)
            handle(.failed(attempt, on: node, .unavailable(reason)))
        case .ended(.refused(let reason)):
            handle(.failed(attempt, on: node, .refused(reason)))
        }
    }

    func leased(_ lease: Lease, on node: NodeID) {
        handle(.leased(node, slots: lease.slots, epoch: lease.epoch))
    }

    func leaseLost(on node: NodeID) {
        wishes.leaseLost(on: node)
        handle(.leaseLost(node))
    }

    /// The feed of members begins (again): those that left unheard are gone.
    func membershipBegins(with members: Set<NodeID>) {
        for node in present.subtracting(members) { membershipChanged(.lost(node)) }
    }

    func membershipChanged(_ event: MembershipEvent) {
        if membershipLog.append(event, time: WallClock.milliseconds) {
            membershipLatch.open()
            membershipLatch = Latch()
        }
        switch event {
        case .joined(let member), .back(let member):
            names[member.node] = member.name
            if present.insert(member.node).inserted { handle(.nodeJoined(member.node)) }
            handle(.nodeDraining(member.node, member.isDraining))
        case .lost(let node), .left(let node):
            guard present.remove(node) != nil else { return }
            wishes.nodeLost(node)
            handle(.nodeLost(node))
        case .draining(let node, let isDraining):
            handle(.nodeDraining(node, isDraining))
        case .suspect:
            break
        }
    }

    /// This node's own slots count like any other's.
    func begin() {
        names[actorSystem.node] = actorSystem.name
        handle(.nodeJoined(actorSystem.node))
    }

    /// Does the effects until cancelled.
    package func run() async {
        begin()
        await CoordinatorEffects(coordinator: self, system: actorSystem).run(effects)
    }

    // MARK: - Watchers

    private func note(_ kind: JobEvent.Kind, in job: JobID) {
        guard let record = jobs[job] else { return }
        jobs[job]?.log.append(kind, time: now - record.submittedAt)
        waiters.removeValue(forKey: job)?.open()
    }

    private func somethingHappens(_ job: JobID) async {
        let latch = waiters[job] ?? Latch()
        waiters[job] = latch
        await latch.wait(atMost: Coordinator.eventsPatience)
    }

    private func status(of record: CoordinatedJob) -> JobStatus {
        let progress = scheduler.progress(of: record.id)
        return JobStatus(
            scheduled: progress?.scheduled ?? record.report?.scheduled ?? 0,
            running: progress?.running ?? 0,
            completed: progress?.completed ?? record.report?.completed ?? 0,
            failed: progress?.failed ?? record.report?.failed ?? 0,
            retries: progress?.retried ?? record.report?.retries ?? 0,
            nodes: shares(of: record), elapsed: (record.report?.duration) ?? (now - record.submittedAt))
    }

    private func shares(of record: CoordinatedJob) -> [NodeShare] {
        var shares = record.shares
        for node in record.running.values {
            shares[node, default: NodeShare(name: name(of: node), completed: 0, running: 0)].running += 1
        }
        return shares.sorted { ($0.value.name, $0.key) < ($1.value.name, $1.key) }.map(\.value)
    }

    /// Keeps the memory of finished jobs bounded, by number and by sources. The newest always stays.
    private func forgetOldJobs(newest: JobID) {
        finishedJobs.append(newest)
        var sources = finishedJobs.reduce(0) { $0 + (jobs[$1]?.catalogue?.sources.count ?? 0) }
        while finishedJobs.count > 1,
            finishedJobs.count > Coordinator.finishedLimit || sources > Coordinator.finishedSourcesLimit
        {
            let oldest = finishedJobs.removeFirst()
            sources -= jobs[oldest]?.catalogue?.sources.count ?? 0
            jobs[oldest] = nil
        }
    }

    private func name(of node: NodeID) -> String { names[node] ?? node.description }

    private func label(_ job: JobID, _ task: TaskID) -> String {
        jobs[job]?.plan.task(task.index)?.label ?? "task \(task.index + 1)"
    }
}
