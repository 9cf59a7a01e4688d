import Base
import NIOCore
import Transport

// MARK: - Events and actions of the scheduler

extension CoordinatorCore {
    /// Passes an event to the scheduler and carries out the actions that it returns. Events that arise meanwhile wait their turn,
    /// so that every action is done in the order in which it was decided.
    mutating func schedule(_ event: JobScheduler.Event) {
        guard dispatch.enqueue(event) else { return }
        while let actions = dispatch.nextActions(now: now) {
            for action in actions { carryOut(action) }
        }
        begin(dispatch.announcePeople())
    }

    private mutating func carryOut(_ action: JobScheduler.Action) {
        switch action {
        case .reserve(let node, let slots): begin(dispatch.reserve(slots, on: node))
        case .run(let attempt, let node): send(attempt, to: node)
        case .stop(let attempt, let node):
            if writeAhead.withdraw(attempt) {
                schedule(.failed(attempt, on: node, .refused("stopped")))
            } else {
                begin(dispatch.stop(attempt, on: node))
            }
        case .completed(let attempt, let node): commit(attempt, on: node)
        case .discarded: break
        case .retrying(let job, let task, let node, let reason, let delay, attempt: _):
            jobs.countRetry()
            publishWhenStored(
                .retrying(
                    task: jobs.label(job, task), node: dispatch.name(of: node), reason: dispatch.withNames(reason),
                    delay: delay),
                of: job)
        case .taskFailed(let job, let task, let reason): fail(task, of: job, dispatch.withNames(reason))
        case .jobFinished(let job, let outcome): end(job, outcome)
        }
    }

    /// Begins calls to nodes.
    mutating func begin(_ calls: [NodeCalls.Call]) {
        for call in calls { outbox.append(.effect(.call(call))) }
    }

    private mutating func send(_ attempt: AttemptID, to node: NodeID) {
        guard let record = jobs[attempt.job], record.isActive, let task = record.plan.task(attempt.task.index),
            let basis = record.basis[attempt.task.index]
        else {
            // The scheduler holds a slot for the attempt until it is told that the attempt has failed.
            return schedule(.failed(attempt, on: node, .refused("the job has ended")))
        }
        let request = dispatch.request(
            attempt, task, basis: basis, timeLimit: record.request.taskTimeLimit, on: node)
        guard record.isRisky, node == dispatch.own else { return begin(dispatch.assign(request, to: node)) }
        let isAlone = dispatch.scheduler.isAlone(attempt)
        store(.risked(attempt.job, TaskRisk(task: attempt.task, node: node, isAlone: isAlone)))
        writeAhead.hold(request)
    }
}

// MARK: - Results

extension CoordinatorCore {
    /// An attempt has ended on a node.
    mutating func complete(_ result: AttemptResult, on node: NodeID) {
        let attempt = result.attempt
        guard dispatch.isBelievable(attempt, on: node, result.receipt, jobs.question(of: attempt)) else { return }
        switch result.outcome.end {
        case .success(let payload):
            let isComparable = dispatch.scheduler.measuresAlike(node)
            switch jobs.keep(
                payload, of: attempt, took: result.duration, stages: result.stages, isComparable: isComparable)
            {
            case .kept:
                schedule(.succeeded(attempt, on: node, took: result.duration))
                // Not committed now means never.
                jobs.drop(attempt)
            case .unusable:
                let reason: FailureReason = "\(node) runs a version whose results cannot be used here"
                schedule(.failed(attempt, on: node, .unavailable(reason)))
            case .wrong:
                let reason: FailureReason = "\(node) answered another question than it was asked"
                schedule(.failed(attempt, on: node, .unavailable(reason)))
            }
        case .failure(let failure):
            if failure.isOfInput { jobs.markBadInput(attempt) }
            schedule(.failed(attempt, on: node, failure))
        }
    }

    private mutating func commit(_ attempt: AttemptID, on node: NodeID) {
        let (job, task) = (attempt.job, attempt.task)
        let slots = dispatch.scheduler.slots(of: node)
        guard let (result, value) = jobs.commit(attempt, by: dispatch.name(of: node), slots: slots) else { return }
        store(.result(result))
        keepQuota(of: job)
        publishWhenStored(.completed(task: jobs.label(job, task), node: result.node), of: job, task: task.index)
        guard let value, let step = jobs.advancePlan(of: job, result, value) else { return }
        apply(step, to: job, after: task)
    }

    private mutating func fail(_ task: TaskID, of job: JobID, _ reason: String) {
        guard let (failure, step) = jobs.fail(job, task, reason) else { return }
        store(.failed(job, failure))
        keepQuota(of: job)
        // If this failure ends the job, the event of its end gives the reason. The reason is published only once.
        guard step.abort == nil else { return apply(step, to: job, after: task) }
        publishWhenStored(.failed(task: jobs.label(job, task), reason: failure.reason), of: job, task: task.index)
        apply(step, to: job, after: task)
        guard let allowed = jobs.exceededFailures(job) else { return }
        giveUp(job, SkyError(.failed, "more than \(allowed) tasks failed, the last because \(failure.reason)"))
    }

    /// More is stored of a job. Where its person's jobs store too much, it waits until some are deleted; where it alone stores too
    /// much, nothing that is deleted helps, and it is given up.
    private mutating func keepQuota(of job: JobID) {
        applyQuotas()
        // Whoever is done in time is not given up for the last result.
        guard let excess = jobs.excess(of: job), dispatch.scheduler.progress(of: job) != nil else { return }
        giveUp(job, excess)
    }

    private mutating func end(_ job: JobID, _ outcome: JobOutcome) {
        guard let report = jobs.end(job, outcome, now: now, wall: wall) else { return }
        store(.ended(job, report, at: wall, ran: ran))
        publishWhenStored(.ended(report), of: job)
    }

    /// Carries out a step of a job's plan. The next tasks do not wait until the results before them are stored; see `TaskBasis`.
    ///
    /// - Parameter task: the task whose end led to the step; `nil` for the first step.
    mutating func apply(_ step: PlanStep, to job: JobID, after task: TaskID? = nil) {
        for event in step.events { publishWhenStored(event, of: job, task: task?.index) }
        if let abort = step.abort { return giveUp(job, abort) }
        issue(jobs.issue(step, of: job), of: job, isLast: step.isLast)
    }

    /// Hands the tasks of a step to the scheduler, or has them looked up among earlier results first.
    mutating func issue(_ tasks: Range<Int>, of job: JobID, isLast: Bool) {
        guard let record = jobs[job], record.isActive else { return }
        if !tasks.isEmpty, let holder = record.plan.holder {
            schedule(.inputFound(job, on: dispatch.isPresent(holder) ? holder : dispatch.own))
        }
        if !tasks.isEmpty, record.plan.usesCache {
            jobs.beginSearch(for: tasks, of: job, isLast: isLast)
            outbox.append(.effect(.lookUp(job, tasks, record.plan)))
            return
        }
        if !tasks.isEmpty {
            schedule(.tasksAdded(job, count: tasks.count, affinity: jobs.affinity(of: tasks, in: job)))
        }
        if isLast { schedule(.noMoreTasks(job)) }
    }
}
