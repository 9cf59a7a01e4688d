import Transport

/// All jobs of one coordinator, and the rotation in which they get slots.
struct ScheduledJobs {
    /// Tasks of all jobs that could run now.
    private(set) var ready = 0
    /// Tasks of all jobs that will run.
    private(set) var waiting = 0

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
    mutating func insert(_ job: JobID, _ options: JobOptions) -> Bool {
        guard position[job] == nil else { return false }
        position[job] = records.count
        records.append(JobRecord(id: job, options: options, generation: generation))
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
        ready -= record.ready
        waiting -= record.waiting
        rotation.removeAll { $0 == job }
        return record
    }

    /// Changes a job, and keeps the totals and the rotation correct. Returns nil also when there is no such job.
    @discardableResult
    mutating func update<Result>(_ job: JobID, _ change: (inout JobRecord) -> Result?) -> Result? {
        guard let index = position[job] else { return nil }
        let before = (ready: records[index].ready, waiting: records[index].waiting)
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
            if records[index].options.sharesInput == true, records[index].ready == ready,
                let until = SlowNode.leaves(&records[index], node, roster: roster, now: now, policy: policy)
            {
                leavesUntil = until
                tried.insert(job)
                continue
            }
            let before = (ready: records[index].ready, waiting: records[index].waiting)
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

    /// Chooses the job of the highest priority; among equals, the one with the fewest running tasks; among equals again, the
    /// one that was served longest ago. Therefore jobs of equal priority have equal numbers of slots, however long their tasks
    /// take. `JobLocality` lowers the number of running tasks for jobs that the node itself began, and raises it for jobs that
    /// other nodes began.
    private func nextTurn(except tried: Set<JobID>, node: NodeID, roster: Roster, spareTime: Int?) -> Int? {
        var best: (turn: Int, priority: Int, running: Int)?
        for (turn, job) in rotation.enumerated() {
            guard let index = position[job] else { continue }
            let priority = records[index].options.priority
            var running = records[index].running
            if records[index].options.sharesInput == true, rotation.count > 1,
                let record = roster[node]
            {
                running += records[index].locality.bias(for: record, roster: roster)
            }
            if let best, (-priority, running) >= (-best.priority, best.running) { continue }
            if !tried.isEmpty, tried.contains(job) { continue }
            if let spareTime, records[index].expectedTime > spareTime,
                !looksAhead(records[index].locality.holder, on: node, roster: roster)
            {
                continue
            }
            if records[index].options.isRestricted, !roster.allows(node, for: records[index].options) { continue }
            best = (turn, priority, running)
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

    private mutating func recount(_ index: Int, _ before: (ready: Int, waiting: Int)) {
        ready += records[index].ready - before.ready
        waiting += records[index].waiting - before.waiting
    }
}
