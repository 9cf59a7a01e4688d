import Transport

/// Where the input of a job's tasks is at hand because earlier tasks needed it. This is a preference, and no task waits for it.
struct JobLocality {
    /// The node that began to read the job's input. (This need not be the node of the first task: nodes that do not have
    /// the input at all may have sent that task away.)
    private(set) var home: NodeID?
    /// The node that gives the input to the nodes that do not have it; `nil` if every node has it or none does.
    var holder: NodeID?
    private var affinity: [Int: Int] = [:]
    private var doneOn: [Int: NodeID] = [:]

    /// How many tasks are searched for a better one than the first.
    private static let searchLimit = 64
    /// For how many tasks the node is remembered: more than the sectors that matter in any image.
    private static let memoryLimit = 100_000

    mutating func begin(on node: NodeID) { if home == nil { home = node } }

    mutating func add(_ affinity: [TaskID: TaskID]) {
        for (task, earlier) in affinity { self.affinity[task.index] = earlier.index }
    }

    mutating func completed(_ task: Int, on node: NodeID) {
        if doneOn.count < JobLocality.memoryLimit { doneOn[task] = node }
    }

    /// The task that `node` should take: one whose input it has, or else one whose input no usable node has.
    ///
    /// - Returns: `nil` if the first task is as good as any.
    func choice(for node: NodeID, among fresh: FreshTasks, roster: Roster) -> Int? {
        guard !affinity.isEmpty else { return nil }
        let owner = { (task: Int) in affinity[task].flatMap { doneOn[$0] } }
        return fresh.first(among: JobLocality.searchLimit) { owner($0) == node }
            ?? fresh.first(among: JobLocality.searchLimit) { owner($0).map { !roster.isUsable($0) } ?? true }
    }

    /// A number that is added to the job's running tasks when `node` looks for work. Jobs that the node itself began come
    /// first, and jobs that others began come last. The number is limited by what the node can have, so that every job gets
    /// its turn.
    func bias(for node: NodeRecord, roster: Roster) -> Int {
        guard let home, roster.isUsable(home) else { return 0 }
        // So many tasks can be on the node at a time, those that wait included.
        return home == node.id ? -2 * node.slots : 2 * node.slots
    }
}
