import Transport

/// All jobs of one coordinator, and the rotation in which they get slots.
struct ScheduledJobs {
    /// The tasks of all jobs: those that could run now, and all that will run.
    private(set) var tasks = ScheduledPeople.Tasks()
    /// The tasks of the jobs that are withheld.
    private var withheld = ScheduledPeople.Tasks()
    private(set) var people = ScheduledPeople()

    /// The records are in an array, so that a record is read where it is. A dictionary would hand out a copy, reference
    /// counts included.
    private var records: [JobRecord] = []
    private var position: [JobID: Int] = [:]
    /// Jobs with something to run. The one that was served longest ago comes first.
    private var rotation: [JobID] = []
    private let generation: UInt64

    init(generation: UInt64) {
        self.generation = generation
    }

    var ids: [JobID] { position.keys.sorted() }

    /// Tasks that could run now on a free slot.
    var ready: Int { tasks.ready - withheld.ready - people.blocked.ready }

    /// Tasks that wait for slots of nodes, now or after a pause.
    var waiting: Int { tasks.waiting - withheld.waiting - people.blocked.waiting }

    subscript(job: JobID) -> JobRecord? { position[job].map { records[$0] } }

    func isDone(_ job: JobID) -> Bool { position[job].map { records[$0].isDone } ?? false }

    /// The record of a task under way.
    func task(_ task: Int, of job: JobID) -> TaskRecord? { position[job].flatMap { records[$0][task] } }

    /// Whether a task is neither done nor unknown.
    func isOpen(_ task: Int, of job: JobID) -> Bool { position[job].map { records[$0].isOpen(task) } ?? false }

    func expectedTime(of job: JobID) -> Int { position[job].map { records[$0].expectedTime } ?? NodeRecord.unknownTime }

    /// Jobs that have running tasks and no waiting ones.
    var tails: [JobRecord] { records.filter { $0.waiting == 0 && $0.running > 0 } }

    /// Whether any job has an input that nodes without it have to fetch.
    var hasHolders: Bool { records.contains { $0.locality.holder != nil } }

    /// Whether any job does not use all nodes.
    var isRestricted: Bool { records.contains { $0.options.isRestricted } }

    /// How many tasks will run and may run on that node.
    func waiting(for node: NodeRecord) -> Int {
        records.reduce(0) { $0 + ($1.options.allows(node) ? $1.waiting : 0) }
    }

    /// Inserts a new job. Returns `false` if it is here already.
    mutating func insert(_ job: JobID, _ options: JobOptions, by submitter: JobSubmitter) -> Bool {
        guard position[job] == nil else { return false }
        position[job] = records.count
        let person = people.add(submitter)
        records.append(
            JobRecord(
                id: job, options: options, person: person, slotLimit: submitter.slots, generation: generation))
        return true
    }

    mutating func remove(_ job: JobID) -> JobRecord? {
        guard let index = position.removeValue(forKey: job) else { return nil }
        let record = records[index]
        let last = records.removeLast()
        if index < records.count {
            records[index] = last
            position[last.id] = index
        }
        let removed = record.tasks
        tasks = tasks - removed
        if record.isWithheld { withheld = withheld - removed }
        people.remove(limit: record.slotLimit, record.isWithheld ? .init() : removed, of: record.person)
        rotation.removeAll { $0 == job }
        return record
    }

    // MARK: - What people hold

    /// Lets a job get no slot (`true`), or lets it get slots again.
    mutating func withhold(_ job: JobID, _ isWithheld: Bool) {
        guard let index = position[job], records[index].isWithheld != isWithheld else { return }
        records[index].isWithheld = isWithheld
        let (tasks, none) = (records[index].tasks, ScheduledPeople.Tasks())
        withheld += isWithheld ? tasks : none - tasks
        people.add(isWithheld ? none - tasks : tasks, to: records[index].person)
    }

    /// Whether a job may get another slot.
    func mayHold(_ job: JobID) -> Bool { position[job].map(mayHold) ?? false }

    private func mayHold(_ index: Int) -> Bool {
        !records[index].isWithheld && people.mayHold(records[index].person, limit: records[index].slotLimit)
    }

    /// An attempt of a job is about to occupy a slot.
    ///
    /// - Returns: the person for whom it does; `nil` where the job is not known.
    mutating func hold(for job: JobID) -> Int? {
        guard let person = position[job].map({ records[$0].person }) else { return nil }
        people.hold(person)
        return person
    }

    /// An attempt occupies its slot no more.
    mutating func release(_ person: Int?) {
        if let person { people.release(person) }
    }

    // MARK: - Changes

    /// Changes a job, and keeps the totals and the rotation correct. Returns nil also when there is no such job.
    @discardableResult
    mutating func update<Result>(_ job: JobID, _ change: (inout JobRecord) -> Result?) -> Result? {
        guard let index = position[job] else { return nil }
        let before = records[index].tasks
        let result = change(&records[index])
        recount(index, before)
        if records[index].ready > 0, !records[index].isInRotation {
            records[index].isInRotation = true
            rotation.append(job)
        }
        return result
    }

    /// Takes a task for `node` from the job whose turn it is.
    ///
    /// - Parameter spareTime: if the task will have to wait there, how long it may take, in nanoseconds.
    /// - Returns: the attempt; whether a search ended at its limit; and until when the node leaves the last tasks to faster
    ///   nodes.
    mutating func claim(
        for node: NodeID, roster: Roster, spareTime: Int?, now: Duration, policy: SchedulerPolicy
    ) -> (attempt: AttemptID?, isCutShort: Bool, leavesUntil: Duration?) {
        var isCutShort = false
        var leavesUntil: Duration?
        var tried: Set<JobID> = []
        while let turn = nextTurn(except: tried, node: node, roster: roster, spareTime: spareTime) {
            let job = rotation[turn]
            guard let index = position[job] else { break }
            // If there is other work, the node does not have to wait for the end of this job.
            if records[index].options.sharesInput == true, records[index].ready == tasks.ready,
                let until = SlowNode.leaves(&records[index], node, roster: roster, now: now, policy: policy)
            {
                leavesUntil = until
                tried.insert(job)
                continue
            }
            let before = records[index].tasks
            let found = records[index].claim(for: node, roster: roster, limit: max(1, policy.searchLimit))
            recount(index, before)
            if records[index].ready == 0 {
                records[index].isInRotation = false
                rotation.remove(at: turn)
            } else if rotation.count > 1 {
                rotation.remove(at: turn)
                rotation.append(job)
            }
            if let claimed = found.claimed {
                people.serve(records[index].person)
                return (
                    AttemptID(job: job, task: TaskID(claimed.task), number: claimed.number, generation: generation),
                    false, leavesUntil
                )
            }
            if found.isCutShort { isCutShort = true }
            tried.insert(job)
        }
        return (nil, isCutShort, leavesUntil)
    }

    /// Chooses the job of the highest priority; among equals, one of the person who holds the fewest slots, or was served longest
    /// ago; of that person's jobs the one with the fewest running tasks; among equals again, the one that was served longest ago.
    /// Therefore people have equal numbers of slots for jobs of equal priority, and so have the jobs of one person, however long
    /// their tasks take. `JobLocality` lowers the number of running tasks for jobs that the node itself began, and raises it for
    /// jobs that other nodes began.
    private func nextTurn(except tried: Set<JobID>, node: NodeID, roster: Roster, spareTime: Int?) -> Int? {
        var best: (turn: Int, rank: (Int, Int, UInt64, Int))?
        let isShared = people.count > 1
        for (turn, job) in rotation.enumerated() {
            guard let index = position[job] else { continue }
            let person = records[index].person
            let (held, served) = isShared ? (people.held(by: person), people.turn(of: person)) : (0, 0)
            var running = records[index].running
            if records[index].options.sharesInput == true, rotation.count > 1,
                let record = roster[node]
            {
                running += records[index].locality.bias(for: record, roster: roster)
            }
            let rank = (-records[index].options.priority, held, served, running)
            if let best, rank >= best.rank { continue }
            if !tried.isEmpty, tried.contains(job) { continue }
            if !mayHold(index) { continue }
            if let spareTime, records[index].expectedTime > spareTime,
                !looksAhead(records[index].locality.holder, on: node, roster: roster)
            {
                continue
            }
            if records[index].options.isRestricted, !roster.allows(node, for: records[index].options) { continue }
            best = (turn, rank)
        }
        return best?.turn
    }

    /// Whether a task of a job may wait on a node while its input is fetched. It may if there are enough tasks for all
    /// other slots.
    ///
    /// - Parameter holder: the node that has the job's input.
    private func looksAhead(_ holder: NodeID?, on node: NodeID, roster: Roster) -> Bool {
        guard let holder, holder != node, roster[node]?.canLookAhead == true else { return false }
        return ready > roster.slots
    }

    private mutating func recount(_ index: Int, _ before: ScheduledPeople.Tasks) {
        let change = records[index].tasks - before
        guard change.ready != 0 || change.waiting != 0 else { return }
        tasks += change
        if records[index].isWithheld { withheld += change } else { people.add(change, to: records[index].person) }
    }
}
