import DequeModule
import Transport

extension JobScheduler {
    /// Tasks that have been on several nodes that died are tried one at a time on a node where nothing else of ours runs.
    /// If that node dies too, a neighbour was not the cause, and no neighbour is blamed.
    struct Isolation {
        /// Tasks that wait to be tried in isolation.
        var waiting: Deque<(job: JobID, entry: RetryEntry)> = []
        /// The node that is set aside. It is first emptied, then used.
        var node: NodeID?
        /// The attempt that runs on that node, once it does.
        var attempt: AttemptID?
    }

    /// Sets a node aside for the next task, and sends the task there once nothing else runs there.
    mutating func isolate() {
        guard !isolation.waiting.isEmpty, isolation.attempt == nil else { return }
        while let next = isolation.waiting.first, jobs.task(next.entry.task, of: next.job)?.ticket != next.entry.ticket
        {
            isolation.waiting.removeFirst()
        }
        guard let next = isolation.waiting.first, let record = jobs[next.job], let task = record[next.entry.task] else {
            return endIsolation()
        }
        // The node's slots may have gone to another coordinator.
        if let node = isolation.node, (roster[node]?.slots ?? 0) == 0 || roster[node]?.isDraining == true {
            endIsolation()
        }
        if isolation.node == nil {
            let placement = task.placement(in: roster, barred: roster.barred(for: record.options))
            guard let node = emptiest(for: placement) else { return }
            isolation.node = node
            roster.update(node) { $0.isSetAside = true }
        }
        guard let node = isolation.node, roster[node]?.running.isEmpty == true else { return }
        isolation.waiting.removeFirst()
        guard let number = jobs.update(next.job, { $0.start(next.entry.task, on: node) }) else { return }
        let attempt = AttemptID(job: next.job, task: TaskID(next.entry.task), number: number, generation: generation)
        isolation.attempt = attempt
        send(attempt, to: node)
    }

    mutating func endIsolation() {
        isolation.attempt = nil
        guard let node = isolation.node else { return }
        isolation.node = nil
        roster.update(node) { $0.isSetAside = false }
    }

    /// Chooses among the nodes that have slots of ours: the best kind of node, and of that kind the one with the fewest
    /// attempts under way, which will be empty soonest. The local node is chosen only if there is no other node that the
    /// task may wait for.
    private func emptiest(for placement: RetryPlacement) -> NodeID? {
        let nodes = roster.order.compactMap { roster[$0] }
        let others = nodes.contains {
            $0.id != roster.local && !$0.isDraining && placement.allows($0.id, choice: .any, local: roster.local)
        }
        let candidates = nodes.filter { $0.slots > 0 && $0.isOpen && !(others && $0.id == roster.local) }
        // A worse kind is taken only if no node of a better kind has slots.
        for choice in [RetryPlacement.Choice.preferred, .any] {
            let allowed = candidates.filter { placement.allows($0.id, choice: choice, local: roster.local) }
            if let best = allowed.min(by: { ($0.running.count, $0.id) < ($1.running.count, $1.id) }) { return best.id }
        }
        return nil
    }
}
