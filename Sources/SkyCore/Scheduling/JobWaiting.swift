import Transport

/// What one job waits for, as its scheduler sees it.
struct JobWaiting {
    /// How many nodes meet a requirement and all those before it.
    struct Requirement: Equatable {
        enum Kind {
            case present, allowed, alike, reachesInput, hasSlots, notDraining, lendsSlots, notPaused, hasRoom
        }

        var kind: Kind
        var met: Int
        /// The nodes that meet all requirements before this one, but not this one, in the order of their ids.
        var unmet: [NodeID] = []
    }

    /// A task that has been tried and is not done.
    struct Open {
        enum State: Equatable {
            case running(on: NodeID, since: Duration)
            /// The task may run, but no node was found for it.
            case ready
            /// The task is tried again after a pause.
            case backingOff
            /// The task has been on nodes that died, so it is tried again where nothing else runs.
            case isolated
        }

        var task: TaskID
        var attempts: Int
        var state: State
        /// The reason of the last failure; empty if there was none.
        var lastReason: FailureReason
    }

    /// Tasks that could run now, tasks that wait for the end of a pause, and tasks that run.
    var ready = 0
    var backingOff = 0
    var running = 0
    var requirements: [Requirement] = []
    /// The nodes that do not meet a requirement, though all those before it.
    func unmet(_ kind: Requirement.Kind) -> [NodeID] { requirements.first { $0.kind == kind }?.unmet ?? [] }
    /// Slots that are leased to this coordinator on nodes that the job may use, and attempts of other jobs on those slots.
    var slots = 0
    var takenByOthers = 0
    /// Other jobs with tasks that could run: those that go first, and those that share.
    var jobsAhead = 0
    var jobsBeside = 0
    /// People, apart from the job's own, to whom those belong that share.
    var peopleBeside = 0
    /// How many slots the person's jobs hold, and may hold; `nil` where they may hold more.
    var quota: (held: Int, limit: Int)?
    /// The tasks that have run longest come first, then those that wait. There are no more than were asked for.
    var open: [Open] = []
}

extension JobScheduler {
    /// What a job waits for; `nil` once it has ended.
    ///
    /// - Parameter limit: how many tasks under way are named.
    func waiting(of job: JobID, now: Duration, limit: Int) -> JobWaiting? {
        guard let record = jobs[job] else { return nil }
        var waiting = JobWaiting()
        waiting.ready = record.ready
        waiting.backingOff = record.waiting - record.ready
        waiting.running = record.running
        var nodes = roster.order.compactMap { roster[$0] }
        func require(_ kind: JobWaiting.Requirement.Kind, _ isMet: (NodeRecord) -> Bool) {
            let unmet = nodes.filter { !isMet($0) }.map(\.id)
            nodes = nodes.filter(isMet)
            waiting.requirements.append(JobWaiting.Requirement(kind: kind, met: nodes.count, unmet: unmet))
        }
        require(.present) { _ in true }
        if record.options.namesNodes { require(.allowed) { record.options.names($0) } }
        if record.options.needsAlike == true, !nodes.allSatisfy(\.measuresAlike) {
            require(.alike) { $0.measuresAlike }
        }
        let outOfReach = record.outOfReach
        if !outOfReach.isEmpty { require(.reachesInput) { !outOfReach.contains($0.id) } }
        if nodes.contains(where: \.hasNoSlots) { require(.hasSlots) { !$0.hasNoSlots } }
        require(.notDraining) { !$0.isDraining }
        let usable = Set(nodes.map(\.id))
        require(.lendsSlots) { $0.slots > 0 }
        waiting.slots = nodes.reduce(0) { $0 + $1.slots }
        waiting.takenByOthers = nodes.reduce(0) { sum, node in sum + node.running.keys.count { $0.job != job } }
        require(.notPaused) { $0.pausedUntil == nil && !$0.isSetAside }
        require(.hasRoom) { $0.running.count < $0.slots }
        var people: Set<Int> = []
        var competing: [Int: Bool] = [:]
        for other in jobs.ids where other != job {
            guard let other = jobs[other], other.ready > 0, !other.isWithheld else { continue }
            // A job that waits for nodes that take nothing takes nothing from this one.
            let competes =
                competing[other.selection] ?? usable.contains { jobs.selections.selects(other.selection, $0) }
            competing[other.selection] = competes
            guard competes else { continue }
            if other.options.priority > record.options.priority { waiting.jobsAhead += 1 }
            guard other.options.priority == record.options.priority else { continue }
            waiting.jobsBeside += 1
            if other.person != record.person { people.insert(other.person) }
        }
        waiting.peopleBeside = people.count
        let held = jobs.people.held(by: record.person)
        if let limit = record.slotLimit, held >= limit { waiting.quota = (held, limit) }
        waiting.open = open(of: record, now: now, limit: limit)
        return waiting
    }

    private func open(of record: JobRecord, now: Duration, limit: Int) -> [JobWaiting.Open] {
        let isolated = Set(isolation.waiting.filter { $0.job == record.id }.map(\.entry.task))
        var open = record.open.map { task, known in
            let state: JobWaiting.Open.State
            if let runner = known.runner {
                let attempt = AttemptID(
                    job: record.id, task: TaskID(task), number: runner.number, generation: runner.generation)
                state = .running(on: runner.node, since: now - (roster.sent(attempt, to: runner.node) ?? now))
            } else if isolated.contains(task) {
                state = .isolated
            } else {
                state = known.phase == .ready ? .ready : .backingOff
            }
            return JobWaiting.Open(
                task: TaskID(task), attempts: known.attempts, state: state, lastReason: known.lastReason)
        }
        func rank(_ open: JobWaiting.Open) -> Duration {
            if case .running(_, let since) = open.state { since } else { .zero }
        }
        open.sort { (rank($0), $1.task) > (rank($1), $0.task) }
        return Array(open.prefix(limit))
    }
}
