import Base
import SkyCore
import Transport

/// The jobs of the nodes that were asked, and what is missing among them, as a value. Every command that lists or names jobs finds
/// them here.
struct KnownJobs: Sendable {
    struct Entry: Sendable {
        /// The node that lists the job.
        var member: Member
        var job: JobListing
    }

    /// A node whose jobs are not known now.
    struct Missing: Sendable {
        var node: String
        var silence: WholeCluster.Silence
    }

    /// The jobs, the oldest first.
    private(set) var entries: [Entry] = []
    /// How many nodes were asked.
    let nodeCount: Int
    private(set) var missing: [Missing] = []
    /// Jobs that are at no node now.
    let waiting: [WaitingJobs]
    /// Nodes that were lost: another node has the jobs that they had, as far as there are copies. Those that they took since are nowhere
    /// else.
    private let lost: [LostMember]
    /// How long ago the last of them was lost.
    private let lostAge: Duration
    /// Whether one node was asked only, as the person wants it.
    let isHere: Bool

    /// Jobs that an error names.
    private static let named = 3
    /// How long a node that was lost may be on its way back.
    private static let returnTime = Duration.seconds(20)

    /// - Parameters:
    ///   - answers: what each node of the cluster answered, or that it did not. A node that is left out is taken for one that is not
    ///     there.
    ///   - isHere: whether only one node was to be asked.
    init(_ answers: WholeCluster.Answers<[JobListing]>, waiting: [WaitingJobs] = [], isHere: Bool = false) {
        (nodeCount, self.isHere) = (answers.nodes.count, isHere)
        var found: [JobID: Entry] = [:]
        var order: [JobID] = []
        for answer in answers.nodes {
            switch answer.result {
            case .success(let jobs):
                for job in jobs {
                    let entry = Entry(member: answer.member, job: job)
                    guard let known = found.updateValue(entry, forKey: job.id) else {
                        order.append(job.id)
                        continue
                    }
                    // A coordinator that was taken over may list its jobs until it hears of that.
                    if known.job.copies?.term ?? 0 >= job.copies?.term ?? 0 { found[job.id] = known }
                }
            case .failure(let silence):
                missing.append(Missing(node: PrintableText.of(answer.member.name), silence: silence))
            }
        }
        // Of two jobs of the same millisecond, the later one in a node's list is the newer one.
        entries = order.enumerated().compactMap { offset, id in found[id].map { ($0, offset) } }
            .sorted { ($0.0.job.submitted, $0.1) < ($1.0.job.submitted, $1.1) }.map(\.0)
        let silent = Set(missing.map(\.node))
        // What is missing of a node that was asked itself is said once.
        self.waiting = waiting.filter { !silent.contains(PrintableText.of($0.node)) }
        unopened = waiting.filter { silent.contains(PrintableText.of($0.node)) }
        let waitingNodes = Set(waiting.map(\.node))
        lost = answers.lost.filter { !waitingNodes.contains($0.name) }
        lostAge = lost.map { answers.uptime - $0.since }.min() ?? .zero
    }

    /// The jobs that wait at nodes that say themselves that they show none.
    private let unopened: [WaitingJobs]

    /// Whether these are all jobs that there are.
    var isComplete: Bool { !isAwaited && lost.isEmpty }

    /// Whether jobs are missing that can be waited for, unlike those that only a lost node has.
    private var isAwaited: Bool { !missing.isEmpty || !waiting.isEmpty }

    /// What is missing, a line for each node, with what to do.
    var lines: [String] {
        missing.map { missing in
            let advice = missing.silence.isUnopened ? "" : "; skynode doctor looks for the reason"
            return "the jobs of \(missing.node) are missing: \(missing.silence.reason)\(advice)"
        } + absentLines
    }

    /// As `lines`, of the jobs that are at no node that was asked.
    var absentLines: [String] { waiting.map(\.words) + (lostLine.map { [$0] } ?? []) }

    private var lostLine: String? {
        guard !lost.isEmpty else { return nil }
        let age = DurationText.ago(lostAge.inSeconds)
        let (when, have, are) =
            lost.count == 1 ? (age, "it has", "it is") : ("the last one \(age)", "they have", "they are")
        return "\(LostMember.words(lost)) (\(when)): jobs that only \(have) are missing until \(are) back"
    }

    /// Whether what is missing stays so until a person does something.
    private var needsWord: Bool {
        lost.isEmpty
            && missing.allSatisfy { missing in
                unopened.contains { PrintableText.of($0.node) == missing.node && $0.needsWord }
            } && waiting.allSatisfy(\.needsWord)
    }

    // MARK: - One job

    /// The job that is meant.
    ///
    /// - Throws: `CommandFailure` where there is none, or more; it names those that there are. `JobUnknownNow` where it may be among
    ///   those that are missing.
    func find(_ text: String) throws -> Entry {
        if text == JobReference.last {
            try checkIsNewestKnown("the newest job is not known")
            guard let newest = entries.last else {
                try check("no job is known")
                throw CommandFailure(.usage, isHere ? "this node has no jobs" : "there are no jobs")
            }
            return newest
        }
        let digits = text.lowercased()
        let found = digits.isEmpty ? [] : entries.filter { $0.job.id.description.hasPrefix(digits) }
        guard let entry = found.first else {
            try check("there is no job \(PrintableText.of(text)) at the nodes that answer")
            throw CommandFailure(.usage, "there is no job \(PrintableText.of(text)); \(advice)")
        }
        guard found.count == 1 else {
            let ids = found.reversed().prefix(KnownJobs.named).map { "\($0.job.id)" }.joined(separator: ", ")
            throw CommandFailure(
                .usage,
                "\(found.count) jobs begin with \(PrintableText.of(text)): \(ids)"
                    + "\(found.count > KnownJobs.named ? ", ..." : ""); write more of the id")
        }
        return entry
    }

    /// As `find`, for what is to be stopped, deleted or left without copies: where jobs are missing, also those that only a lost node
    /// has, another one may begin with the same digits, or be newer.
    func findForSure(_ text: String) throws -> Entry {
        let entry = try find(text)
        guard isComplete || text.lowercased() == entry.job.id.description else {
            let doubt =
                text == JobReference.last
                ? "there may be a newer job" : "other jobs may begin with \(PrintableText.of(text)), too"
            throw CommandFailure(
                .noCluster,
                "\(doubt): \(lines.joined(separator: "; ")); name the job by its whole id, \(entry.job.id)")
        }
        return entry
    }

    /// Checks that the newest of these jobs is the newest of all, as far as nodes are there: another one would be a wrong answer. What a
    /// lost node has taken since cannot be waited for.
    ///
    /// - Throws: `JobUnknownNow` where it may be one of those that are missing.
    func checkIsNewestKnown(_ words: String) throws {
        guard isAwaited else { return }
        throw JobUnknownNow(
            message: "\(words), name the job by its id: \(lines.joined(separator: "; "))", needsWord: needsWord)
    }

    /// - Throws: `JobUnknownNow` where jobs are missing; `CommandFailure` where it is of no use to ask again soon.
    func check(_ words: String) throws {
        guard !isComplete else { return }
        let message = "\(words); \(lines.joined(separator: "; "))"
        if !isAwaited, lostAge > KnownJobs.returnTime {
            throw CommandFailure(.noCluster, message)
        }
        throw JobUnknownNow(message: message, needsWord: needsWord)
    }

    private var advice: String {
        let some = entries.reversed().prefix(KnownJobs.named)
            .map { "\($0.job.id) (\(PrintableText.of($0.job.title)))" }
        guard let first = some.first else { return isHere ? "this node has none" : "there are none" }
        let words = some.count == 1 ? "the only one is \(first)" : "the newest are \(some.joined(separator: ", "))"
        return entries.count > KnownJobs.named ? "\(words); skynode jobs lists them all" : words
    }
}

/// A job that no node has now, though it may be one of those that are missing: another node is about to take it over, or it waits.
struct JobUnknownNow: Error {
    var message: String
    /// Whether that stays so until a person does something.
    var needsWord: Bool
}

extension WaitingJobs {
    /// What is to be said of them, and done.
    var words: String {
        let node = PrintableText.of(node)
        let which = jobs.map { $0 == 1 ? "1 job of \(node)" : "\($0) jobs of \(node)" } ?? "jobs of \(node)"
        let (wait, are) = jobs == 1 ? ("waits", "is") : ("wait", "are")
        guard needsWord else { return "\(which) \(are) about to be taken over by another node; ask again in a moment" }
        // A node that has its own jobs is asked to go on with them, another one to take them over.
        return node == PrintableText.of(keeper)
            ? "\(which) \(wait) for the nodes with copies: \(PersonsWord.unprotect(at: address))"
            : "\(which) \(wait) for it: \(PersonsWord.adopt(node, at: address))"
    }
}
