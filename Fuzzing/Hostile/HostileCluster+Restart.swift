@testable import SkyCore
@testable import SkyJobs
@testable import Transport

extension HostileCluster {
    /// Ends the coordinator and starts it again with what is stored.
    mutating func restart() {
        if input.bool() { store(.max) }
        let choice = input.byte()
        if choice & 1 == 1 { journal.damage(&input) }
        let generation = choice & 2 == 2 ? UInt64(Int64.max) : core.dispatch.incarnation.generation &+ 1
        let ran = choice & 4 == 4 ? Duration.milliseconds(1000 * 366 * 86_400_000) : core.ran
        let incarnation = CoordinatorIncarnation(
            HostileCluster.coordinator, generation: min(generation, UInt64(Int64.max)))
        searches = []
        if choice & 8 == 8 { sequences = [:] }
        core = CoordinatorCore(
            incarnation: incarnation, secret: [1, 2, 3], node: HostileCluster.own, name: "anna", ranBefore: ran)
        now = .zero
        for job in journal.jobs {
            var known = job.report == nil ? journal.replay(job) : JobReplay(job.request)
            if known.strayTask != nil {
                // The job begins anew, as `Coordinator.restore` does it.
                journal.restart(job.id)
                known = JobReplay(job.request)
            }
            known.isRisky = choice & 16 == 16
            change { $0.restore(job, known) }
        }
        change { $0.forgetOldJobs() }
        join()
    }

    /// Asks for all that people and programs ask of every job.
    func look() {
        for job in core.jobs.order.prefix(4) {
            let explanation = core.explain(job, now: now)
            require(explanation?.reasons.isEmpty == false, "there is a reason for everything")
            _ = core.shares(of: job)
            guard let record = core.jobs[job] else { continue }
            let events = record.log.events(from: 0, count: 1000)
            require(events.count <= 1000, "a page of events")
            _ = record.log.events(from: .max, count: 1000).count + record.log.events(from: .min, count: 1000).count
            _ = core.dispatch.scheduler.progress(of: job)
            _ = record.request.title
            for event in events { require((try? WireCoder.encode(event)) != nil, "an event can be sent: \(event)") }
        }
        _ = core.dispatch.scheduler.speeds(now: now)
        _ = core.nextWake
    }

    /// Reads results as `FetchedResults.read` does, and uses them as a command does.
    mutating func fetchResults() {
        for job in journal.jobs.suffix(2) where core.jobs[job.id] != nil {
            let replay = journal.replay(job)
            guard let report = job.report, replay.damage == nil, replay.published.completed == report.completed,
                replay.published.failed == report.failed
            else { continue }
            if let plan = replay.plan as? SkyPlan, let catalogue = plan.phases.catalogue {
                _ = plan.phases.background?.globalRMS
                CatalogueUse.write(
                    catalogue, configuration: plan.phases.configuration, path: plan.phases.request.image.path,
                    format: input.byte())
            }
        }
    }
}
