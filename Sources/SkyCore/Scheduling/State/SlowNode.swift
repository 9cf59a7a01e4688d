import Transport

/// Whether a slow node should stand idle. If the last tasks of a phase went to a machine that is much slower than the
/// others, or behind a much slower network, everything would wait for it before the next phase.
enum SlowNode {
    /// A node that is this many times as fast is worth waiting for.
    private static let margin = 1.5

    /// Until when a node leaves a job's tasks to faster ones; `nil` if it takes them.
    ///
    /// By that time the node would have done one of them itself. If no other node has taken them by then, it takes them
    /// after all.
    static func leaves(
        _ job: inout JobRecord, _ node: NodeID, roster: Roster, now: Duration, policy: SchedulerPolicy
    ) -> Duration? {
        let halfLife = policy.slownessHalfLife
        guard let mean = job.meanSeconds, let record = roster[node] else { return nil }
        // Without an idle slot, the task waits there for another one first, which doubles its time.
        let own = record.speed.slowness(now: now, halfLife: halfLife) * (record.hasIdleSlot ? 1 : 2)
        var (slots, best) = (0, own)
        for other in roster.order {
            guard let record = roster[other], record.isOpen, record.slots > 0,
                !job.options.isRestricted || job.options.allows(record)
            else { continue }
            let slowness = record.speed.slowness(now: now, halfLife: halfLife)
            guard slowness * margin <= own else { continue }
            slots += record.slots
            best = min(best, slowness)
        }
        // The tasks that the faster nodes have begun are half done on average. Then come those that wait, each in turn.
        guard slots > 0, best > 0, own / best > margin + Double(job.ready) / Double(slots) else {
            job.leftSince = nil
            return nil
        }
        let since = job.leftSince ?? now
        job.leftSince = since
        let until = since + .seconds(mean * own)
        return now < until ? until : nil
    }
}
