import Base
import DequeModule
package import Distributed
import Logging
import NIOCore
package import Transport

/// Owns the jobs submitted to it. It passes each event to `CoordinatorCore`, hands the effects that follow to `CoordinatorEffects`,
/// and answers those who watch a job.
///
/// Every node has one. It decides nothing itself.
package distributed actor Coordinator: ClusterActor {
    package typealias ActorSystem = ClusterSystem

    /// The methods that peers may call. A test calls every method, so that one that is missing is noticed.
    package static let methods = MethodTable(
        [
            Method("submit", for: .user) { (coordinator: isolated Coordinator, argument: Submission) in
                try await coordinator.submit(argument)
            },
            Method("start", for: .user) { (coordinator: isolated Coordinator, argument: Submission) in
                try await coordinator.start(argument)
            },
            Method("cancel", for: .user) { (coordinator: isolated Coordinator, argument: JobID) in
                try await coordinator.cancel(argument)
            },
            Method("delete", for: .user) { (coordinator: isolated Coordinator, argument: JobID) in
                try await coordinator.delete(argument)
            },
            Method("storage", for: .user) { (coordinator: isolated Coordinator) in try await coordinator.storage() },
            Method("why", for: .user) { (coordinator: isolated Coordinator, argument: JobID) in
                try await coordinator.why(argument)
            },
            Method("list", for: .user) { (coordinator: isolated Coordinator) in await coordinator.list() },
            Method("details", for: .user) { (coordinator: isolated Coordinator, argument: JobID) in
                try await coordinator.details(argument)
            },
            Method("listing", for: .user) { (coordinator: isolated Coordinator, argument: JobID) in
                try await coordinator.listing(argument)
            },
            Method("drain", for: .operator) { (coordinator: isolated Coordinator, argument: DrainRequest) in
                try await coordinator.drain(argument)
            },
            Method("events", for: .user) { (coordinator: isolated Coordinator, argument: EventsRequest) in
                try await coordinator.events(argument)
            },
            Method("results", for: .user) { (coordinator: isolated Coordinator, argument: ResultsRequest) in
                try await coordinator.results(argument)
            },
            Method("nodes", for: .user) { (coordinator: isolated Coordinator) in await coordinator.nodes() },
            Method("membership", for: .user) { (coordinator: isolated Coordinator, argument: MembershipRequest) in
                await coordinator.membership(argument)
            },
            Method("waiting", for: .user) { (coordinator: isolated Coordinator) in await coordinator.waiting() },
        ] + JobKinds.methods, errors: [PassingRefusal.declared])

    package static let worksOnLoop = true

    /// The methods that work before the jobs are read, and while it is not known whether other nodes have taken them over.
    static let methodsWithoutJobs: Set = ["nodes", "membership", "drain", "waiting"]

    /// The name under which every node's coordinator is found.
    package static let wellKnownName = "coordinator"

    let logger: Logger
    let journal: Journal
    let store: EntryStore
    /// The copies of this node; `nil` where there are none.
    let copies: Copies?
    private let startedAt = ContinuousClock.now
    var core: CoordinatorCore
    /// The effects that are to be carried out outside this actor. `run()` carries them out.
    private let effects: AsyncStream<CoordinatorEffect>
    private let effectsInput: AsyncStream<CoordinatorEffect>.Continuation
    /// Whether the journal is closed: entries decided from now on are not stored.
    var isClosed = false
    /// Whether other nodes have taken the jobs over, so that this coordinator is about to end.
    var isSuperseded = false
    var storeWaiters: Deque<(entry: UInt64, latch: Latch)> = []
    /// Why nothing could be stored since it last could: what the log has said.
    var storingTroubles: Set<JournalError.Kind> = []
    private var watchers: [JobID: Latch] = [:]
    /// The assembled results of the last jobs that somebody asked for.
    var fetched = FetchedResults()
    /// How many times results were asked for.
    var fetches = 0
    private let members: MembershipHistory
    /// Whether new jobs may be submitted to it.
    private let takesJobs: Bool
    /// Whether the journal has jobs that cannot be read.
    private var hasLeftOut = false

    /// How long results gather where others may keep copies: nobody who watches a job notices it.
    static let gatheringTime = Duration.milliseconds(100)

    /// How long a watcher of events waits when nothing happens.
    static let eventsPatience = Duration.seconds(1)

    /// A coordinator of whose jobs nobody else keeps copies.
    init(
        journal: Journal, members: MembershipHistory = MembershipHistory(), retention: JobRetention = JobRetention(),
        logger: Logger, actorSystem: ClusterSystem
    ) {
        self.init(
            storing: EntryStore(journal: journal, replica: nil), copies: nil, members: members, retention: retention,
            takesJobs: true, logger: logger, actorSystem: actorSystem)
    }

    init(
        storing store: EntryStore, copies: Copies?, members: MembershipHistory, retention: JobRetention,
        takesJobs: Bool, logger: Logger, actorSystem: ClusterSystem
    ) {
        let journal = store.journal
        (self.store, self.copies, self.members, self.takesJobs) = (store, copies, members, takesJobs)
        self.actorSystem = actorSystem
        self.logger = logger
        self.journal = journal
        core = CoordinatorCore(
            incarnation: journal.incarnation, secret: journal.secret, node: actorSystem.node, name: actorSystem.name,
            retention: retention, ranBefore: journal.ranBefore)
        if store.replica != nil { core.writeAhead.gatheringTime = Coordinator.gatheringTime }
        (effects, effectsInput) = AsyncStream.makeStream(of: CoordinatorEffect.self)
    }

    /// Whether no job is left, and that is stored. Where the coordinator takes none, it stays so.
    var isIdleForGood: Bool {
        core.jobs.all.isEmpty && core.writeAhead.isSettled && !hasLeftOut && !isClosed
    }

    /// Whether this stands in for a coordinator that cannot begin.
    private var standsIn: Bool { copies != nil && store.replica == nil }

    /// The files that its jobs need that have not ended, from those that commands have sent.
    var neededInputs: Set<[UInt8]> {
        core.jobs.all.reduce(into: []) { needed, job in
            if job.published.report == nil { needed.formUnion(job.request.kind.request.inputs) }
        }
    }

    var now: Duration { startedAt.duration(to: .now) }

    /// Takes over what an earlier incarnation of this coordinator left in the journal. Call it once, before `run`.
    ///
    /// Damage to one job prevents neither the node from starting nor the other jobs from going on.
    ///
    /// - Parameter progress: is called with the number of jobs read so far, and repeatedly while a large job is read.
    /// - Throws: `JournalError` where the journal cannot be read at all.
    package func restore(
        progress: @escaping @Sendable (_ done: Int, _ all: Int) -> Void = { _, _ in }
    ) async throws(JournalError) {
        let (jobs, damaged) = try await journal.jobs()
        hasLeftOut = !damaged.isEmpty
        for words in damaged {
            logger.error("a stored job cannot be read and is left out", metadata: ["job": "\(PrintableText.of(words))"])
        }
        for (index, job) in jobs.enumerated() {
            progress(index, jobs.count)
            do {
                try await restore(job) { progress(index, jobs.count) }
            } catch {
                guard [.damaged, .damagedJob].contains(error.kind) else { throw error }
                hasLeftOut = true
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
        // The report is enough for a job that has ended.
        guard job.report == nil else { return updateCore { $0.restore(job, replay) } }
        if replay.plan.needsResults, job.program != JobKinds.arithmetic.text {
            try await restart(&job, "a program that measures otherwise had begun it")
        }
        do {
            replay = try await journal.replay(job, progress: progress)
        } catch {
            guard error.kind == .damagedJob else { throw error }
            // Everything that was derived from the damaged result is damaged, too.
            try await restart(&job, error.message)
            replay = try await journal.replay(job)
        }
        updateCore { $0.restore(job, replay) }
        logger.info("job resumed", metadata: ["job": "\(job.id)", "completed": "\(replay.completed.count)"])
    }

    private func restart(_ job: inout StoredJob, _ reason: String) async throws(JournalError) {
        let generation = journal.incarnation.generation
        job.program = JobKinds.arithmetic.text
        try await store.append(
            [.restarted(job.id, program: JobKinds.arithmetic.text, since: generation)], ran: nil)
        job.resultsSince = generation
        logger.notice(
            "job begins anew", metadata: ["job": "\(job.id)", "reason": "\(PrintableText.of(reason))"])
    }

    // MARK: - Called by submitters

    /// Takes a job and starts it; returns when it is stored.
    ///
    /// - Throws: `SkyError` where the request is not valid or not allowed, `PassingRefusal` where it cannot be taken or stored now. The
    ///   job is not done in either case.
    package distributed func submit(_ submission: Submission) async throws -> JobID {
        try await accept(submission)
    }

    /// - Parameter wait: how long the job may wait to be stored, so that what follows at once is stored with it; `nil` where it may not.
    private func accept(_ submission: Submission, waiting wait: Duration? = nil) async throws -> JobID {
        guard takesJobs else {
            throw RemoteError(.failed, "this coordinator only finishes what a lost node has left")
        }
        if isWaitingForCopies {
            if let spare = await spare { return try await submit(submission, to: spare) }
            guard !standsIn else { throw PassingRefusal(.storage, "no journal can be made for it on this node") }
        }
        var submission = submission
        try submission.validate()
        // Only the link's certificate says who submits.
        submission.request.submitter = CallOrigin.person?.name
        submission.request.limits = callerLimits
        if submission.isRepeated == true, let token = submission.token, let known = await earlierJob(token) {
            return known
        }
        // The key of a job's results needs the whole file to be read. That would be in vain where no results are kept.
        if !journal.isLasting || journal.limits.cache == 0 { submission.request.kind.request.goWithoutCache() }
        let isUser = callingUser != nil
        let others = await usageElsewhere(by: submission.request)
        let new = JobID.random()
        var taken = Result<JobID, any Error>.success(new)
        updateCore { core in
            taken = Result {
                try core.submit(
                    submission.request, token: submission.token, as: new, isUser: isUser, beside: others, waiting: wait)
            }
        }
        let id = try taken.get()
        do {
            try await untilStored(core.writeAhead.lastEntry, waiting: wait)
        } catch {
            // The job's entry still waits to be stored. A second entry follows it and takes the job back.
            if id == new { updateCore { $0.delete(new) } }
            if id == new, isWaitingForCopies, let spare = await spare { return try await submit(submission, to: spare) }
            guard let error = error as? RemoteError, error.kind != .cancelled else { throw error }
            throw PassingRefusal(.storage, error.message)
        }
        // Storing the entry has just shown how full the disk is. A job that could only wait for room is refused instead.
        if id == new, let reason = core.room.diskFault {
            updateCore { $0.delete(new) }
            throw PassingRefusal(.storage, "it cannot be stored: \(reason)")
        }
        logger.info("job submitted", metadata: ["job": "\(id)"])
        return id
    }

    /// Gives a job to the coordinator that takes jobs meanwhile. That one may find just then that it has to wait for copies, too, and
    /// another one stands in.
    private func submit(_ submission: Submission, to first: Coordinator) async throws -> JobID {
        do {
            return try await first.submit(submission)
        } catch {
            guard let other = await spare, other.id != first.id else { throw error }
            return try await other.submit(submission)
        }
    }

    /// Whether nothing can be stored because too few of the nodes answer that keep copies.
    private var isWaitingForCopies: Bool {
        guard id.name == Coordinator.wellKnownName, let copies else { return false }
        return store.replica.map { copies.waiting(of: $0) != nil } ?? true
    }

    /// The coordinator of this node that takes jobs meanwhile.
    private var spare: Coordinator? {
        get async {
            guard let name = await copies?.spare.withLockedValue({ $0 })?() else { return nil }
            return try? Coordinator.resolve(id: ActorAddress(node: actorSystem.node, name: name), using: actorSystem)
        }
    }

    /// The job that was submitted with this token to a node that is gone by now. Another node may be about to take it over.
    private func earlierJob(_ token: String) async -> JobID? {
        guard let copies else { return nil }
        let end = ContinuousClock.now + copies.takeOverTime
        while true {
            if let job = await copies.job(withToken: token) { return job }
            guard ContinuousClock.now < end, (try? await Task.sleep(for: .milliseconds(500))) != nil else { return nil }
        }
    }

    /// Does the same as `submit`, and also returns the events so far. A small job has ended by then, so that nobody has to ask for
    /// them, and is stored in one transaction.
    package distributed func start(_ submission: Submission) async throws -> StartedJob {
        let end = ContinuousClock.now + Coordinator.startPatience
        let job = try await accept(submission, waiting: Coordinator.startPatience)
        if let other = try await elsewhere(job) {
            return StartedJob(
                job: job, batch: try await forward(job) { try await other.events(EventsRequest(job: job, from: 0)) })
        }
        while core.jobs[job]?.published.report == nil, ContinuousClock.now < end {
            await somethingHappens(job, atMost: end - .now)
        }
        await readHistory(of: job)
        return StartedJob(job: job, batch: try batch(EventsRequest(job: job, from: 0)))
    }

    /// How long `start` waits for the end of a new job before it answers: a moment that nobody notices.
    private static let startPatience = Duration.milliseconds(3)

    /// Stops a job and its attempts on all nodes. Has no effect on a job that has ended.
    ///
    /// - Throws: `RemoteError` where the cancellation cannot be stored now. The job is stopped then, but a restart would let it go
    ///   on.
    package distributed func cancel(_ job: JobID) async throws {
        if let other = try await elsewhere(job) { return try await forward(job) { try await other.cancel(job) } }
        updateCore { $0.cancel(job) }
        try await untilStored(core.writeAhead.lastEntry)
    }

    /// Forgets a job with its results. A job that still goes on is cancelled first.
    ///
    /// - Throws: `RemoteError` for a job that is not known here, and as `cancel` does.
    package distributed func delete(_ job: JobID) async throws {
        if let other = try await elsewhere(job) { return try await forward(job) { try await other.delete(job) } }
        guard core.jobs[job] != nil else { throw unknown(job) }
        fetched.forget(job)
        updateCore { $0.delete(job) }
        do {
            try await untilStored(core.writeAhead.lastEntry)
        } catch {
            guard let error = error as? RemoteError, error.kind == .failed else { throw error }
            guard await !deletesAhead(job) else { return }
            throw RemoteError(
                .failed, "job \(job) is deleted here, and elsewhere as soon as that can be stored: \(error.message)")
        }
    }

    /// Stores a deletion ahead of what waits to be stored on other nodes: they take it where they have no room for anything else.
    ///
    /// - Returns: whether it is stored.
    private func deletesAhead(_ job: JobID) async -> Bool {
        if core.writeAhead.deletedAhead.contains(job) { return true }
        let stored = try? await withDeadline(Coordinator.deletionPatience) { [store] in
            try await store.append([.deleted(job)], ran: nil)
        }
        guard stored != nil else { return core.writeAhead.deletedAhead.contains(job) }
        updateCore { $0.writeAhead.markDeletedAhead([job]) }
        return true
    }

    /// How long a deletion may take where nothing else can be stored.
    private static let deletionPatience = Duration.seconds(10)

    /// All jobs, the oldest first; for a person who is no operator, those that are theirs.
    package distributed func list() async -> [JobListing] {
        var others: [JobListing] = []
        // Those of coordinators that this node has taken over come too.
        if let copies, id.name == Coordinator.wellKnownName { others = await copies.listHere(but: id.name) }
        let found = others.isEmpty ? ownJobs() : (ownJobs() + others).sorted { $0.submitted < $1.submitted }
        guard let user = callingUser else { return found }
        return found.filter { $0.submitter == user }
    }

    /// One job's line in the list, whichever node has the job.
    ///
    /// - Throws: `RemoteError` for a job that is not known anywhere.
    package distributed func listing(_ job: JobID) async throws -> JobListing {
        if let other = try await elsewhere(job) { return try await forward(job) { try await other.listing(job) } }
        let copies = copyReport
        guard let record = core.jobs[job] else { throw unknown(job) }
        return listing(of: record, copies)
    }

    /// The coordinator that has a job that is not known here; `nil` if the job is known here, or nowhere.
    ///
    /// - Throws: `RemoteError` where the person who calls has nothing to do with the job, and where it may be one of those that are at
    ///   no node for now. All calls about a job begin here.
    package func elsewhere(_ job: JobID) async throws -> Coordinator? {
        if let record = core.jobs[job] {
            try permit(job, of: record.request.submitter)
            return nil
        }
        guard let copies else { return nil }
        var found = await copies.locate(job)
        if found == nil {
            if await copies.isAnyUnopened() { throw unopened(job) }
            // A coordinator may have begun to work after its node was asked for the job.
            found = await copies.locate(job)
        }
        guard let place = found else { return nil }
        let address = ActorAddress(node: place.node, name: place.actor)
        guard address != id, let other = try? Coordinator.resolve(id: address, using: actorSystem) else { return nil }
        // There, the call comes from this node. So it is here that the person's rights are looked at.
        if callingUser != nil {
            try permit(job, of: try await forward(job) { try await other.listing(job) }.submitter)
        }
        return other
    }

    /// - Parameter submitter: the person who submitted the job; `nil` where that was somebody with the cluster key.
    /// - Throws: `RemoteError` where a person calls who is not the submitter, and no operator either.
    private func permit(_ job: JobID, of submitter: String?) throws {
        guard let user = callingUser, user != submitter else { return }
        throw RemoteError(.notAllowed, "job \(job) is not \(user)'s; it takes an operator's credential")
    }

    /// Passes a call on to the coordinator that has the job. If that is lost, the job is nowhere for now: other nodes are about to
    /// take it over.
    package func forward<Value: Sendable>(
        _ job: JobID, _ call: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await call()
        } catch is TransportError {
            throw unopened(job)
        } catch let error as RemoteError where [.noSuchActor, .leaving].contains(error.kind) {
            throw unopened(job)
        }
    }

    /// Where the copies of this coordinator's journal are; `nil` where there are none.
    var copyReport: CopyReport? { store.replica.flatMap { copies?.report(of: $0) } }

    func ownJobs() -> [JobListing] {
        let copies = copyReport
        return core.jobs.order.compactMap { core.jobs[$0] }.map { listing(of: $0, copies) }
    }

    private func listing(of job: CoordinatedJob, _ copies: CopyReport?) -> JobListing {
        let report = job.published.report
        return JobListing(
            id: job.id, title: job.request.title, state: report?.state, priority: job.request.options.priority,
            reason: report == nil ? core.pauseReason(of: job) : report?.reason, status: status(of: job),
            submitted: job.stored.submitted, submitter: job.request.submitter, copies: copies)
    }

    /// What has become of the tasks of all jobs since the start, and whether nothing can be stored now.
    func work() -> (counts: TaskCounts, isPaused: Bool) { (core.jobs.counts, core.pauseReason != nil) }

    /// Whether a job goes on that has a node. One without may wait for ever, and needs nothing meanwhile.
    var isBusy: Bool {
        core.jobs.all.contains { $0.published.report == nil && core.dispatch.scheduler.hasNode(for: $0.id) }
    }

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

    /// The details of a job that its line in the list does not show.
    ///
    /// - Throws: `RemoteError` for a job that is not known here.
    package distributed func details(_ job: JobID) async throws -> JobDetails {
        if let other = try await elsewhere(job) { return try await forward(job) { try await other.details(job) } }
        guard core.jobs[job] != nil else { throw unknown(job) }
        let failures = try await withRemoteErrors { () async throws(JournalError) in
            try await journal.failures(of: job, count: Coordinator.failuresShown)
        }
        // The job may have been deleted meanwhile.
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
    package distributed func why(_ job: JobID) async throws -> JobExplanation {
        if let other = try await elsewhere(job) { return try await forward(job) { try await other.why(job) } }
        guard let explanation = core.explain(job, now: now) else { throw unknown(job) }
        return explanation
    }

    /// Largest number of failed tasks in the details of a job.
    private static let failuresShown = 20

    /// Drains a node, or resumes it.
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

    /// The events of a job since event `from`. Waits about a second where there are none yet.
    ///
    /// - Throws: `RemoteError` for a job that is not known here.
    package distributed func events(_ request: EventsRequest) async throws -> EventBatch {
        if let other = try await elsewhere(request.job) {
            return try await forward(request.job) { try await other.events(request) }
        }
        await readHistory(of: request.job)
        if try isQuiet(request) { await somethingHappens(request.job) }
        return try batch(request)
    }

    /// Reads the history of a job that had ended before this incarnation began: whoever watched it over a takeover or a restart may not
    /// have seen its last events.
    private func readHistory(of job: JobID) async {
        guard core.jobs.isUnread(job), let stored = core.jobs[job]?.stored else { return }
        let replay = try? await journal.replay(stored)
        updateCore { $0.jobs.readHistory(of: job, replay) }
    }

    /// Whether nothing has happened to a job that goes on. This is a function of its own and not part of `events`, because a job's
    /// history is copied when an event is added while somebody holds the job's record.
    private func isQuiet(_ request: EventsRequest) throws -> Bool {
        guard let record = core.jobs[request.job] else { throw unknown(request.job) }
        return record.log.nextNumber <= request.from && record.published.report == nil
    }

    private func batch(_ request: EventsRequest) throws -> EventBatch {
        guard let record = core.jobs[request.job] else { throw RemoteError(.failed, "job \(request.job) was deleted") }
        let events = record.log.events(from: request.from, count: 1000)
        var shown = Array(events)
        if request.wantsRestored != true { shown.removeAll { $0.number < record.log.firstOwn && $0.kind.isEndOfTask } }
        return EventBatch(
            events: shown, next: events.last.map { $0.number + 1 } ?? request.from, status: status(of: record),
            generation: core.dispatch.incarnation.generation, node: actorSystem.name)
    }

    /// All members, with the status of those that answer within a second.
    package distributed func nodes() async -> [NodeReport] {
        await NodeReport.collect(from: actorSystem, speeds: core.dispatch.scheduler.speeds(now: now))
    }

    /// The changes of the membership since the number in the request. Waits where there are none yet.
    package distributed func membership(_ request: MembershipRequest) async -> MembershipPage {
        await members.page(request, of: actorSystem)
    }

    /// The jobs that are at no node now, so that no list has them.
    package distributed func waiting() async -> [WaitingJobs] {
        guard let copies else { return [] }
        let user = callingUser
        return await copies.waitingJobs().map { jobs in
            var jobs = jobs
            // How many everybody has is not for those who see their own only.
            if user != nil { jobs.jobs = nil }
            return jobs
        }
    }

    /// How much the journal holds.
    ///
    /// - Throws: `RemoteError` where the journal cannot be read, and where a file of the data folder is gone.
    package distributed func storage() async throws -> JournalUsage {
        var usage = try await withRemoteErrors { () async throws(JournalError) in
            try copies?.book.checkFile()
            return try await journal.usage()
        }
        let report = copyReport
        (usage.copies, usage.copiesWanted) = (report?.copies, report?.wanted)
        usage.otherCopiesBytes = copies?.room.bytes(but: journal.incarnation.coordinator)
        usage.damagedCopies = copies?.room.damages
        usage.people = usageByPeople
        return usage
    }

    /// Turns an error of the journal into a `RemoteError`, so that a caller on another node learns what is wrong.
    func withRemoteErrors<Value: Sendable>(_ body: () async throws(JournalError) -> Value) async throws -> Value {
        do {
            return try await body()
        } catch {
            throw RemoteError(.failed, error.message)
        }
    }

    private func unopened(_ job: JobID) -> RemoteError {
        RemoteError(.failed, "\(RemoteError.unknownJob) \(job)\(RemoteError.unopenedJobs)")
    }

    func unknown(_ job: JobID) -> RemoteError {
        let lost = members.lost(from: actorSystem)
        let reason = lost.isEmpty ? "" : "\(RemoteError.outOfReach): \(LostMember.words(lost))"
        return RemoteError(.failed, "\(RemoteError.unknownJob) \(job)\(reason)")
    }

    // MARK: - Events of the core

    /// Passes one event to the core, and starts what follows from it.
    func updateCore(_ event: (inout CoordinatorCore) -> Void) {
        for output in core.at(now, wall: WallClock.milliseconds, event) {
            switch output {
            case .effect(let effect): effectsInput.yield(effect)
            case .published(let job):
                watchers.removeValue(forKey: job)?.open()
                if let report = core.jobs[job]?.published.report { logEnd(of: job, report) }
            case .refused(let node, WorkBook.Rejection.superseded.description) where store.replica != nil:
                // Another node has taken the jobs over, and this coordinator is about to hear of it.
                logger.info("a node works for the next coordinator of these jobs", metadata: ["node": "\(node)"])
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

    /// The feed of members begins, or begins again. Members that left while nobody listened are reported as lost.
    func membershipBegins(with members: Set<NodeID>) {
        for node in core.dispatch.unheard(members) { membershipChanged(.lost(node)) }
    }

    func membershipChanged(_ event: MembershipEvent) {
        switch event {
        case .joined(let member), .back(let member):
            updateCore {
                $0.joined(
                    member.node, name: member.name, arithmetic: member.arithmetic.map { Arithmetic($0) },
                    isDraining: member.isDraining)
            }
        case .lost(let node), .left(let node):
            updateCore { $0.lost(node) }
        case .draining(let node, let isDraining):
            updateCore { $0.draining(node, isDraining) }
        case .suspect:
            break
        }
    }

    /// Carries out the effects until it is cancelled. This node's own slots count like those of any other node.
    package func run() async {
        updateCore { [actorSystem] in
            $0.joined(
                actorSystem.node, name: actorSystem.name, isDraining: actorSystem.ownMember.isDraining)
        }
        await CoordinatorEffects(
            coordinator: self, system: actorSystem, store: store, proof: journal.proof(from: actorSystem.node)
        ).run(effects)
    }

    // MARK: - Watchers

    /// - Throws: `RemoteError` where nothing can be stored at present. It is of the kind `cancelled` where nothing ever will be, because
    ///   the node stops or another one goes on: whoever asks again finds the job there, or begins it.
    private func untilStored(_ entry: UInt64, waiting wait: Duration? = nil) async throws {
        guard core.writeAhead.lastStored < entry else { return }
        if !isClosed {
            let latch = Latch()
            storeWaiters.append((entry, latch))
            if let wait { await latch.wait(atMost: wait) }
            if !latch.isOpen {
                updateCore { $0.hurry() }
                await latch.wait()
            }
        }
        guard core.writeAhead.lastStored < entry else { return }
        throw RemoteError(
            isClosed || isSuperseded ? .cancelled : .failed,
            "it cannot be stored: \(core.pauseReason ?? "the node is stopping")")
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
            paused: record.published.report == nil ? core.pauseReason(of: record) : nil)
    }
}
