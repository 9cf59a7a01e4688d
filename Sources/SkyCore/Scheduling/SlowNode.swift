import Transport

/// Whether a node had better stand idle: the last tasks of a phase, on a machine or behind a wire much slower than the others,
/// would keep all from the next phase.
enum SlowNode {
    /// A node this many times as fast is worth waiting for.
    private static let margin = 1.5

    /// Until when a node leaves a job's tasks to faster ones; `nil` where it takes them.
    ///
    /// By then it would have done one itself: if nobody has taken them, it does after all.
    static func leaves(
        _ job: inout JobRecord, _ node: NodeID, roster: Roster, now: Duration, policy: JobScheduler.Policy
    ) -> Duration? {
        let halfLife = policy.slownessHalfLife
        guard let mean = job.meanSeconds, let record = roster[node] else { return nil }
        // One that waits there for another.
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
        // What the faster ones have begun is half done, then come those that wait, each in turn.
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
