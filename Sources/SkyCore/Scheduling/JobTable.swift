import DequeModule
import Transport

/// All jobs of one coordinator, and the round in which they get slots.
struct JobTable {
    /// Tasks of all jobs that could run now.
    private(set) var ready = 0
    /// Tasks of all jobs that will run.
    private(set) var waiting = 0

    /// In an array, so that a record is read where it is: a dictionary would hand out a copy, reference counts and all.
    private var records: [JobRecord] = []
    private var position: [JobID: Int] = [:]
    /// Jobs with something to run, the next to be served first.
    private var rotation: Deque<JobID> = []

    var ids: [JobID] { position.keys.sorted() }

    subscript(job: JobID) -> JobRecord? { position[job].map { records[$0] } }

    func isDone(_ job: JobID) -> Bool { position[job].map { records[$0].isDone } ?? false }

    /// The record of a task under way.
    func task(_ task: Int, of job: JobID) -> TaskRecord? { position[job].flatMap { records[$0][task] } }

    mutating func insert(_ job: JobID, tasks: Int) {
        guard position[job] == nil else { return }
        position[job] = records.count
        records.append(JobRecord(id: job))
        update(job) { $0.add(tasks) }
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

    /// Changes a job and keeps the totals and the round true. Nil also when there is no such job.
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

    /// Takes a task for a slot on `node` from the next job that has one, and moves that job to the end of the round.
    mutating func claim(for node: NodeID, roster: Roster, limit: Int) -> (attempt: AttemptID?, isCutShort: Bool) {
        var isCutShort = false
        for _ in 0..<rotation.count {
            guard let job = rotation.popFirst(), let index = position[job] else { continue }
            let before = (ready: records[index].ready, waiting: records[index].waiting)
            let found = records[index].claim(for: node, roster: roster, limit: limit)
            recount(index, before)
            if records[index].ready > 0 {
                rotation.append(job)
            } else {
                records[index].isInRotation = false
            }
            if let claimed = found.claimed {
                return (AttemptID(job: job, task: TaskID(claimed.task), number: claimed.number), false)
            }
            if found.isCutShort { isCutShort = true }
        }
        return (nil, isCutShort)
    }

    private mutating func recount(_ index: Int, _ before: (ready: Int, waiting: Int)) {
        ready += records[index].ready - before.ready
        waiting += records[index].waiting - before.waiting
    }
}
