import Transport

extension JobScheduler {
    /// Commits a result unless its task is done already. A late result of an attempt that was given up counts like any
    /// other: the work is done, and the newer attempt is stopped.
    mutating func succeeded(_ attempt: AttemptID, on node: NodeID) {
        let sent = roster.sent(attempt, to: node)
        roster.update(node) { $0.running[attempt] = nil }
        let task = attempt.task.index
        guard let record = jobs.task(task, of: attempt.job), isCredible(attempt, on: node, record) else {
            outbox.append(.discarded(attempt))
            return
        }
        if case .running(let other) = record.phase, record.attempts != attempt.number {
            outbox.append(.stop(AttemptID(job: attempt.job, task: attempt.task, number: record.attempts), on: other))
        }
        jobs.update(attempt.job) { $0.complete(task, on: node) }
        if let sent { measure(now - sent, of: attempt.job, on: node) }
        outbox.append(.completed(attempt.job, attempt.task, attempt: attempt.number, on: node))
        finishIfDone(attempt.job)
    }

    /// Charges a failure and decides what becomes of the task. The failure of an attempt that was given up before changes
    /// nothing: it was charged then.
    mutating func failed(_ attempt: AttemptID, on node: NodeID, _ failure: AttemptFailure) {
        let (job, task) = (attempt.job, attempt.task.index)
        guard let record = jobs.task(task, of: job), record.attempts == attempt.number,
            record.phase == .running(on: node)
        else { return }
        let charged = jobs.update(job) { [policy] in $0.charge(failure, to: task, on: node, policy: policy) }
        guard let verdict = charged else { return }
        if case .nodeLost = failure { rest(node, for: policy.lossDelay) }
        switch verdict {
        case .retryAfterFault(let count):
            let delay = backoff(afterFaults: count)
            retrying(attempt, on: node, failure, delay: delay)
            backOff(task, of: job, for: delay)
        case .retryNow:
            if hasSomewhereToGo(task, of: job) { retrying(attempt, on: node, failure, delay: .zero) }
            makeReady(task, of: job)
        case .refused:
            // It would refuse the next task for the same reason.
            rest(node, for: policy.refusalDelay)
            backOff(task, of: job, for: jittered(policy.refusalDelay))
        case .fail(let reason):
            fail(task, of: job, reason: reason)
        }
    }

    /// Gives up what ran on a node that is gone and lets it run elsewhere.
    mutating func nodeLost(_ node: NodeID) {
        guard let record = roster.remove(node) else { return }
        for attempt in record.running.keys.sorted() {
            failed(attempt, on: node, .nodeLost("node \(node) was lost"))
        }
        for job in jobs.ids {
            for task in jobs.update(job, { [roster] in $0.popStranded(roster: roster) }) ?? [] {
                makeReady(task, of: job)
            }
        }
    }

    /// Ends a job at once. What still runs is told to stop, and its results will be discarded.
    mutating func cancelled(_ job: JobID) {
        guard let record = jobs.remove(job) else { return }
        for (attempt, node) in record.runningAttempts() { outbox.append(.stop(attempt, on: node)) }
        finish(job, record)
    }

    mutating func fail(_ task: Int, of job: JobID, reason: String) {
        guard jobs.task(task, of: job) != nil else { return }
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
    /// Whether an attempt was really made, and, if it is the newest, on that node.
    private func isCredible(_ attempt: AttemptID, on node: NodeID, _ record: TaskRecord) -> Bool {
        guard attempt.number >= 1, attempt.number <= record.attempts else { return false }
        guard attempt.number == record.attempts, case .running(let expected) = record.phase else { return true }
        return expected == node
    }

    private func hasSomewhereToGo(_ task: Int, of job: JobID) -> Bool {
        guard let placement = jobs.task(task, of: job)?.placement(in: roster) else { return false }
        return placement.choice(in: roster) != .none
    }

    private mutating func finish(_ job: JobID, _ record: JobRecord) {
        let outcome = JobOutcome(
            completed: record.completed, failed: record.failed, cancelled: record.remaining, retries: record.retried)
        outbox.append(.jobFinished(job, outcome))
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
    private mutating func rest(_ node: NodeID, for delay: Duration) {
        guard let record = roster[node] else { return }
        let until = max(now + delay, record.pausedUntil ?? .zero)
        roster.update(node) { $0.pausedUntil = until }
        timers.add(.resume(node), due: until)
    }

    private mutating func backoff(afterFaults count: Int) -> Duration {
        // Doubling thirty times passes any limit.
        let doublings = min(max(0, count - 1), 30)
        return jittered(min(policy.backoffLimit, policy.backoffBase * (1 << doublings)))
    }

    private mutating func jittered(_ delay: Duration) -> Duration {
        let jitter = min(max(0, policy.backoffJitter), 1)
        return delay * Double.random(in: (1 - jitter)...(1 + jitter), using: &generator)
    }

    private mutating func measure(_ duration: Duration, of job: JobID, on node: NodeID) {
        guard let ratio = jobs.update(job, { $0.measure(duration) }) else { return }
        let (now, halfLife) = (now, policy.slownessHalfLife)
        roster.update(node) { $0.speed.record(ratio: ratio, now: now, halfLife: halfLife) }
    }
}
