import Transport

extension JobScheduler {
    /// Starts speculative attempts of tasks that take long, on slots that would stand idle. The last few tasks must not
    /// wait for a node that is slow or frozen. The first result counts, and the other attempt is stopped.
    mutating func addSpeculativeAttempts() {
        nextSpeculation = nil
        // Work that waits has the first claim to the slots of the nodes that may take it.
        guard roster.usableCount > 1, jobs.leavesNodeIdle(in: roster) else {
            speculationsWanted = 0
            return
        }
        guard now >= speculationAllowed else {
            nextSpeculation = speculationAllowed
            return
        }
        speculationsWanted = 0
        let tails = jobs.tails
        guard !tails.isEmpty else { return }
        var idle = roster.idleSlots
        speculationAllowed = now + policy.speculationInterval
        for job in tails where jobs.mayHold(job.id) {
            let limit =
                job.meanSeconds == nil
                ? policy.firstSpeculationDelay
                : max(policy.speculationDelay, .nanoseconds(job.expectedTime) * policy.speculationFactor)
            let single = job.single().compactMap { task, attempt, node in
                roster.sent(attempt, to: node).map { (task: task, node: node, sent: $0) }
            }.sorted { ($0.sent, $0.task) < ($1.sent, $1.task) }
            for attempt in single {
                guard now - attempt.sent > limit else {
                    let due = max(speculationAllowed, attempt.sent + limit + .milliseconds(1))
                    nextSpeculation = min(nextSpeculation ?? due, due)
                    break
                }
                guard jobs.mayHold(job.id) else { break }
                guard idle > 0, let node = speculationNode(for: attempt.task, of: job, besides: attempt.node) else {
                    // Nodes may have slots that we gave back, and that a higher demand would get again.
                    speculationsWanted += 1
                    continue
                }
                guard let number = jobs.update(job.id, { $0.start(attempt.task, on: node) }) else { continue }
                send(
                    AttemptID(job: job.id, task: TaskID(attempt.task), number: number, generation: generation), to: node
                )
                idle -= 1
            }
        }
    }

    private func speculationNode(for task: Int, of job: JobRecord, besides node: NodeID) -> NodeID? {
        guard let placement = job.placement(of: task, in: roster) else { return nil }
        let rank = { (record: NodeRecord) in record.speed.rank(now: now, halfLife: policy.slownessHalfLife) }
        return roster.withRoom.compactMap { roster[$0] }
            .filter {
                $0.hasIdleSlot && $0.id != node
                    && placement.allows($0.id, choice: .preferred, local: roster.local)
            }
            .min { (rank($0), $0.running.count, $0.id) < (rank($1), $1.running.count, $1.id) }?.id
    }
}
