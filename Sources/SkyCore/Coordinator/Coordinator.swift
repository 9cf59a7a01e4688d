import Base
import DequeModule
package import Distributed
package import Logging
import NIOCore
package import Transport

/// Owns the jobs submitted to it: carries each event to `CoordinatorCore`, hands what follows from it to `CoordinatorEffects`, and
/// answers those who watch.
///
/// Every node has one. It decides nothing itself.
package distributed actor Coordinator: ClusterActor {
    package typealias ActorSystem = ClusterSystem

    /// What peers may call. A test calls every method, so a name here that is not the compiler's is noticed.
    package static let methods = MethodTable(
        [
            Method(
                "submit", "$s7SkyCore11CoordinatorC6submity9Transport8IdentityVyAA12SubmittedJobOGAA10SubmissionVYaKFTE"
            ) {
                (coordinator: isolated Coordinator, argument: Submission) in try await coordinator.submit(argument)
            },
            Method("start", "$s7SkyCore11CoordinatorC5startyAA10StartedJobVAA10SubmissionVYaKFTE") {
                (coordinator: isolated Coordinator, argument: Submission) in try await coordinator.start(argument)
            },
            Method("cancel", "$s7SkyCore11CoordinatorC6cancelyy9Transport8IdentityVyAA12SubmittedJobOGYaKFTE") {
                (coordinator: isolated Coordinator, argument: JobID) in try await coordinator.cancel(argument)
            },
            Method("delete", "$s7SkyCore11CoordinatorC6deleteyy9Transport8IdentityVyAA12SubmittedJobOGYaKFTE") {
                (coordinator: isolated Coordinator, argument: JobID) in try await coordinator.delete(argument)
            },
            Method("storage", "$s7SkyCore11CoordinatorC7storageAA12JournalUsageVyYaKFTE") {
                (coordinator: isolated Coordinator) in try await coordinator.storage()
            },
            Method(
                "why", "$s7SkyCore11CoordinatorC3whyyAA14JobExplanationV9Transport8IdentityVyAA09SubmittedE0OGYaKFTE"
            ) {
                (coordinator: isolated Coordinator, argument: JobID) in try coordinator.why(argument)
            },
            Method("list", "$s7SkyCore11CoordinatorC4listSayAA10JobListingVGyYaKFTE") {
                (coordinator: isolated Coordinator) in coordinator.list()
            },
            Method(
                "details",
                "$s7SkyCore11CoordinatorC7detailsyAA10JobDetailsV9Transport8IdentityVyAA09SubmittedE0OGYaKFTE"
            ) {
                (coordinator: isolated Coordinator, argument: JobID) in try await coordinator.details(argument)
            },
            Method("drain", "$s7SkyCore11CoordinatorC5drainyyAA12DrainRequestVYaKFTE") {
                (coordinator: isolated Coordinator, argument: DrainRequest) in try await coordinator.drain(argument)
            },
            Method("events", "$s7SkyCore11CoordinatorC6eventsyAA10EventBatchVAA13EventsRequestVYaKFTE") {
                (coordinator: isolated Coordinator, argument: EventsRequest) in try await coordinator.events(argument)
            },
            Method("nodes", "$s7SkyCore11CoordinatorC5nodesSayAA10NodeReportVGyYaKFTE") {
                (coordinator: isolated Coordinator) in
                await coordinator.nodes()
            },
            Method("membership", "$s7SkyCore11CoordinatorC10membershipyAA14MembershipPageVAA0E7RequestVYaKFTE") {
                (coordinator: isolated Coordinator, argument: MembershipRequest) in
                await coordinator.membership(argument)
            },
        ] + JobKinds.methods)

    /// The name every node's coordinator is found under.
    package static let wellKnownName = "coordinator"

    let logger: Logger
    let journal: Journal
    private let startedAt = ContinuousClock.now
    var core: CoordinatorCore
    /// What is to be done outside this actor; `run()` has it done.
    private let effects: AsyncStream<CoordinatorEffect>
    private let effectsInput: AsyncStream<CoordinatorEffect>.Continuation
    /// What comes now is not stored any more.
    var isClosed = false
    var storeWaiters: Deque<(entry: UInt64, latch: Latch)> = []
    private var watchers: [JobID: Latch] = [:]
    /// Results of the last jobs that somebody asked for, put together.
    var fetched = FetchedResults()
    /// How often results were asked for.
    var fetches = 0
    private var membershipLog = MembershipLog()
    /// Opens with the next change of the membership.
    private var membershipLatch = Latch()

    /// How long a watcher of events waits when nothing happens.
    static let eventsPatience = Duration.seconds(1)

    package init(journal: Journal, retention: JobRetention = JobRetention(), logger: Logger, actorSystem: ClusterSystem)
    {
        self.actorSystem = actorSystem
        self.logger = logger
        self.journal = journal
        core = CoordinatorCore(
            incarnation: journal.incarnation, secret: journal.secret, node: actorSystem.node, name: actorSystem.name,
            retention: retention, ranBefore: journal.ranBefore)
        (effects, effectsInput) = AsyncStream.makeStream(of: CoordinatorEffect.self)
    }

    var now: Duration { startedAt.duration(to: .now) }

    /// Takes over what an earlier life of this coordinator has left in the journal. To be called once, before `run`.
    ///
    /// What is damaged of one job keeps neither the node from starting nor the others from going on.
    ///
    /// - Parameter progress: told of how many jobs are read, again and again while a large one is.
    /// - Throws: `JournalError` where the journal cannot be read at all.
    package func restore(
        progress: @escaping @Sendable (_ done: Int, _ all: Int) -> Void = { _, _ in }
    ) async throws(JournalError) {
        let (jobs, damaged) = try await journal.jobs()
        for words in damaged {
            logger.error("a stored job cannot be read and is left out", metadata: ["job": "\(PrintableText.of(words))"])
        }
        for (index, job) in jobs.enumerated() {
            progress(index, jobs.count)
            do {
                try await restore(job) { progress(index, jobs.count) }
            } catch {
                guard [.damaged, .damagedJob].contains(error.kind) else { throw error }
                logger.error(
                    "a stored job cannot be read and is left out",
                    metadata: ["job": "\(job.id)", "reason": "\(PrintableText.of(error.message))"])
            }
        }
        updateCore { $0.forgetOldJobs() }
    }

    private func restore(
        _ stored: StoredJob, progress: @escaping @Sendable () -> Void
    ) async throws(JournalError) {
        var (job, replay) = (stored, JobReplay(stored.request))
        // Of jobs that have ended the report is enough.
        guard job.report == nil else { return updateCore { $0.restore(job, replay) } }
        if replay.plan.needsResults, let program = job.program, !SkyNetVersion.measuresAlike(program) {
            try await restart(&job, "another version of the program had begun it")
        }
        do {
            replay = try await journal.replay(job, progress: progress)
        } catch {
            guard error.kind == .damagedJob else { throw error }
            // Whatever follows from the damaged result is no better than that.
            try await restart(&job, error.message)
            replay = try await journal.replay(job)
        }
        updateCore { $0.restore(job, replay) }
        logger.info("job resumed", metadata: ["job": "\(job.id)", "completed": "\(replay.completed.count)"])
    }

    private func restart(_ job: inout StoredJob, _ reason: String) async throws(JournalError) {
        try await journal.restart(job.id)
        job.resultsSince = journal.incarnation.generation
        logger.notice(
            "job begins anew", metadata: ["job": "\(job.id)", "reason": "\(PrintableText.of(reason))"])
    }

    // MARK: - Called by submitters

    /// Takes a job and starts it; returns when it is stored.
    ///
    /// - Throws: `SkyError` where the request is not valid, `RemoteError` where it cannot be stored; it is not done then.
    package distributed func submit(_ submission: Submission) async throws -> JobID {
        var submission = submission
        try submission.validate()
        // Where no results are kept, it would be in vain to read the whole file for the key of its results.
        if !journal.isLasting || journal.limits.cache == 0 { submission.request.kind.request.goWithoutCache() }
        let new = JobID.random()
        var taken = Result<JobID, SkyError>.success(new)
        updateCore { core in
            taken = Result { () throws(SkyError) in
                try core.submit(submission.request, token: submission.token, as: new)
            }
        }
        let id = try taken.get()
        do {
            try await untilStored(core.writeAhead.lastEntry)
        } catch {
            // Its entry waits to be stored all the same; it is followed by one that takes it back.
            if id == new { updateCore { $0.delete(new) } }
            throw error
        }
        // What was just stored tells how full the disk is. A job that would only wait for that is better not taken.
        if id == new, let reason = core.room.diskFault {
            updateCore { $0.delete(new) }
            throw RemoteError(.failed, "it cannot be stored: \(reason)")
        }
        logger.info("job submitted", metadata: ["job": "\(id)"])
        return id
    }

    /// As `submit`, and tells what has happened by then: a small job has ended, and nobody has to ask for it.
    package distributed func start(_ submission: Submission) async throws -> StartedJob {
        let job = try await submit(submission)
        let end = ContinuousClock.now + Coordinator.startPatience
        while core.jobs[job]?.published.report == nil, ContinuousClock.now < end {
            await somethingHappens(job, atMost: end - .now)
        }
        return StartedJob(job: job, batch: try batch(EventsRequest(job: job, from: 0)))
    }

    /// How long an answer to a new job waits for its end: a moment that nobody notices.
    private static let startPatience = Duration.milliseconds(3)

    /// Stops a job; what runs is stopped everywhere. Harmless for one that has ended.
    ///
    /// - Throws: `RemoteError` where that cannot be stored now: it is stopped, but a restart would let it go on.
    package distributed func cancel(_ job: JobID) async throws {
        updateCore { $0.cancel(job) }
        try await untilStored(core.writeAhead.lastEntry)
    }

    /// Forgets a job with its results; one that goes on is cancelled first.
    ///
    /// - Throws: `RemoteError` for a job that is not known here, and as `cancel` does.
    package distributed func delete(_ job: JobID) async throws {
        guard core.jobs[job] != nil else { throw unknown(job) }
        fetched.forget(job)
        updateCore { $0.delete(job) }
        do {
            try await untilStored(core.writeAhead.lastEntry)
        } catch {
            guard core.writeAhead.deletedAhead.contains(job) else { throw error }
        }
    }

    /// All jobs, the oldest first.
    package distributed func list() -> [JobListing] {
        core.jobs.order.compactMap { core.jobs[$0] }.map { job in
            let report = job.published.report
            return JobListing(
                id: job.id, title: job.request.title, state: report?.state, priority: job.request.options.priority,
                reason: report == nil ? core.pauseReason : report?.reason, status: status(of: job),
                submitted: job.stored.submitted)
        }
    }

    /// What has become of the tasks of all jobs since the start, and whether nothing can be stored now.
    func work() -> (counts: TaskCounts, isPaused: Bool) { (core.jobs.counts, core.pauseReason != nil) }

    /// The newest job that has not ended.
    func newestJob() -> NodeHealth.Job? {
        guard
            let job = core.jobs.order.last(where: { core.jobs[$0]?.published.report == nil }).flatMap({ core.jobs[$0] })
        else {
            return nil
        }
        let status = status(of: job)
        return NodeHealth.Job(id: job.id, completed: status.completed, tasks: status.scheduled)
    }

    /// Forgets what is in the journal too.
    func rest() async {
        fetched.removeAll()
        await journal.rest()
    }

    /// What the operator wants kept from now on.
    func setLimits(_ retention: JobRetention, _ limits: JournalLimits) async {
        journal.limits = limits
        let bytes = journal.isLasting ? limits.bytes : nil
        updateCore { $0.setLimits(retention, bytes: bytes) }
    }

    /// What there is to know of a job beside its line in the list.
    ///
    /// - Throws: `RemoteError` for a job that is not known here.
    package distributed func details(_ job: JobID) async throws -> JobDetails {
        guard core.jobs[job] != nil else { throw unknown(job) }
        let failures = try await tellingCallers { () async throws(JournalError) in
            try await journal.failures(of: job, count: Coordinator.failuresShown)
        }
        // It may have been deleted meanwhile.
        guard let record = core.jobs[job] else { throw unknown(job) }
        let shown = failures.map {
            JobDetails.Failure(
                task: record.plan.label($0.task.index) ?? "task \($0.task.index + 1)", reason: $0.reason)
        }
        let count = record.published.report?.failed ?? record.published.failed
        return JobDetails(request: record.request, failures: shown, hiddenFailures: max(0, count - shown.count))
    }

    /// What a job waits for.
    ///
    /// - Throws: `RemoteError` for a job that is not known here.
    package distributed func why(_ job: JobID) throws -> JobExplanation {
        let drained = actorSystem.ownMember.isDraining ? actorSystem.node : nil
        guard let explanation = core.explain(job, now: now, drained: drained) else { throw unknown(job) }
        return explanation
    }

    /// Failed tasks in the details of a job.
    private static let failuresShown = 20

    /// Lets a node get no new work, or again.
    ///
    /// - Throws: `RemoteError` where there is no such node, or more than one.
    package distributed func drain(_ request: DrainRequest) async throws {
        let found = ([actorSystem.ownMember] + actorSystem.members).filter {
            $0.name == request.node || $0.node.description == request.node
        }
        guard let member = found.first else { throw RemoteError(.failed, "there is no node \(request.node)") }
        guard found.count == 1 else {
            let ids = found.map(\.node.description).sorted().joined(separator: ", ")
            throw RemoteError(.failed, "\(found.count) nodes are called \(request.node): \(ids)")
        }
        let scan = try ScanActor.resolve(
            id: ActorAddress(node: member.node, name: ScanActor.wellKnownName), using: actorSystem)
        try await scan.drain(request.isDraining)
        logger.notice(request.isDraining ? "node drained" : "node resumed", metadata: ["node": "\(member.name)"])
    }

    /// What happened to a job since event `from`; waits about a second where nothing did.
    ///
    /// - Throws: `RemoteError` for a job that is not known here.
    package distributed func events(_ request: EventsRequest) async throws -> EventBatch {
        if try isQuiet(request) { await somethingHappens(request.job) }
        return try batch(request)
    }

    /// Whether nothing has happened to a job that goes on. Not where its events are waited for: whoever holds a job's record
    /// meanwhile has its history copied when something is added.
    private func isQuiet(_ request: EventsRequest) throws -> Bool {
        guard let record = core.jobs[request.job] else { throw unknown(request.job) }
        return record.log.nextNumber <= request.from && record.published.report == nil
    }

    private func batch(_ request: EventsRequest) throws -> EventBatch {
        guard let record = core.jobs[request.job] else { throw RemoteError(.failed, "job \(request.job) was deleted") }
        let events = record.log.events(from: request.from, count: 1000)
        return EventBatch(
            events: Array(events), next: events.last.map { $0.number + 1 } ?? request.from, status: status(of: record))
    }

    /// All members with what they say of themselves, where they answer within a second.
    package distributed func nodes() async -> [NodeReport] {
        await NodeReport.collect(from: actorSystem, speeds: core.dispatch.scheduler.speeds(now: now))
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

    /// What the journal holds.
    ///
    /// - Throws: `RemoteError` where it cannot be read.
    package distributed func storage() async throws -> JournalUsage {
        try await tellingCallers { () async throws(JournalError) in try await journal.usage() }
    }

    /// Tells callers elsewhere what is wrong with the journal.
    func tellingCallers<Value: Sendable>(_ body: () async throws(JournalError) -> Value) async throws -> Value {
        do {
            return try await body()
        } catch {
            throw RemoteError(.failed, error.message)
        }
    }

    func unknown(_ job: JobID) -> RemoteError { RemoteError(.failed, "there is no job \(job)") }

    // MARK: - Events of the core

    /// Lets one event enter the core, and has done what follows from it.
    func updateCore(_ event: (inout CoordinatorCore) -> Void) {
        for output in core.at(now, wall: WallClock.milliseconds, event) {
            switch output {
            case .effect(let effect): effectsInput.yield(effect)
            case .published(let job):
                watchers.removeValue(forKey: job)?.open()
                if let report = core.jobs[job]?.published.report { logEnd(of: job, report) }
            case .refused(let node, let reason):
                logger.error(
                    "a node does not work for this one", metadata: ["node": "\(node)", "reason": "\(reason)"])
            case .distrusted(let node, let reason):
                logger.error(
                    "a node's answers make no sense; it is not used any more",
                    metadata: ["node": "\(node)", "reason": "\(PrintableText.of(reason))"])
            }
        }
    }

    private func logEnd(of job: JobID, _ report: JobReport) {
        logger.info(
            "job ended",
            metadata: [
                "job": "\(job)", "state": "\(report.state.rawValue)", "completed": "\(report.completed)",
                "failed": "\(report.failed)", "retries": "\(report.retries)",
            ])
    }

    /// The feed of members begins (again): those that left unheard are gone.
    func membershipBegins(with members: Set<NodeID>) {
        for node in core.dispatch.unheard(members) { membershipChanged(.lost(node)) }
    }

    func membershipChanged(_ event: MembershipEvent) {
        if membershipLog.append(event, time: WallClock.milliseconds) {
            membershipLatch.open()
            membershipLatch = Latch()
        }
        switch event {
        case .joined(let member), .back(let member):
            updateCore {
                $0.joined(member.node, name: member.name, version: member.version, isDraining: member.isDraining)
            }
        case .lost(let node), .left(let node):
            updateCore { $0.lost(node) }
        case .draining(let node, let isDraining):
            updateCore { $0.draining(node, isDraining) }
        case .suspect:
            break
        }
    }

    /// Does the effects until cancelled. This node's own slots count like any other's.
    package func run() async {
        updateCore { [actorSystem] in $0.joined(actorSystem.node, name: actorSystem.name, isDraining: false) }
        await CoordinatorEffects(coordinator: self, system: actorSystem, journal: journal).run(effects)
    }

    // MARK: - Watchers

    /// - Throws: `RemoteError` where nothing can be stored at present.
    private func untilStored(_ entry: UInt64) async throws {
        guard core.writeAhead.lastStored < entry else { return }
        if !isClosed {
            let latch = Latch()
            storeWaiters.append((entry, latch))
            await latch.wait()
        }
        guard core.writeAhead.lastStored < entry else { return }
        throw RemoteError(.failed, "it cannot be stored: \(core.pauseReason ?? "the node is stopping")")
    }

    private func somethingHappens(_ job: JobID, atMost patience: Duration = eventsPatience) async {
        let latch = watchers[job] ?? Latch()
        watchers[job] = latch
        await latch.wait(atMost: patience)
    }

    private func status(of record: CoordinatedJob) -> JobStatus {
        let progress = core.dispatch.scheduler.progress(of: record.id)
        return JobStatus(
            scheduled: progress?.scheduled ?? record.report?.scheduled ?? 0,
            running: progress?.running ?? 0,
            completed: record.published.report?.completed ?? record.published.completed,
            failed: record.published.report?.failed ?? record.published.failed,
            retries: record.published.report?.retries ?? record.published.retries,
            nodes: record.published.report?.nodes ?? core.shares(of: record.id),
            elapsed: record.report?.duration ?? (now - record.submittedAt),
            cached: record.published.report?.cached ?? record.published.cached,
            paused: record.published.report == nil ? core.pauseReason : nil)
    }
}
