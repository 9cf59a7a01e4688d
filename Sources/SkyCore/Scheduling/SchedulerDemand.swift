import Transport

extension JobScheduler {
    /// How many slots to demand, and when to give some back.
    ///
    /// On each node we demand a slot for each task that waits and for each attempt that runs there, rounded up to powers of
    /// two so that a demand does not change with every task. The demand is never less than what is needed and never more
    /// than twice that. When nothing waits, it is exactly what runs there. A higher demand is sent at once. A lower demand
    /// waits for `releaseDelay`, and is then sent for all nodes together.
    struct Demands {
        /// The number of waiting tasks, rounded up, when the demands were last updated.
        var level = 0
        /// The version of the roster for which every node was considered.
        var rosterVersion = 0
        /// When demands are lowered; nil while no demand is to be lowered.
        var releaseDue: Duration?
    }

    /// Returns the changes of our demands as actions. Looks at all nodes only when the number of waiting tasks has doubled
    /// or halved, when nodes have come or gone, or when slots are due to be given back.
    mutating func updateDemand() {
        let waiting = jobs.waiting + speculationsWanted
        let level = waiting == 0 ? 0 : roundedUp(min(waiting, policy.demandLimit))
        let isRelease = demands.releaseDue.map { $0 <= now } ?? false
        if isRelease { demands.releaseDue = nil }
        let concernsAll = level != demands.level || roster.version != demands.rosterVersion || isRelease
        demands.level = level
        demands.rosterVersion = roster.version
        let nodes = concernsAll ? roster.order : roster.changed
        for node in nodes { demand(on: node, mayLower: isRelease || policy.releaseDelay <= .zero) }
        roster.forgetChanges()
    }

    private mutating func demand(on node: NodeID, mayLower: Bool) {
        guard let record = roster[node] else { return }
        let wanted = demand(on: record)
        guard wanted != record.wanted else { return }
        if wanted < record.wanted, !mayLower {
            if demands.releaseDue == nil { demands.releaseDue = now + policy.releaseDelay }
            return
        }
        roster.update(node) { record in
            // Slots that we give back are no longer ours from here on, even before the node has answered.
            if wanted < record.wanted { record.slots = min(record.slots, wanted) }
            record.wanted = wanted
        }
        outbox.append(.reserve(node, wanted: wanted))
    }

    private func demand(on record: NodeRecord) -> Int {
        let running = record.running.count
        guard demands.level > 0, !record.isDraining else { return running }
        let waiting = jobs.isRestricted ? jobs.waiting(for: record) + speculationsWanted : demands.level
        guard waiting > 0 else { return running }
        let level = roundedUp(min(waiting, demands.level))
        return max(running, min(policy.demandLimit, level + (running == 0 ? 0 : roundedUp(running))))
    }

    private func roundedUp(_ count: Int) -> Int {
        var power = 1
        while power < count { power <<= 1 }
        return power
    }
}
