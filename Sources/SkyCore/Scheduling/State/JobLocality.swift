import Transport

/// Where the input of a job's tasks is at hand, because tasks before them needed it: a preference, which nothing waits for.
struct JobLocality {
    /// The node that began with the job's input. (Not with its first task, which may have been sent away by nodes that do not
    /// have the input at all.)
    private(set) var home: NodeID?
    /// The node that gives it to those that do not have it; `nil` where each has it or none does.
    var holder: NodeID?
    private var affinity: [Int: Int] = [:]
    private var doneOn: [Int: NodeID] = [:]

    /// Tasks looked at for a better one than the first.
    private static let searchLimit = 64
    /// Tasks whose nodes are remembered: more than any image has sectors that matter.
    private static let memoryLimit = 100_000

    mutating func begin(on node: NodeID) { if home == nil { home = node } }

    mutating func add(_ affinity: [TaskID: TaskID]) {
        for (task, earlier) in affinity { self.affinity[task.index] = earlier.index }
    }

    mutating func completed(_ task: Int, on node: NodeID) {
        if doneOn.count < JobLocality.memoryLimit { doneOn[task] = node }
    }

    /// The task that `node` had better take: one whose input it has; else one whose input nobody has who is there.
    ///
    /// - Returns: `nil` where the first is as good as any.
    func choice(for node: NodeID, among fresh: FreshTasks, roster: Roster) -> Int? {
        guard !affinity.isEmpty else { return nil }
        let owner = { (task: Int) in affinity[task].flatMap { doneOn[$0] } }
        return fresh.first(among: JobLocality.searchLimit) { owner($0) == node }
            ?? fresh.first(among: JobLocality.searchLimit) { owner($0).map { !roster.isUsable($0) } ?? true }
    }

    /// What the job's running tasks count for when `node` looks for work: jobs that it has begun with come first, those that others
    /// have begun with last; but only by as much as it can have, so that every job gets its turn.
    func bias(for node: NodeRecord, roster: Roster) -> Int {
        guard let home, roster.isUsable(home) else { return 0 }
        // As many as can be there, those that wait included.
        return home == node.id ? -2 * node.slots : 2 * node.slots
    }
}
