import Base
import NIOCore
import Transport

/// The jobs of a coordinator, as a value. It holds those that go on and those that have ended, with their tokens and deadlines, and
/// applies results to their plans. Times count from the coordinator's start.
struct CoordinatedJobs {
    /// All jobs, in the order of their submission.
    private(set) var order: [JobID] = []
    /// The number of jobs that go on.
    private(set) var activeCount = 0
    /// The jobs whose end has been published.
    private(set) var ended = EndedJobs()
    /// The task counts of all jobs of this incarnation.
    private(set) var counts = TaskCounts()
    /// What each person's jobs take.
    private(set) var quotas = QuotaBook()
    private var records: [JobID: CoordinatedJob] = [:]
    private var byToken: [String: JobID] = [:]
    private var deadlines: [(due: Duration, job: JobID)] = []
    /// The jobs that have ended and whose plans still have their results, the oldest first: whoever watched a job to its end fetches
    /// them next, and they need not be read from the journal for that.
    private var unfetched: [JobID] = []
    /// The ended jobs whose histories were read from the journal, because somebody asked for them, the oldest first.
    private var readHistories: [JobID] = []
    /// How long all earlier incarnations of the coordinator ran together.
    let ranBefore: Duration

    /// Largest number of jobs that may go on at one time. Each takes some kilobytes of memory, and a place in the journal.
    static let activeLimit = 100_000
    /// Longest age of a job that is shown. A job may seem older than the program if the clock was wrong when it was submitted.
    private static let longestAge = Duration.seconds(3650 * 86_400)
    /// Largest size in bytes of a stored result that its plan does not need.
    private static let meaninglessLimit = 64

    /// The most results that plans of jobs that have ended have together, in jobs and stored bytes.
    static let unfetchedLimit = (jobs: 64, bytes: 32 << 20)

    /// The most histories of ended jobs that are read from the journal and kept.
    private static let readHistoriesLimit = 8

    init(ranBefore: Duration) { self.ranBefore = ranBefore }

    subscript(job: JobID) -> CoordinatedJob? { records[job] }

    var count: Int { records.count }

    /// The job that was submitted with a token.
    func job(withToken token: String) -> JobID? { byToken[token] }

    /// All jobs, in no particular order.
    var all: some Collection<CoordinatedJob> { records.values }

    /// The earliest deadline. It may be that of a job that has ended.
    var nextDeadline: Duration? { deadlines.first?.due }

    /// What an attempt must have been made for to count; `nil` where its task was not issued.
    func question(of attempt: AttemptID) -> AttemptReceipts.Question? {
        guard let record = records[attempt.job], let basis = record.basis[attempt.task.index] else { return nil }
        return AttemptReceipts.Question(basis: basis, since: record.stored.resultsSince)
    }

    // MARK: - Beginning

    /// The outcome of a submission.
    enum Admission {
        case new(StoredJob)
        /// The submission has the token of this earlier job.
        case known(JobID)
    }

    /// Accepts a job. A submission with a known token is not accepted again.
    ///
    /// - Parameters:
    ///   - isUser: whether the submitter is a user, who has limits even where the credential has none.
    ///   - other: what the submitter's jobs take at other coordinators of this node.
    /// - Throws: `SkyError` where the token is that of another job, where the submitter's jobs store too much, and where the request
    ///   cannot be written down. `PassingRefusal` where too many jobs go on.
    mutating func submit(
        _ request: JobRequest, token: String?, as id: JobID, isUser: Bool = false, beside other: PersonUsage? = nil,
        now: Duration, wall: UInt64
    ) throws -> Admission {
        let encoded = try JournalText.encode(request)
        if let token, let known = byToken[token] {
            // The earlier request is encoded again. The text of a job that was read from the journal is not kept, and an earlier
            // version may have encoded it.
            // A person may have got another credential with other limits meanwhile.
            var earlier = records[known]?.request
            earlier?.limits = request.limits
            guard let earlier, try JournalText.encode(earlier) == encoded else {
                throw SkyError(.badInput, "the token belongs to job \(known), which was asked for something else")
            }
            return .known(known)
        }
        guard activeCount < CoordinatedJobs.activeLimit else {
            throw PassingRefusal(.jobs, "\(activeCount) jobs go on; another is taken when some of them have ended")
        }
        let refusal = quotas.refusal(
            of: request, bytes: encoded.count, isUser: isUser, beside: other,
            largest: { largestJob(of: request.submitter) })
        if let refusal { throw refusal }
        var stored = StoredJob(id: id, token: token, request: request, submitted: wall)
        stored.submittedRun = ranBefore + now
        var job = CoordinatedJob(stored: stored, submittedAt: now, plan: request.kind.request.plan())
        // Only the entry in the journal needs the text. A large request would take twice its memory as long as there is the job.
        stored.encodedRequest = encoded
        if request.submitter != nil {
            job.requestBytes = encoded.count
            job.bytes = StoredJob.rowBytes + encoded.count
        }
        insert(job, now: now)
        return .new(stored)
    }

    /// The job of a person of which most is stored. It looks at all jobs, for somebody who has to delete some.
    private func largestJob(of person: String?) -> (job: JobID, bytes: Int)? {
        records.values.filter { $0.request.submitter == person }
            .max { ($0.bytes, $0.id) < ($1.bytes, $1.id) }.map { ($0.id, $0.bytes) }
    }

    /// Takes a job over from an earlier incarnation, with what was stored of it.
    ///
    /// - Parameter replay: the job's plan after all results that are stored.
    mutating func restore(_ stored: StoredJob, _ replay: JobReplay, now: Duration, wall: UInt64) {
        // The age is only shown to people. It is measured by the machine's clock, which may have been set since.
        let age = min(
            Duration.milliseconds(Int64(clamping: wall >= stored.submitted ? wall - stored.submitted : 0)),
            CoordinatedJobs.longestAge)
        var job = CoordinatedJob(stored: stored, submittedAt: now - age, plan: replay.plan)
        (job.published, job.decided) = (replay.published, replay.published)
        (job.issued, job.basis) = (replay.tasks, replay.basis)
        job.isRisky = replay.isRisky
        job.resultBytes = replay.bytes
        if job.request.submitter != nil {
            job.requestBytes = (try? JournalText.encode(job.request).count) ?? 0
            // Of a job that has ended, only the report is read. It says how many bytes there are.
            job.bytes = stored.report?.bytes ?? StoredJob.rowBytes + job.requestBytes + replay.bytes
        }
        if let report = stored.report {
            job.report = report
            job.published.report = report
            // Earlier versions did not store when a job ended. Such jobs are kept as if they had ended now.
            ended.insert(stored.id, endedAt: stored.endedRun.map { $0 - ranBefore } ?? now)
            job.log = EventLog(unread: report)
        } else {
            job.log = replay.log(at: age)
        }
        insert(job, now: now)
    }

    /// Whether what is known of a job's history is in the journal only.
    func isUnread(_ job: JobID) -> Bool { records[job]?.log.isUnread ?? false }

    /// The history of an ended job was read from the journal.
    ///
    /// - Parameter replay: the job's plan after everything that is stored; `nil` where that cannot be read, and nothing but the end is
    ///   shown.
    mutating func readHistory(of job: JobID, _ replay: JobReplay?) {
        guard let report = records[job]?.report, isUnread(job) else { return }
        var log = replay?.log(at: report.duration) ?? EventLog()
        log.append(.ended(report), time: report.duration)
        log.markRestored()
        records[job]?.log = log
        readHistories.append(job)
        guard readHistories.count > CoordinatedJobs.readHistoriesLimit else { return }
        let oldest = readHistories.removeFirst()
        if let report = records[oldest]?.report { records[oldest]?.log = EventLog(unread: report) }
    }

    private mutating func insert(_ job: CoordinatedJob, now: Duration) {
        records[job.id] = job
        order.append(job.id)
        quotas.insert(
            job.id, job.request, bytes: job.bytes, requestBytes: job.requestBytes, isActive: job.isActive)
        if let token = job.stored.token { byToken[token] = job.id }
        guard job.isActive else { return }
        activeCount += 1
        guard let deadline = job.request.deadline else { return }
        // Time in which the coordinator did not run does not count. A clock that was set while the node was down must not end jobs.
        let due = (job.stored.submittedRun.map { $0 - ranBefore } ?? now) + deadline
        deadlines.insert((due, job.id), at: deadlines.firstIndex { $0.due > due } ?? deadlines.endIndex)
    }

    /// Asks a new job's plan for its first tasks.
    mutating func beginPlan(of job: JobID) -> PlanStep? { records[job]?.plan.begin() }

    // MARK: - Ending

    /// The next job that still goes on after its deadline, with that deadline. Each job is returned once.
    mutating func nextOverdue(now: Duration) -> (job: JobID, deadline: Duration)? {
        while let first = deadlines.first, first.due <= now {
            deadlines.removeFirst()
            guard let job = records[first.job], job.isActive, let deadline = job.request.deadline else { continue }
            return (first.job, deadline)
        }
        return nil
    }

    /// Notes why a job is about to be given up.
    mutating func abort(_ job: JobID, _ reason: SkyError) { records[job]?.abort = reason }

    /// Makes the report of a job that the scheduler has ended. The report is published when it is stored.
    ///
    /// - Returns: `nil` for a job that is not known or has ended before.
    mutating func end(_ job: JobID, _ outcome: JobOutcome, now: Duration, wall: UInt64) -> JobReport? {
        guard let record = records[job], record.isActive else { return nil }
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
            duration: now - record.submittedAt, nodes: record.decided.shares(), cached: record.decided.cached,
            work: record.work.list, bytes: record.request.submitter == nil ? nil : record.bytes)
        records[job]?.report = report
        activeCount -= 1
        quotas.end(job, requestBytes: record.requestBytes, of: record.request.submitter)
        records[job]?.stored.ended = wall
        records[job]?.uncommitted = [:]
        records[job]?.work = JobWork()
        if state == .done, record.plan.needsResults { unfetched.append(job) } else { records[job]?.plan.release() }
        var bytes = unfetched.reduce(0) { $0 + (records[$1]?.resultBytes ?? 0) }
        let limit = CoordinatedJobs.unfetchedLimit
        while let oldest = unfetched.first, unfetched.count > limit.jobs || bytes > limit.bytes {
            bytes -= records[oldest]?.resultBytes ?? 0
            records[oldest]?.plan.release()
            unfetched.removeFirst()
        }
        return report
    }

    /// The plan of a job that has ended, with its results, which it has once only; `nil` where they have to be read from the journal.
    mutating func takeResults(of job: JobID) -> (any JobPlan)? {
        guard let place = unfetched.firstIndex(of: job) else { return nil }
        unfetched.remove(at: place)
        defer { records[job]?.plan.release() }
        return records[job]?.plan
    }

    /// Releases all results of jobs that have ended.
    mutating func releaseResults() {
        for job in unfetched { records[job]?.plan.release() }
        unfetched = []
    }

    /// Forgets a job. The job must have ended.
    ///
    /// - Returns: whether the job was known.
    mutating func remove(_ job: JobID) -> Bool {
        guard let record = records.removeValue(forKey: job) else { return false }
        if let place = order.firstIndex(of: job) { order.remove(at: place) }
        ended.remove(job)
        unfetched.removeAll { $0 == job }
        readHistories.removeAll { $0 == job }
        if record.isActive { quotas.end(job, requestBytes: record.requestBytes, of: record.request.submitter) }
        quotas.remove(record.bytes, of: record.request.submitter)
        if let token = record.stored.token { byToken[token] = nil }
        return true
    }

    /// Somebody fetches results of a job.
    mutating func use(_ job: JobID, now: Duration) { ended.use(job, now: now) }

    // MARK: - Tasks of a plan

    /// Numbers the tasks of a plan's next step.
    mutating func issue(_ step: PlanStep, of job: JobID) -> Range<Int> {
        let first = records[job]?.issued ?? 0
        if step.newTasks > 0 { records[job]?.basis.issue(from: first) }
        records[job]?.issued = first + step.newTasks
        return first..<first + step.newTasks
    }

    /// Begins to look up the tasks of a step among earlier results. A plan issues its next tasks when these are done, so there is
    /// one search at a time.
    mutating func beginSearch(for tasks: Range<Int>, of job: JobID, isLast: Bool) {
        records[job]?.search = CoordinatedJob.Search(next: tasks.lowerBound, end: tasks.upperBound, isLast: isLast)
    }

    /// Takes what was found among earlier results for the next tasks of a search.
    ///
    /// - Returns: the tasks that earlier results answer, and whether the job gets no more tasks; `nil` where there is no search for
    ///   these tasks.
    mutating func takeFound(
        _ found: [TaskID: ByteBuffer], for tasks: Range<Int>, of job: JobID, generation: UInt64
    ) -> (answered: [TaskID], isLast: Bool)? {
        guard let record = records[job], record.isActive, let search = record.search, search.contains(tasks) else {
            return nil
        }
        let isDone = tasks.upperBound >= search.end
        records[job]?.search?.next = tasks.upperBound
        if isDone { records[job]?.search = nil }
        var answered: [TaskID] = []
        for (task, payload) in found.sorted(by: { $0.key < $1.key }) {
            // A result that the plan does not accept counts as not found.
            guard let result = try? WireCoder.decode(TaskResult.self, from: payload),
                record.plan.accepts(task.index, result)
            else { continue }
            let attempt = AttemptID(job: job, task: task, number: 0, generation: generation)
            let stored = StoredResult(job: job, task: task, node: "", duration: .zero, payload: payload)
            records[job]?.uncommitted[attempt] = CoordinatedJob.Uncommitted(stored: stored, value: result)
            answered.append(task)
        }
        return (answered, isDone && search.isLast)
    }

    /// The affinity of tasks: for each, the earlier task whose node already has what it needs.
    func affinity(of tasks: Range<Int>, in job: JobID) -> [TaskID: TaskID] {
        guard let plan = records[job]?.plan, plan.needsResults else { return [:] }
        return tasks.reduce(into: [:]) { affinity, task in
            affinity[TaskID(task)] = plan.affinity(task).map { TaskID($0) }
        }
    }

    /// The name of a task that people see.
    func label(_ job: JobID, _ task: TaskID) -> String {
        records[job]?.plan.label(task.index) ?? "task \(task.index + 1)"
    }

    // MARK: - Results

    /// How a job judges the result of an attempt.
    enum Verdict {
        /// The result is kept until the scheduler says whether it counts.
        case kept
        /// The result cannot be decoded here, or it is not comparable with the other results of the job.
        case unusable
        /// The result does not answer the task.
        case wrong
    }

    /// Keeps the result of an attempt until it is committed.
    ///
    /// - Parameters:
    ///   - stages: how long the attempt spent in each stage of its work; `nil` if that is not known.
    ///   - isComparable: whether the node's results are comparable with those of this node.
    mutating func keep(
        _ payload: ByteBuffer, of attempt: AttemptID, took duration: Duration, stages: StageTimes? = nil,
        isComparable: Bool
    ) -> Verdict {
        var result = CoordinatedJob.Uncommitted(
            stored: StoredResult(job: attempt.job, task: attempt.task, node: "", duration: duration, payload: payload),
            stages: stages)
        if records[attempt.job]?.plan.needsResults == true {
            result.value = isComparable ? try? WireCoder.decode(TaskResult.self, from: payload) : nil
            guard let value = result.value else { return .unusable }
            // If the task is done already, the result of another attempt does not matter.
            guard records[attempt.job]?.plan.accepts(attempt.task.index, value) != false else { return .wrong }
        } else if payload.readableBytes > CoordinatedJobs.meaninglessLimit {
            // The plan does not need the payload. The result is stored without it.
            result.stored.payload = ByteBuffer()
        }
        records[attempt.job]?.uncommitted[attempt] = result
        return .kept
    }

    /// Drops the result of an attempt, if it has not been committed.
    mutating func drop(_ attempt: AttemptID) { records[attempt.job]?.uncommitted[attempt] = nil }

    /// Commits a result that counts. Returns the form in which it is stored, and the value for the plan.
    ///
    /// - Parameters:
    ///   - name: the name of the node that delivered it; not used for an earlier result from the cache.
    ///   - slots: how many slots the coordinator has there.
    /// - Returns: `nil` where no such result has arrived.
    mutating func commit(
        _ attempt: AttemptID, by name: String, slots: Int = 0
    ) -> (stored: StoredResult, value: TaskResult?)? {
        let (job, task) = (attempt.job, attempt.task)
        guard let result = records[job]?.uncommitted.removeValue(forKey: attempt) else { return nil }
        let isCached = attempt.number == 0
        var stored = result.stored
        if !isCached {
            stored.node = name
            records[job]?.work.add(stored.duration, result.stages, on: name, slots: slots)
        }
        let payload = result.value == nil ? 0 : stored.payload.readableBytes
        records[job]?.resultBytes += payload
        add(StoredResult.rowBytes + payload, to: job)
        records[job]?.decided.complete(by: stored.node)
        if isCached { counts.cached += 1 } else { counts.completed += 1 }
        if !isCached, result.value != nil { stored.cacheKey = records[job]?.plan.cacheKey(task.index) }
        return (stored, result.value)
    }

    /// Passes a result that counts to the job's plan.
    mutating func advancePlan(of job: JobID, _ stored: StoredResult, _ value: TaskResult) -> PlanStep? {
        records[job]?.plan.ran(stored.task.index, value, on: stored.node, took: stored.duration)
        records[job]?.basis.complete(stored.task.index, stored.payload)
        return records[job]?.plan.completed(stored.task.index, value)
    }

    /// Records that a task failed because of its input.
    mutating func markBadInput(_ attempt: AttemptID) { records[attempt.job]?.badInput.insert(attempt.task.index) }

    /// Records that a task has failed for good.
    ///
    /// - Returns: the failure as it is stored, and the step of the plan that follows; `nil` where the job is not known.
    mutating func fail(
        _ job: JobID, _ task: TaskID, _ reason: String
    ) -> (stored: StoredFailure, step: PlanStep)? {
        let isBadInput = records[job]?.badInput.contains(task.index) ?? false
        let reason = (records[job]?.plan.consequence(ofFailed: task.index).map { "\(reason); \($0)" } ?? reason)
        guard let step = records[job]?.plan.failed(task.index, reason, isBadInput: isBadInput) else { return nil }
        records[job]?.basis.fail(task.index)
        records[job]?.decided.failed += 1
        counts.failed += 1
        let failure = StoredFailure(task: task, reason: reason, isBadInput: isBadInput)
        add(failure.byteCount, to: job)
        return (failure, step)
    }

    private mutating func add(_ bytes: Int, to job: JobID) {
        guard let person = records[job]?.request.submitter else { return }
        records[job]?.bytes += bytes
        quotas.add(bytes, of: person)
    }

    /// The jobs that get no slots from now on because of their person's limit, and those that get some again.
    mutating func takeQuotaChanges() -> [QuotaBook.Change] { quotas.takeChanges() }

    /// Why a job alone goes beyond what its person may store; `nil` where it does not.
    func excess(of job: JobID) -> SkyError? {
        guard let record = records[job], let person = record.request.submitter,
            let limit = record.request.limits?.bytes, record.bytes >= limit
        else { return nil }
        return QuotaBook.reason(alone: record.bytes, limit, of: person)
    }

    /// The number of failed tasks that a job allows, if more have failed; otherwise `nil`.
    func exceededFailures(_ job: JobID) -> Int? {
        guard let job = records[job], let allowed = job.request.allowedFailures, job.decided.failed > allowed else {
            return nil
        }
        return allowed
    }

    /// Counts another attempt after one that failed.
    mutating func countRetry() { counts.retries += 1 }

    // MARK: - Publishing

    /// Publishes an event of a job, after it has been stored.
    ///
    /// - Returns: whether the job is known here.
    mutating func publish(_ event: JobEvent.Kind, of job: JobID, task: Int? = nil, at time: Duration) -> Bool {
        guard let submitted = records[job]?.submittedAt else { return false }
        switch event {
        case .completed(_, let node):
            records[job]?.published.complete(by: node)
        case .failed: records[job]?.published.failed += 1
        case .retrying: records[job]?.published.retries += 1
        case .ended(let report):
            records[job]?.published.report = report
            ended.insert(job, endedAt: time)
        case .special: break
        }
        records[job]?.log.append(event, of: task, time: time - submitted)
        return true
    }
}
