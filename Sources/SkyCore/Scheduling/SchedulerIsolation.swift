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
        /// The job for which that node is emptied, and the person who holds a slot meanwhile. Otherwise the person's other tasks
        /// might take the last one that their limit allows.
        var reserved: (job: JobID, person: Int?)?
    }

    /// Sets a node aside for the next task, and sends the task there once nothing else runs there. A task for which no node has slots
    /// lets the others go first: its nodes may never come back.
    mutating func isolate() {
        guard !isolation.waiting.isEmpty, isolation.attempt == nil else { return }
        let limit = max(1, policy.searchLimit)
        let isCutShort = isolation.waiting.count > limit
        for _ in 0..<min(isolation.waiting.count, limit) {
            guard let next = nextSuspect(), let placement = jobs[next.job]?.placement(of: next.entry.task, in: roster)
            else { return endIsolation() }
            // As where a task waits for any node, making it ready ends it. Nodes that could reach its input may have left meanwhile.
            guard placement.choice(in: roster) != .none else {
                isolation.waiting.removeFirst()
                endIsolation()
                makeReady(next.entry.task, of: next.job)
                continue
            }
            // The node's slots may have gone to another coordinator, and the task for which it was set aside may have ended.
            if let node = isolation.node,
                (roster[node]?.slots ?? 0) == 0 || roster[node]?.isDraining == true
                    || !placement.allows(node, choice: .any, local: roster.local)
            {
                endIsolation()
            }
            if isolation.node == nil, let node = emptiest(for: placement) {
                isolation.node = node
                roster.update(node) { $0.isSetAside = true }
            }
            guard let node = isolation.node else {
                endIsolation()
                isolation.waiting.append(isolation.waiting.removeFirst())
                continue
            }
            return isolate(next, on: node)
        }
        if isCutShort { searchAgain(at: now + Self.searchInterval) }
    }

    private mutating func isolate(_ next: (job: JobID, entry: RetryEntry), on node: NodeID) {
        if isolation.reserved?.job != next.job {
            endReservation()
            isolation.reserved = (next.job, jobs.hold(for: next.job))
        }
        guard roster[node]?.running.isEmpty == true else { return }
        isolation.waiting.removeFirst()
        guard let number = jobs.update(next.job, { $0.start(next.entry.task, on: node) }) else { return }
        let attempt = AttemptID(job: next.job, task: TaskID(next.entry.task), number: number, generation: generation)
        isolation.attempt = attempt
        endReservation()
        send(attempt, to: node)
    }

    /// The first task that still waits to be tried in isolation and whose person may hold one more slot. Those whose person may not
    /// go to the end of the line.
    private mutating func nextSuspect() -> (job: JobID, entry: RetryEntry)? {
        for _ in 0..<isolation.waiting.count {
            guard let first = isolation.waiting.first else { return nil }
            let isCurrent = jobs.task(first.entry.task, of: first.job)?.ticket == first.entry.ticket
            if isCurrent, isolation.reserved?.job == first.job || jobs.mayHold(first.job) { return first }
            isolation.waiting.removeFirst()
            if isCurrent { isolation.waiting.append(first) }
        }
        return nil
    }

    private mutating func endReservation() {
        jobs.release(isolation.reserved?.person)
        isolation.reserved = nil
    }

    mutating func endIsolation() {
        endReservation()
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
            $0.id != roster.local && $0.isUsable && placement.allows($0.id, choice: .any, local: roster.local)
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
