import Base
import Transport

/// What the jobs of each person take at one coordinator, beside what their credentials allow. It is a value, and knows only jobs that
/// somebody with a credential submitted.
///
/// A job that is withheld gets no new slots, because the person's jobs store as many bytes as that job's credential allows. It goes on
/// when some of them are deleted. That is how all jobs wait where the journal is full.
struct QuotaBook {
    /// A job gets no slots from now on, or gets some again.
    struct Change: Equatable {
        var job: JobID
        var isWithheld: Bool
    }

    private struct Record {
        var usage: PersonUsage
        /// About how many bytes the requests of the jobs take that go on.
        var requests = 0
        /// The jobs that go on and whose credential limits the bytes, each with that limit.
        var limited: [JobID: Int] = [:]
        var withheld: Set<JobID> = []
        /// The number of bytes at which the next job is withheld.
        var next: Int?
    }

    /// What the jobs of a user may take that go on, where their credential does not say it: enough for a night of ten thousand images with
    /// requests of some kilobytes each, and little enough that nobody fills a node's memory by mistake. A request takes about twice its
    /// bytes there.
    static let defaults = (jobs: 10_000, requests: 32 << 20)

    private var records: [String: Record] = [:]
    private var changes: [Change] = []

    /// What the jobs of each person take, in the order of names.
    var usages: [PersonUsage] { records.values.map(\.usage).sorted { $0.name < $1.name } }

    func usage(of person: String) -> PersonUsage { records[person]?.usage ?? PersonUsage(person) }

    func isWithheld(_ job: JobID, of person: String?) -> Bool {
        person.flatMap { records[$0] }?.withheld.contains(job) ?? false
    }

    /// The jobs that are withheld from now on, and those that are not any more. Each change is returned once.
    mutating func takeChanges() -> [Change] {
        guard !changes.isEmpty else { return [] }
        defer { changes = [] }
        return changes
    }

    // MARK: - Jobs

    /// Takes in a job.
    ///
    /// - Parameters:
    ///   - bytes: about how many bytes are stored of it.
    ///   - requestBytes: how many of them are its request.
    mutating func insert(_ job: JobID, _ request: JobRequest, bytes: Int, requestBytes: Int, isActive: Bool) {
        guard let person = request.submitter else { return }
        var record = records[person] ?? Record(usage: PersonUsage(person))
        record.usage.jobs += 1
        if isActive {
            record.usage.active += 1
            record.requests += requestBytes
            if let limit = request.limits?.bytes {
                record.limited[job] = limit
                record.next = min(record.next ?? limit, limit)
            }
        }
        records[person] = record
        add(bytes, of: person)
    }

    /// So many more bytes are stored of a person's jobs.
    mutating func add(_ bytes: Int, of person: String?) {
        guard let person, let record = records.index(forKey: person) else { return }
        records.values[record].usage.bytes += bytes
        if let next = records.values[record].next, records.values[record].usage.bytes >= next { look(at: person) }
    }

    /// A job has ended. What is stored of it stays.
    mutating func end(_ job: JobID, requestBytes: Int, of person: String?) {
        guard let person, records[person] != nil else { return }
        records[person]?.usage.active -= 1
        records[person]?.requests -= requestBytes
        records[person]?.limited[job] = nil
        records[person]?.withheld.remove(job)
    }

    /// A job that has ended is deleted, with everything that is stored of it.
    mutating func remove(_ bytes: Int, of person: String?) {
        guard let person, let record = records[person] else { return }
        records[person]?.usage.jobs -= 1
        records[person]?.usage.bytes -= bytes
        if record.usage.jobs <= 1 { records[person] = nil } else { look(at: person) }
    }

    /// Decides which of a person's jobs are withheld.
    private mutating func look(at person: String) {
        guard var record = records[person], !record.limited.isEmpty else { return }
        record.next = nil
        for (job, limit) in record.limited.sorted(by: { $0.key < $1.key }) {
            let isWithheld = record.usage.bytes >= limit
            if !isWithheld { record.next = min(record.next ?? limit, limit) }
            let isNew = isWithheld ? record.withheld.insert(job).inserted : record.withheld.remove(job) != nil
            if isNew { changes.append(Change(job: job, isWithheld: isWithheld)) }
        }
        records[person] = record
    }

    // MARK: - At the door

    /// Why a person may not submit a job now; `nil` where they may.
    ///
    /// - Parameters:
    ///   - bytes: how many bytes the request takes.
    ///   - isUser: whether the person is a user, who has limits even where the credential has none.
    ///   - other: what the person's jobs take at other coordinators of this node.
    ///   - largest: the person's job of which most is stored.
    func refusal(
        of request: JobRequest, bytes: Int, isUser: Bool, beside other: PersonUsage?,
        largest: () -> (job: JobID, bytes: Int)?
    ) -> (any Error)? {
        guard let person = request.submitter else { return nil }
        let limits = request.limits ?? PersonalLimits()
        var used = usage(of: person)
        if let other { used += other }
        if let limit = limits.jobs ?? (isUser ? QuotaBook.defaults.jobs : nil), used.active >= limit {
            return PassingRefusal(
                .jobs,
                "\(person) may have \(QuotaBook.count(limit, "job")) at once, and \(used.active) \(used.active == 1 ? "goes" : "go") on; "
                    + "another is taken when one of them has ended"
                    + (limits.jobs == nil ? ", or with a credential that allows more (key issue --jobs)" : ""))
        }
        let requests = (records[person]?.requests ?? 0) + bytes
        if isUser, limits.bytes == nil, requests > QuotaBook.defaults.requests {
            let limit = QuotaBook.size(QuotaBook.defaults.requests)
            let words =
                "the requests of \(person)'s jobs that go on may take \(limit), and would take \(QuotaBook.size(requests)); "
            let advice = "where it names fewer nodes, or with a credential with a limit of its own (key issue --bytes)"
            guard bytes <= QuotaBook.defaults.requests else {
                return SkyError(.failed, words + "it is taken \(advice)")
            }
            return PassingRefusal(.jobs, words + "it is taken when some of them have ended, \(advice)")
        }
        if let limit = limits.bytes, used.bytes >= limit {
            let hint = largest().map { " (the largest is \($0.job), \(QuotaBook.size($0.bytes)))" } ?? ""
            return SkyError(.failed, "\(QuotaBook.full(person, used.bytes, limit)); delete some of them\(hint)")
        }
        return nil
    }

    /// Why a job is withheld, as text for a person; `nil` where it is not.
    func reason(_ job: JobID, _ request: JobRequest) -> String? {
        guard let person = request.submitter, let limit = request.limits?.bytes, isWithheld(job, of: person) else {
            return nil
        }
        return "\(QuotaBook.full(person, usage(of: person).bytes, limit)); delete some of them"
    }

    /// Why a job can never end within a person's limit.
    static func reason(alone bytes: Int, _ limit: Int, of person: String) -> SkyError {
        SkyError(
            .failed,
            "what is stored of it alone takes \(size(bytes)), and the jobs of \(person) may store \(size(limit)) here")
    }

    private static func full(_ person: String, _ bytes: Int, _ limit: Int) -> String {
        "the jobs of \(person) store \(size(bytes)) here, and may store \(size(limit))"
    }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    /// A number of bytes for people. Limits for trials are small, so it is not in MiB always.
    private static func size(_ bytes: Int) -> String {
        bytes < 10 << 10 ? "\(bytes) bytes" : bytes < 10 << 20 ? "\(bytes >> 10) KiB" : "\(bytes >> 20) MiB"
    }
}
