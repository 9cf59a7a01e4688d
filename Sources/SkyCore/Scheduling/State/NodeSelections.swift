import Transport

/// Which live nodes may take the tasks of which jobs. Jobs with the same lists of nodes share one selection, so the lists are compared
/// with a node once, when it joins, and not for each task.
///
/// A selection is known by a number. Number 0 is every node: most jobs have it.
struct NodeSelections {
    private struct Selection {
        /// Options of which only those that choose nodes are set.
        let options: JobOptions
        /// The live nodes that it selects. It is not kept for number 0.
        var nodes: Set<NodeID> = []
        var jobs: Set<JobID> = []
        var rotation: [JobID] = []
        var ready = 0
    }

    /// The number of the selection of every node.
    static let everyNode = 0

    private var records = [Selection(options: JobOptions())]
    private var position: [JobOptions: Int] = [:]
    /// Numbers that no job has.
    private var vacant: [Int] = []
    /// The selections that have a job in their rotation.
    private(set) var active: [Int] = []
    /// How many jobs are in the rotations.
    private(set) var rotating = 0

    /// The live nodes that a selection other than number 0 selects.
    func nodes(_ selection: Int) -> Set<NodeID> { records[selection].nodes }

    /// The jobs of a selection other than number 0.
    func jobs(_ selection: Int) -> Set<JobID> { records[selection].jobs }

    /// The jobs of a selection that have something to run. The one that was served longest ago comes first.
    func rotation(_ selection: Int) -> [JobID] { records[selection].rotation }

    /// The tasks of a selection's jobs that could run now on a free slot.
    func ready(_ selection: Int) -> Int { records[selection].ready }

    /// Whether there is a node for the jobs of a selection.
    func isPlaced(_ selection: Int) -> Bool {
        selection == NodeSelections.everyNode || !records[selection].nodes.isEmpty
    }

    func selects(_ selection: Int, _ node: NodeID) -> Bool {
        selection == NodeSelections.everyNode || records[selection].nodes.contains(node)
    }

    /// Tasks that could run now on a free slot of a node.
    func ready(on node: NodeID) -> Int {
        active.reduce(0) { $0 + (selects($1, node) ? records[$1].ready : 0) }
    }

    // MARK: - Jobs

    /// Takes in a job.
    ///
    /// - Returns: its selection.
    mutating func insert(_ job: JobID, _ options: JobOptions, roster: Roster) -> Int {
        guard options.isRestricted else { return NodeSelections.everyNode }
        let options = options.selectionOnly
        if let known = position[options] {
            records[known].jobs.insert(job)
            return known
        }
        var selection = Selection(options: options, jobs: [job])
        for node in roster.order where roster.allows(node, for: options) { selection.nodes.insert(node) }
        let number = vacant.popLast() ?? records.count
        if number < records.count { records[number] = selection } else { records.append(selection) }
        position[options] = number
        return number
    }

    /// A job is gone. It must have left the rotation.
    mutating func remove(_ job: JobID, from selection: Int) {
        guard selection != NodeSelections.everyNode else { return }
        records[selection].jobs.remove(job)
        guard records[selection].jobs.isEmpty else { return }
        position[records[selection].options] = nil
        records[selection] = Selection(options: JobOptions())
        vacant.append(selection)
    }

    /// Puts a job at the end of its rotation.
    mutating func rotate(_ job: JobID, in selection: Int) {
        if records[selection].rotation.isEmpty { active.append(selection) }
        records[selection].rotation.append(job)
        rotating += 1
    }

    mutating func endRotation(of job: JobID, in selection: Int) {
        guard let turn = records[selection].rotation.firstIndex(of: job) else { return }
        records[selection].rotation.remove(at: turn)
        rotating -= 1
        if records[selection].rotation.isEmpty { active.removeAll { $0 == selection } }
    }

    /// Whether every node may take tasks that could run now.
    ///
    /// - Parameter count: how many nodes there are.
    func isReadyEverywhere(_ count: Int) -> Bool {
        active.contains {
            records[$0].ready > 0 && ($0 == NodeSelections.everyNode || records[$0].nodes.count == count)
        }
    }

    /// So many more tasks of a selection's jobs could run now.
    mutating func add(ready: Int, to selection: Int) { records[selection].ready += ready }

    // MARK: - Nodes

    /// The selections of jobs that select a node that joins.
    func selecting(_ node: NodeRecord) -> [Int] {
        position.values.filter { records[$0].options.allows(node) }.sorted()
    }

    /// The selections of which a node is the only one.
    func selectingOnly(_ node: NodeID) -> [Int] {
        position.values.filter { records[$0].nodes.count == 1 && records[$0].nodes.contains(node) }.sorted()
    }

    mutating func nodeJoined(_ node: NodeID, in selections: [Int]) {
        for selection in selections { records[selection].nodes.insert(node) }
    }

    mutating func nodeLost(_ node: NodeID) {
        for selection in position.values { records[selection].nodes.remove(node) }
    }
}

extension JobOptions {
    /// The options that choose nodes, and nothing else.
    fileprivate var selectionOnly: JobOptions {
        var options = JobOptions()
        (options.use, options.avoid, options.needsAlike) = (use, avoid, needsAlike)
        return options
    }
}
