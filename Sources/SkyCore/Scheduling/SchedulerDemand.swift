import Transport

extension JobScheduler {
    /// How many slots to demand, and when to give some back.
    ///
    /// On each node we demand what waits plus what runs there, rounded up to powers of two so that a demand does not
    /// change with every task: never less than needed, never more than twice that. When nothing waits, exactly for what
    /// runs. Raising a demand is said at once; lowering it waits for `releaseDelay` and is then said for all nodes together.
    struct Demands {
        /// What waits, rounded up, as of the last time.
        var level = 0
        /// The roster for which every node was considered.
        var rosterVersion = 0
        /// When demands are lowered; nil while all are as they should be.
        var releaseDue: Duration?
    }

    /// Says what has changed in what we demand. Looks at all nodes only when what waits has doubled or halved, when
    /// nodes have come or gone, or when slots are due to be given back.
    mutating func updateDemand() {
        let waiting = jobs.waiting + speculationsWanted
        let level = waiting == 0 ? 0 : roundedUp(min(waiting, policy.wantedLimit))
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
        let wanted = wanted(on: record)
        guard wanted != record.wanted else { return }
        if wanted < record.wanted, !mayLower {
            if demands.releaseDue == nil { demands.releaseDue = now + policy.releaseDelay }
            return
        }
        roster.update(node) { record in
            // What we give back is no longer ours from here on, before the node has answered.
            if wanted < record.wanted { record.slots = min(record.slots, wanted) }
            record.wanted = wanted
        }
        outbox.append(.reserve(node, wanted: wanted))
    }

    private func wanted(on record: NodeRecord) -> Int {
        let running = record.running.count
        guard demands.level > 0, !record.isDraining else { return running }
        let waiting = jobs.isRestricted ? jobs.waiting(for: record) + speculationsWanted : demands.level
        guard waiting > 0 else { return running }
        let level = roundedUp(min(waiting, demands.level))
        return max(running, min(policy.wantedLimit, level + (running == 0 ? 0 : roundedUp(running))))
    }

    private func roundedUp(_ count: Int) -> Int {
        var power = 1
        while power < count { power <<= 1 }
        return power
    }
}
