import Transport

extension JobScheduler {
    /// How long to wait before searching again when a search stopped at its limit: soon for a person, rare for a processor.
    static let searchInterval: Duration = .milliseconds(10)

    /// Fills free slots until none is free or no task may go there. The least loaded node comes first, and jobs take turns.
    mutating func dispatch() {
        nextSearch = nil
        var skipped: Set<NodeID> = []
        while jobs.ready > 0,
            let node = roster.leastLoaded(now: now, halfLife: policy.slownessHalfLife, except: skipped)
        {
            let spareTime = roster[node].flatMap { $0.hasIdleSlot ? nil : $0.spareTime }
            let found = jobs.claim(for: node, roster: roster, spareTime: spareTime, now: now, policy: policy)
            if let until = found.leavesUntil { searchAgain(at: until) }
            if let attempt = found.attempt {
                send(attempt, to: node)
            } else {
                skipped.insert(node)
                if found.isCutShort { searchAgain(at: now + Self.searchInterval) }
            }
        }
    }

    mutating func searchAgain(at due: Duration) { nextSearch = min(nextSearch ?? due, due) }

    func expectedTime(of attempt: AttemptID) -> Int { jobs.expectedTime(of: attempt.job) }

    mutating func send(_ attempt: AttemptID, to node: NodeID) {
        occupy(node, with: attempt)
        outbox.append(.run(attempt, on: node))
    }

    /// Takes note that an attempt occupies a slot of its node, and one of its person's.
    mutating func occupy(_ node: NodeID, with attempt: AttemptID) {
        let person = jobs.hold(for: attempt.job)
        let sent = NodeRecord.Sent(at: now, expected: expectedTime(of: attempt), person: person)
        var isNew = false
        roster.update(node) { isNew = $0.add(attempt, sent) }
        if !isNew { jobs.release(person) }
    }

    /// Ends what is due: back-offs, pauses of nodes, and the waits of tasks for a preferred node.
    mutating func fireTimers() {
        while let purpose = timers.popDue(now: now) {
            guard isPending(purpose) else { continue }
            switch purpose {
            case .retry(let entry, let job):
                makeReady(entry.task, of: job)
            case .relax(let entry, let job):
                makeReady(entry.task, of: job, relaxed: true)
            case .send(let entry, let job):
                endWait(entry, of: job)
            case .resume(let node):
                let now = now
                roster.update(node) { record in
                    if let until = record.pausedUntil, until <= now { record.pausedUntil = nil }
                }
            }
        }
    }

    /// Keeps `nextWake` from naming times at which nothing happens.
    mutating func dropStaleTimers() {
        while let purpose = timers.nextPurpose, !isPending(purpose) { timers.dropFirst() }
    }

    /// Lets a task wait for a slot. The task fails when no live node may take it.
    mutating func makeReady(_ task: Int, of job: JobID, relaxed: Bool = false) {
        let placed = jobs.update(job) { [roster] in $0.makeReady(task, relaxed: relaxed, roster: roster) }
        guard let (entry, placement) = placed else { return failOutOfReach(task, of: job) }
        if placement.isChoosy { timers.add(.relax(entry, of: job), due: now + policy.relaxAfter) }
        if placement.sendsInput, !placement.never.isEmpty {
            timers.add(.send(entry, of: job), due: now + policy.sendAfter)
        }
    }

    /// Ends the wait of a task for a node that may have its input, which is sent instead. A job that gets no slots does not
    /// wait for nodes.
    private mutating func endWait(_ entry: RetryEntry, of job: JobID) {
        guard let placement = jobs[job]?.placement(of: entry.task, in: roster), placement.sendsInput else { return }
        let choice = placement.choice(in: roster)
        let isHeldBack = isSuspended || !jobs.mayHold(job)
        let mayGo = { [roster] (node: NodeID) in
            placement.allows(node, choice: choice, local: roster.local) && roster[node]?.hasIdleSlot == true
        }
        guard isHeldBack || roster.withRoom.contains(where: mayGo) else { return failOutOfReach(entry.task, of: job) }
        timers.add(.send(entry, of: job), due: now + policy.sendAfter)
    }

    private mutating func failOutOfReach(_ task: Int, of job: JobID) {
        guard let record = jobs[job], let placement = record.placement(of: task, in: roster) else { return }
        fail(
            task, of: job,
            reason: OutOfReach.reason(
                record[task]?.lastReason ?? "", mayBeElsewhere: placement.mayBeReached(in: roster),
                isRestricted: !placement.barred.isEmpty))
    }

    private func isPending(_ purpose: TimerQueue.Purpose) -> Bool {
        switch purpose {
        case .retry(let entry, let job), .relax(let entry, let job), .send(let entry, let job):
            jobs.task(entry.task, of: job)?.ticket == entry.ticket
        case .resume(let node):
            roster[node]?.pausedUntil != nil
        }
    }
}
