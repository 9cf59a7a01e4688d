/// Where the time of a job went: what each node did for it, added up. It takes as much memory for a million tasks as for ten.
///
/// It is not stored. A coordinator that is started again knows nothing of the results before.
struct JobWork {
    /// The sums by the names of the nodes.
    private var nodes: [String: NodeWork] = [:]

    /// The most nodes that are told apart. Further ones are added up under an empty name.
    static let nodeLimit = 1024

    /// The sums, in the order of the nodes' names.
    var list: [NodeWork] { nodes.values.sorted { $0.name < $1.name } }

    /// Adds an attempt whose result counts.
    ///
    /// - Parameters:
    ///   - name: the name of its node.
    ///   - slots: how many slots the coordinator has there.
    mutating func add(_ duration: Duration, _ stages: StageTimes?, on name: String, slots: Int) {
        let key = nodes[name] != nil || nodes.count < JobWork.nodeLimit ? name : ""
        var work = nodes.removeValue(forKey: key) ?? NodeWork(name: key)
        work.tasks += 1
        work.duration += duration
        work.slots = max(work.slots, slots)
        if let stages { work.stages.add(stages) }
        nodes[key] = work
    }
}
