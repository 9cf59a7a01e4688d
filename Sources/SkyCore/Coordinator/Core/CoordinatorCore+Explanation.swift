import Base
import Transport

extension CoordinatorCore {
    /// Largest number of tasks that an explanation names.
    static let tasksExplained = 20
    /// Largest number of nodes of a kind that it names.
    private static let namesExplained = 5

    /// What a job waits for; `nil` for a job that is not known.
    func explain(_ job: JobID, now: Duration) -> JobExplanation? {
        guard let record = jobs[job] else { return nil }
        if let report = record.published.report {
            let reason = report.reason.map { ": \($0)" } ?? ""
            return JobExplanation(
                reasons: ["finished: \(report.state.rawValue)\(reason)"], requirements: [],
                tasks: [])
        }
        let limit = CoordinatorCore.tasksExplained
        guard let waiting = dispatch.scheduler.waiting(of: job, now: now, limit: limit) else {
            return JobExplanation(reasons: ["finished, which is not stored yet"], requirements: [], tasks: [])
        }
        return JobExplanation(
            reasons: reasons(waiting, of: record),
            requirements: waiting.requirements.map { .init(name: $0.name, nodes: $0.met) },
            tasks: waiting.open.map { explain($0, of: job) })
    }

    private func reasons(_ waiting: JobWaiting, of job: CoordinatedJob) -> [String] {
        let withheld = jobs.quotas.reason(job.id, job.request)
        var reasons: [String] = []
        if let pauseReason {
            reasons.append("nothing is sent out, because results cannot be stored: \(pauseReason)")
        } else if let withheld {
            reasons.append("nothing more of it is sent out: \(withheld)")
        } else if writeAhead.isBehind {
            reasons.append("nothing is sent out until the results that have come are stored")
        }
        for (node, reason) in dispatch.nodes.refusals.sorted(by: { $0.key < $1.key }) {
            reasons.append("\(dispatch.name(of: node)) does not work for this node: \(reason)")
        }
        for node in dispatch.nodes.distrusted.sorted() {
            reasons.append("\(dispatch.name(of: node)) is not used: its answers make no sense; see the log")
        }
        // While nothing is sent out, ready tasks wait for that alone, so no missing node or slot is named.
        let isHeldBack = pauseReason != nil || withheld != nil || writeAhead.isBehind
        if waiting.ready > 0, !isHeldBack {
            if let quota = waiting.quota, let person = job.request.submitter {
                let slots = quota.limit == 1 ? "1 slot" : "\(quota.limit) slots"
                reasons.append(
                    "\(tasks(waiting.ready)) for a slot of \(person)'s: their jobs may hold \(slots) and hold \(quota.held)"
                )
            } else {
                if waiting.requirements.contains(where: { $0.kind == .allowed && $0.met == 0 }) {
                    reasons.append(
                        "no node that is here may take its tasks: \(lists(of: job.request.options)); \(nodesHere)")
                }
                reasons.append("\(tasks(waiting.ready)) for \(missing(waiting))")
            }
        }
        if waiting.ready > 0, waiting.jobsAhead > 0 {
            let ahead =
                waiting.jobsAhead == 1
                ? "1 job of higher priority goes" : "\(waiting.jobsAhead) jobs of higher priority go"
            reasons.append("\(ahead) first")
        }
        if waiting.ready > 0, waiting.jobsBeside > 0 {
            let beside =
                waiting.jobsBeside == 1
                ? "1 job of the same priority has its" : "\(waiting.jobsBeside) jobs of the same priority have their"
            reasons.append("\(beside) share of the slots")
            if waiting.peopleBeside > 0 {
                reasons.append(
                    "the slots are shared by \(waiting.peopleBeside + 1) people, however many jobs each of them has")
            }
        }
        reasons += measureOtherwise(waiting.unmet(.alike))
        if waiting.backingOff > 0 { reasons.append("\(tasks(waiting.backingOff)) to be tried again after a failure") }
        if waiting.running > 0 {
            let verb = waiting.running == 1 ? "1 task runs" : "\(waiting.running) tasks run"
            reasons.append("\(verb)\(waiting.ready + waiting.backingOff == 0 ? "; it waits for nothing else" : "")")
        }
        return reasons.isEmpty ? ["it is about to get its next tasks, or to end"] : reasons
    }

    /// Why no node that is here takes the tasks of a job, so that it waits for one; `nil` where one does, or where something of it runs.
    func missingNode(of job: CoordinatedJob) -> String? {
        // Before the coordinator runs, no node is here, not even its own.
        guard job.isActive, !dispatch.scheduler.hasNode(for: job.id), !dispatch.scheduler.roster.order.isEmpty,
            let waiting = dispatch.scheduler.waiting(of: job.id, now: now, limit: 0)
        else { return nil }
        let options = job.request.options
        if waiting.requirements.contains(where: { $0.kind == .allowed && $0.met == 0 }) {
            let here = dispatch.scheduler.nodeNames
            guard !options.use.isEmpty, options.use.isDisjoint(with: here) else {
                return
                    "no node that is here may take its tasks (\(lists(of: options))); the job waits until another joins"
            }
            return "no node is called \(named(options.use, "or")); the job waits until one joins"
        }
        let reasons: [(JobWaiting.Requirement.Kind, one: String, more: String)] = [
            (.alike, "measures otherwise", "measure otherwise"),
            (.reachesInput, "cannot reach its input", "cannot reach its input"),
            (.hasSlots, "was given no slots (slots: 0)", "were given no slots (slots: 0)"),
            (.notDraining, "is drained", "are drained"),
        ]
        let words = reasons.compactMap { kind, one, more in
            let nodes = Set(waiting.unmet(kind).map { dispatch.name(of: $0) })
            return nodes.isEmpty ? nil : "\(named(nodes, "and")) \(nodes.count == 1 ? one : more)"
        }
        return "no node takes its tasks: \(words.joined(separator: ", ")); the job waits until one does"
    }

    /// A job's lists of nodes, as they are given.
    private func lists(of options: JobOptions) -> String {
        [("--use-node", options.use), ("--avoid-node", options.avoid)].filter { !$0.1.isEmpty }
            .map { "\($0.0) \(named($0.1))" }.joined(separator: ", ")
    }

    private var nodesHere: String {
        let nodes = dispatch.scheduler.roster.order.map { dispatch.name(of: $0) }
        return nodes.isEmpty ? "no node is here" : "nodes here: \(named(Set(nodes)))"
    }

    /// Names for people, of which only the first are said, and of each the part that a machine's name has at most. A request may have a
    /// thousand of any length.
    private func named(_ names: Set<String>, _ conjunction: String? = nil) -> String {
        let limit = CoordinatorCore.namesExplained
        var shown = names.sorted().prefix(limit).map { PrintableText.of(String($0.prefix(64))) }
        if names.count > limit { shown.append("\(names.count - limit) others") }
        guard let conjunction, shown.count > 1, let last = shown.popLast() else {
            return shown.joined(separator: ", ")
        }
        return "\(shown.joined(separator: ", ")) \(conjunction) \(last)"
    }

    /// Which nodes get none of the tasks because they measure otherwise, and what differs.
    private func measureOtherwise(_ nodes: [NodeID]) -> [String] {
        Dictionary(grouping: nodes) { dispatch.nodes.arithmetic(of: $0) }
            .map { arithmetic, nodes in (arithmetic, nodes.map { dispatch.name(of: $0) }.sorted()) }
            .sorted { ($0.1.first ?? "") < ($1.1.first ?? "") }
            .map { arithmetic, names in
                let others = names.count - CoordinatorCore.namesExplained
                let list = names.prefix(CoordinatorCore.namesExplained).joined(separator: ", ")
                let all = others > 0 ? "\(list) and \(others) more" : list
                return arithmetic.map { "\(all): measures otherwise (\($0.difference(from: JobKinds.arithmetic)))" }
                    ?? "\(all): an older version, which does not say how it measures"
            }
    }

    /// What stands between a task and a slot: the first requirement that no node meets.
    private func missing(_ waiting: JobWaiting) -> String {
        let all = waiting.unmet(.reachesInput).isEmpty ? "all it may use" : "all that may have its input"
        return switch waiting.requirements.first(where: { $0.met == 0 })?.kind {
        case .present: "a node: there is none"
        case .allowed: "a node that the job may use (--use-node, --avoid-node): there is none"
        case .alike: "a node that measures as this one does: all it may use measure otherwise"
        case .hasSlots: "a node with slots: \(all) were given none (slots: 0)"
        case .notDraining:
            waiting.unmet(.hasSlots).isEmpty
                ? "a node that takes new work: \(all) are drained"
                : "a node that takes new work: \(all) are drained or were given no slots (slots: 0)"
        case .lendsSlots: "a slot: other coordinators have all of them, or the nodes do not answer"
        case .reachesInput: "a node that has its input: none of those that are here can reach it"
        case .notPaused: "a node to recover: all are in back-off after a failure"
        case nil: "another node: it failed on those with a free slot, or its input cannot be reached there"
        case .hasRoom:
            waiting.takenByOthers > 0
                ? "a slot: all \(waiting.slots) slots are busy, with \(waiting.takenByOthers) tasks of other jobs"
                : "a slot: all \(waiting.slots) slots are busy"
        }
    }

    private func explain(_ open: JobWaiting.Open, of job: JobID) -> JobExplanation.OpenTask {
        var (node, runningFor) = (nil as String?, nil as Duration?)
        let event: String
        switch open.state {
        case .running(let runner, let since):
            (node, runningFor) = (dispatch.name(of: runner), since)
            event = "sent to \(dispatch.name(of: runner))"
        case .ready: event = "waits for a slot"
        case .backingOff: event = "waits to be tried again"
        case .isolated: event = "waits for a node on which nothing else runs"
        }
        let before = open.lastReason.isEmpty ? "" : "; before: \(dispatch.withNames(open.lastReason))"
        return JobExplanation.OpenTask(
            task: jobs.label(job, open.task), node: node, runningFor: runningFor, attempts: open.attempts,
            lastEvent: event + before)
    }

    private func tasks(_ count: Int) -> String { count == 1 ? "1 task waits" : "\(count) tasks wait" }
}

extension JobWaiting.Requirement {
    fileprivate var name: String {
        switch kind {
        case .present: "are in the cluster"
        case .allowed: "may be used by this job"
        case .alike: "measure as this node does"
        case .reachesInput: "may reach its input"
        case .hasSlots: "have slots"
        case .notDraining: "take new work"
        case .lendsSlots: "lend slots to this coordinator"
        case .notPaused: "are not in back-off after a failure"
        case .hasRoom: "have a free slot"
        }
    }
}
