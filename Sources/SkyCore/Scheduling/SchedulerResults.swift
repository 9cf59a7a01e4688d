import Transport

extension JobScheduler {
    /// Commits a result unless its task is done already. A late result of an attempt that was given up counts like any
    /// other, because the work is done; the newer attempts are stopped.
    mutating func succeeded(_ attempt: AttemptID, on node: NodeID, took duration: Duration?) {
        let sent = roster.sent(attempt, to: node)
        _ = freeSlot(of: attempt, on: node)
        let task = attempt.task.index
        guard jobs.isOpen(task, of: attempt.job), isCredible(attempt, on: node) else {
            outbox.append(.discarded(attempt))
            return
        }
        stopOthers(than: attempt)
        jobs.update(attempt.job) { $0.complete(task, on: node) }
        if let took = duration ?? sent.map({ now - $0 }) { measure(took, of: attempt.job, on: node) }
        outbox.append(.completed(attempt, on: node))
        finishIfDone(attempt.job)
    }

    /// Takes note that an attempt no longer occupies a slot of its node.
    ///
    /// - Returns: whether the attempt ran in isolation, with nothing else allowed beside it.
    mutating func freeSlot(of attempt: AttemptID, on node: NodeID) -> Bool {
        var freed: NodeRecord.Sent?
        roster.update(node) { freed = $0.remove(attempt) }
        jobs.release(freed?.person)
        guard isolation.attempt == attempt else { return false }
        endIsolation()
        return true
    }

    /// Takes up an attempt that runs on a node and that this scheduler did not know of, so that its task need not be tried again.
    mutating func adopted(_ attempt: AttemptID, on node: NodeID) {
        guard roster.isLive(node), roster.sent(attempt, to: node) == nil else { return }
        occupy(node, with: attempt)
        if jobs.update(attempt.job, { $0.adopt(attempt, on: node) }) != true {
            outbox.append(.stop(attempt, on: node))
        }
    }

    /// Charges a failure and decides what becomes of the task. The failure of an attempt that was given up before changes
    /// nothing, because it was charged then.
    mutating func failed(_ attempt: AttemptID, on node: NodeID, _ failure: AttemptFailure, alone: Bool) {
        let (job, task) = (attempt.job, attempt.task.index)
        guard jobs.update(job, { $0.remove(attempt, on: node) }) == true else { return }
        let charged = jobs.update(job) { [policy] in
            $0.charge(failure, to: task, on: node, alone: alone, policy: policy)
        }
        guard let verdict = charged else { return }
        if case .nodeLost = failure { pause(node, for: policy.lossDelay) }
        apply(verdict, attempt, on: node, failure)
    }

    /// Charges a task of an earlier incarnation for running on the coordinator's node when that died.
    mutating func blame(_ task: Int, of job: JobID, _ risks: [TaskRisk]) {
        var verdict: TaskRecord.Verdict?
        for risk in risks { verdict = jobs.update(job) { [policy] in $0.blame(task, risk, policy: policy) } ?? verdict }
        guard let verdict, let risk = risks.last else { return }
        let attempt = AttemptID(job: job, task: TaskID(task), number: 0, generation: generation)
        apply(verdict, attempt, on: risk.node, .nodeLost("\(risk.node) ended"))
    }

    private mutating func apply(
        _ verdict: TaskRecord.Verdict, _ attempt: AttemptID, on node: NodeID, _ failure: AttemptFailure
    ) {
        let (job, task) = (attempt.job, attempt.task.index)
        switch verdict {
        case .retryAfterFault(let count):
            let delay = backOff(afterFaults: count)
            retrying(attempt, on: node, failure, delay: delay)
            backOff(task, of: job, for: delay)
        case .retryNow:
            if hasSomewhereToGo(task, of: job) { retrying(attempt, on: node, failure, delay: .zero) }
            makeReady(task, of: job)
        case .retryAlone:
            retrying(attempt, on: node, failure, delay: .zero)
            if let entry = jobs.update(job, { $0.backOff(task) }) { isolation.waiting.append((job, entry)) }
        case .wait:
            break
        case .refused:
            // The node would refuse the next task for the same reason.
            pause(node, for: policy.refusalDelay)
            backOff(task, of: job, for: jittered(policy.refusalDelay))
        case .fail(let reason):
            fail(task, of: job, reason: reason)
        }
    }

    /// Gives up the attempts on a node that is gone, and lets their tasks run elsewhere.
    mutating func nodeLost(_ node: NodeID) {
        guard let record = roster.remove(node) else { return }
        jobs.nodeLost(node)
        for sent in record.running.values { jobs.release(sent.person) }
        let wasAlone = isolation.node == node && isolation.attempt != nil
        if isolation.node == node { endIsolation() }
        for attempt in record.running.keys.sorted() {
            failed(attempt, on: node, .nodeLost("\(node) was lost"), alone: wasAlone)
        }
        endStranded()
    }

    /// Ends the tasks that waited for a node that is no longer there, or that has no slots any more.
    mutating func endStranded() {
        for job in jobs.ids {
            for task in jobs.update(job, { [roster] in $0.popStranded(roster: roster) }) ?? [] {
                makeReady(task, of: job)
            }
        }
    }

    /// Ends a job at once. Attempts that still run are told to stop, and their results will be discarded.
    mutating func cancelled(_ job: JobID) {
        guard let record = jobs.remove(job) else { return }
        for (attempt, node) in record.runningAttempts() { outbox.append(.stop(attempt, on: node)) }
        finish(job, record)
    }

    mutating func fail(_ task: Int, of job: JobID, reason: FailureReason) {
        guard let record = jobs.task(task, of: job) else { return }
        for runner in record.runners { stop(runner, task, of: job) }
        jobs.update(job) { $0.fail(task) }
        outbox.append(.taskFailed(job, TaskID(task), reason: reason))
        finishIfDone(job)
    }

    mutating func finishIfDone(_ job: JobID) {
        guard jobs.isDone(job), let record = jobs.remove(job) else { return }
        finish(job, record)
    }
}

extension JobScheduler {
    /// Whether an attempt was really made, and on that node if it is known to be under way. Nothing is known of the
    /// attempts of an earlier incarnation, so any of them may have been made.
    private func isCredible(_ attempt: AttemptID, on node: NodeID) -> Bool {
        guard attempt.generation == generation else { return attempt.generation < generation }
        guard let record = jobs.task(attempt.task.index, of: attempt.job) else { return false }
        guard attempt.number >= 1, attempt.number <= record.attempts else { return false }
        let known = record.runners.first { $0.number == attempt.number && $0.generation == attempt.generation }
        return known.map { $0.node == node } ?? true
    }

    private mutating func stopOthers(than attempt: AttemptID) {
        for runner in jobs.task(attempt.task.index, of: attempt.job)?.runners ?? []
        where (runner.number, runner.generation) != (attempt.number, attempt.generation) {
            stop(runner, attempt.task.index, of: attempt.job)
        }
    }

    private mutating func stop(_ runner: TaskRecord.Runner, _ task: Int, of job: JobID) {
        let attempt = AttemptID(job: job, task: TaskID(task), number: runner.number, generation: runner.generation)
        outbox.append(.stop(attempt, on: runner.node))
    }

    func hasSomewhereToGo(_ task: Int, of job: JobID) -> Bool {
        guard let placement = jobs[job]?.placement(of: task, in: roster) else { return false }
        return placement.choice(in: roster) != .none
    }

    private mutating func finish(_ job: JobID, _ record: JobRecord) {
        let outcome = JobOutcome(
            completed: record.completed, failed: record.failed, cancelled: record.remaining, retries: record.retried)
        outbox.append(.jobFinished(job, outcome))
        if record.locality.holder != nil { updateLookahead() }
    }

    private mutating func retrying(_ attempt: AttemptID, on node: NodeID, _ failure: AttemptFailure, delay: Duration) {
        jobs.update(attempt.job) { $0.retried += 1 }
        outbox.append(
            .retrying(
                attempt.job, attempt.task, failedOn: node, reason: failure.reason, delay: delay,
                attempt: attempt.number + 1))
    }

    private mutating func backOff(_ task: Int, of job: JobID, for delay: Duration) {
        guard let entry = jobs.update(job, { $0.backOff(task) }) else { return }
        timers.add(.retry(entry, of: job), due: now + delay)
    }

    /// Sends nothing new to a node for a while, or until it sends a new lease.
    private mutating func pause(_ node: NodeID, for delay: Duration) {
        guard let record = roster[node] else { return }
        let until = max(now + delay, record.pausedUntil ?? .zero)
        roster.update(node) { $0.pausedUntil = until }
        timers.add(.resume(node), due: until)
    }

    private mutating func backOff(afterFaults count: Int) -> Duration {
        // Thirty doublings pass any limit.
        let doublings = min(max(0, count - 1), 30)
        return jittered(min(policy.backOffLimit, policy.backOffBase * (1 << doublings)))
    }

    private mutating func jittered(_ delay: Duration) -> Duration {
        let jitter = min(max(0, policy.backOffJitter), 1)
        return delay * Double.random(in: (1 - jitter)...(1 + jitter), using: &generator)
    }

    private mutating func measure(_ duration: Duration, of job: JobID, on node: NodeID) {
        guard let ratio = jobs.update(job, { $0.measure(duration) }) else { return }
        let (now, halfLife) = (now, policy.slownessHalfLife)
        roster.update(node) { $0.speed.record(ratio: ratio, now: now, halfLife: halfLife) }
    }
}
