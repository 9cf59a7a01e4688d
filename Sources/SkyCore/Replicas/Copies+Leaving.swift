import Base
import Logging
import Transport

// MARK: - A node goes in order

extension Copies {
    /// This node is about to go. Gives back the votes of its copies, and lets another node have the jobs that nobody could take over
    /// without this one. Returns when the others can go on without it, or when the time is over.
    ///
    /// - Returns: whether the others can go on without it, as far as can be told.
    @discardableResult
    func leave(within limit: Duration) async -> Bool {
        guard noteLeaving() else { return true }
        let end = ContinuousClock.now + limit
        var isSaid = false
        while true {
            for replica in replicasHere {
                await replica.prepareToLeave(needsSuccessor: hasJobs(replica.coordinator))
            }
            let isNeeded = await isNeededElsewhere()
            var isBusy = false
            for replica in replicasHere where await replica.isBusyLeaving() { isBusy = true }
            guard isNeeded || isBusy else { return true }
            guard ContinuousClock.now < end, (try? await Task.sleep(for: Copies.leavingInterval)) != nil else {
                return false
            }
            if !isSaid { logger.info("leaving; waits until other nodes can go on with its jobs and copies") }
            isSaid = true
        }
    }

    /// Waits until the copies that can be reached have what was published here, when nothing more is, or until the time is over. Where
    /// the node could not wait for them before, this is for the last moments of what people were told.
    func completeCopies(within limit: Duration) async {
        let end = ContinuousClock.now + limit
        for replica in primaries {
            while await replica.isAhead, ContinuousClock.now < end {
                guard (try? await Task.sleep(for: Copies.completingInterval)) != nil else { return }
            }
        }
    }

    private static let completingInterval = Duration.milliseconds(20)

    /// How often a node that is about to go asks whether it may.
    private static let leavingInterval = Duration.milliseconds(100)

    /// How long a node that is about to go waits at most: until a coordinator that was lost just before is taken over.
    nonisolated var leavingTime: Duration { policy.adoptAfter * 3 }

    /// Whether a coordinator has jobs that others could go on with. One that does not work here yet may have some.
    private nonisolated func hasJobs(_ coordinator: CoordinatorID) async -> Bool {
        guard let owner = owners.withLockedValue({ $0.values.first { $0.coordinatorID == coordinator } }) else {
            return true
        }
        return await owner.hasJobs
    }

    /// Tells all nodes in reach that this one is about to go.
    ///
    /// - Returns: whether one of them needs it still.
    private nonisolated func isNeededElsewhere() async -> Bool {
        let request = LeaveRequest(replica: book.own)
        return await withTaskGroup(of: Bool.self) { group in
            for member in system.members {
                group.addTask {
                    // A node that does not know the question, or does not answer, needs nothing that this one could wait for.
                    guard let actor = try? self.actor(of: member.node) else { return false }
                    return (try? await withDeadline(Copies.patience) { try await actor.leave(request) }) ?? false
                }
            }
            return await group.contains(true)
        }
    }

    /// Another node is about to go.
    ///
    /// - Returns: whether it should wait.
    func leaves(_ replica: ReplicaID, of node: NodeID?) async -> Bool {
        guard let node, noteGoodbye(of: replica, node) else { return false }
        var isNeeded = false
        for primary in primaries where await primary.needs(replica) { isNeeded = true }
        return isNeeded
    }
}
