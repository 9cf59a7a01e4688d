import Transport

extension JobScheduler {
    /// How many slots to demand, and when to give some back.
    ///
    /// On each node we demand a slot for each attempt that runs there and for each task that waits and that the node may take, rounded up
    /// to powers of two so that a demand does not change with every task. The demand is never less than what is needed and less than
    /// twice that. When nothing waits, it is exactly what runs there. It is also what runs there where no task may be sent, whatever
    /// waits: slots that are leased and not used are kept from other coordinators. A higher demand is sent at once. A lower demand
    /// waits for `releaseDelay`, and is then sent for all nodes together.
    struct Demands {
        /// The version of the people's tasks for which every node was considered.
        var tasksVersion = 0
        /// How many speculative attempts found no slot, rounded up, when every node was considered.
        var speculations = 0
        /// The version of the roster for which every node was considered.
        var rosterVersion = 0
        /// Whether nothing was sent out when every node was considered.
        var isSuspended = false
        /// When demands are lowered; nil while no demand is to be lowered.
        var releaseDue: Duration?
    }

    /// Returns the changes of our demands as actions. Looks at all nodes only when a number of waiting tasks has doubled
    /// or halved, when nodes have come or gone, when the scheduler was suspended or goes on, or when slots are due to be given back.
    mutating func updateDemand() {
        let speculations = WaitingTasks.roundedUp(speculationsWanted)
        let isRelease = demands.releaseDue.map { $0 <= now } ?? false
        if isRelease { demands.releaseDue = nil }
        let isSame =
            demands.tasksVersion == jobs.people.version && demands.rosterVersion == roster.version
            && demands.speculations == speculations && demands.isSuspended == isSuspended
        demands.isSuspended = isSuspended
        demands.tasksVersion = jobs.people.version
        demands.rosterVersion = roster.version
        demands.speculations = speculations
        let nodes = isSame && !isRelease ? roster.changed : roster.order
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
        guard !isSuspended, !record.isDraining else { return running }
        // The task for which the node is emptied, and no other, is sent there.
        guard !record.isSetAside else { return max(running, 1) }
        let waiting = jobs.waiting(for: record.id) + demands.speculations
        guard waiting > 0 else { return running }
        return max(running, min(policy.demandLimit, waiting + WaitingTasks.roundedUp(running)))
    }
}
