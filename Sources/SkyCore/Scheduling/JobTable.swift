import DequeModule
import Transport

/// All jobs of one coordinator, and the round in which they get slots.
struct JobTable {
    /// Tasks of all jobs that could run now.
    private(set) var ready = 0
    /// Tasks of all jobs that will run.
    private(set) var waiting = 0

    private var jobs: [JobID: JobRecord] = [:]
    /// Jobs with something to run, the next to be served first.
    private var rotation: Deque<JobID> = []

    var ids: [JobID] { jobs.keys.sorted() }

    subscript(job: JobID) -> JobRecord? { jobs[job] }

    /// The record of a task under way.
    func task(_ task: Int, of job: JobID) -> TaskRecord? { jobs[job]?[task] }

    mutating func insert(_ job: JobID, tasks: Int) {
        guard jobs[job] == nil else { return }
        jobs[job] = JobRecord(tasks: 0)
        update(job) { $0.add(tasks) }
    }

    mutating func remove(_ job: JobID) -> JobRecord? {
        guard let record = jobs.removeValue(forKey: job) else { return nil }
        ready -= record.ready
        waiting -= record.waiting
        rotation.removeAll { $0 == job }
        return record
    }

    /// Changes a job and keeps the totals and the round true. Nil also when there is no such job.
    @discardableResult
    mutating func update<Result>(_ job: JobID, _ change: (inout JobRecord) -> Result?) -> Result? {
        guard let index = jobs.index(forKey: job) else { return nil }
        let before = (ready: jobs.values[index].ready, waiting: jobs.values[index].waiting)
        let result = change(&jobs.values[index])
        ready += jobs.values[index].ready - before.ready
        waiting += jobs.values[index].waiting - before.waiting
        if jobs.values[index].ready > 0, !jobs.values[index].isInRotation {
            jobs.values[index].isInRotation = true
            rotation.append(job)
        }
        return result
    }

    /// Takes a task for a slot on `node` from the next job that has one, and moves that job to the end of the round.
    mutating func claim(for node: NodeID, roster: Roster, limit: Int) -> (attempt: AttemptID?, isCutShort: Bool) {
        var isCutShort = false
        for _ in 0..<rotation.count {
            guard let job = rotation.popFirst(), let index = jobs.index(forKey: job) else { continue }
            let before = (ready: jobs.values[index].ready, waiting: jobs.values[index].waiting)
            let found = jobs.values[index].claim(for: node, roster: roster, limit: limit)
            ready += jobs.values[index].ready - before.ready
            waiting += jobs.values[index].waiting - before.waiting
            if jobs.values[index].ready > 0 {
                rotation.append(job)
            } else {
                jobs.values[index].isInRotation = false
            }
            if let claimed = found.claimed {
                return (AttemptID(job: job, task: TaskID(claimed.task), number: claimed.number), false)
            }
            if found.isCutShort { isCutShort = true }
        }
        return (nil, isCutShort)
    }
}
