import Base
import Distributed
import Logging
package import Transport

/// All parts of a node: its actor system, its scan actor with the worker processes, its coordinator.
///
/// `start()` opens the sockets. `run()` works until it is cancelled, and then leaves the cluster in order.
package final class Node: Sendable {
    package let system: ClusterSystem
    package let coordinator: Coordinator
    let scan: ScanActor
    private let workers: WorkerPool
    private let slots: Int
    private let pixels: (store: PixelStore, actor: PixelActor)

    /// - Parameter journal: where the node's coordinator keeps what it must not forget.
    package init(_ settings: NodeSettings, journal: Journal) {
        let system = ClusterSystem(settings.cluster)
        self.system = system
        slots = settings.slots
        let logger = settings.cluster.logger
        let store = PixelStore(limit: settings.pixelCache, system: system)
        pixels = ClusterSystem.withActorName(PixelActor.wellKnownName) {
            (store, PixelActor(actorSystem: system) { await store.serve($0) })
        }
        let workers = WorkerPool(
            executable: settings.executable, memory: settings.workerMemory, pixels: store,
            groups: settings.controlGroups, logger: logger)
        self.workers = workers
        scan = ClusterSystem.withActorName(ScanActor.wellKnownName) {
            ScanActor(
                slots: settings.slots,
                runner: TaskRunner(
                    workers: workers, holder: NodeLabel(id: system.node, name: system.name), pixels: store,
                    allowsCrash: settings.allowsCrash, slowness: settings.slowness),
                actorSystem: system)
        }
        coordinator = ClusterSystem.withActorName(Coordinator.wellKnownName) {
            Coordinator(journal: journal, retention: settings.retention, logger: logger, actorSystem: system)
        }
    }

    /// - Parameter progress: is called with words about the progress, because a large journal takes long to read.
    /// - Throws: if an address cannot be bound, an interface does not exist, or the journal cannot be read.
    package func start(progress: @escaping @Sendable (String) -> Void = { _ in }) async throws {
        await pixels.store.setReader { [workers] in await workers.part($0) }
        try await coordinator.whenLocal {
            try await $0.restore { done, all in progress("reading the journal: \(done) of \(all) jobs") }
        }
        try await system.start()
    }

    /// Starts workers for the tasks that will come soon.
    package func startWorkers(_ count: Int) async { await workers.start(min(count, slots)) }

    /// Takes no new work, and waits until the tasks that run here have ended and their results are fetched.
    ///
    /// - Parameters:
    ///   - grace: how long to wait. Tasks that still run then are left to other nodes.
    ///   - begun: is called with the number of tasks to wait for.
    package func drain(atMost grace: Duration, begun: @Sendable (Int) -> Void) async {
        guard let (running, latches) = await scan.whenLocal({ ($0.running, $0.finish()) }) else { return }
        system.drain(true)
        begun(running)
        guard await latches.idle.wait(atMost: grace) else { return }
        // Coordinators ask all the time. One that has no answer by now has other problems.
        await latches.fetched.wait(atMost: Node.fetchingTime)
    }

    private static let fetchingTime = Duration.seconds(1)

    /// Changes the settings that can change while the node runs.
    package func change(slots: Int, retention: JobRetention, limits: JournalLimits, join: [NodeAddress]) async {
        await scan.whenLocal { $0.setSlots(slots) }
        await coordinator.whenLocal { await $0.setLimits(retention, limits) }
        for address in join { system.seed(address) }
    }

    /// The state of the node. It is returned only if all parts of the node answer: the event loops, the scan actor, the
    /// coordinator. The answer takes as long as the slowest part.
    package func health() async -> NodeHealth {
        await system.visitEventLoops()
        let scanned = await scan.whenLocal { ($0.status(), $0.attemptCounts) }
        let work = await coordinator.whenLocal { $0.work() }
        let job = await coordinator.whenLocal { $0.newestJob() } ?? nil
        return NodeHealth(
            slots: scanned?.0.slots ?? 0, running: scanned?.0.running ?? 0, attempts: scanned?.1 ?? AttemptCounts(),
            tasks: work?.counts ?? TaskCounts(), isPaused: work?.isPaused ?? false,
            isReady: !system.ownMember.isDraining, nodes: system.members.count + 1,
            job: job)
    }

    /// Works until it is cancelled, then stops the workers and says goodbye.
    package func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.coordinator.whenLocal { await $0.run() } }
            group.addTask { await self.followMembership() }
            group.addTask { await self.scan.whenLocal { await $0.expireLeases() } }
            group.addTask { await self.trimWhenIdle() }
        }
        await scan.whenLocal { $0.stop() }
        await coordinator.whenLocal { await $0.close() }
        await system.shutdown()
        await workers.close()
    }

    private func followMembership() async {
        var reports = MembershipReports()
        while !Task.isCancelled {
            let events = system.membershipEvents()
            reports.begins(with: system.members)
            for await event in events {
                if let line = reports.line(event, at: system.now) { log(line) }
                switch event {
                case .lost(let node): await scan.whenLocal { $0.linkLost(node) }
                case .left(let node): await scan.whenLocal { $0.left(node) }
                case .joined, .suspect, .back, .draining:
                    break
                }
            }
            await Task.yield()
        }
    }

    private func log(_ line: MembershipReports.Line) {
        switch line {
        case .joined(let peer): system.logger.info("a node has joined", metadata: ["peer": "\(peer)"])
        case .left(let peer): system.logger.info("a node has left", metadata: ["peer": "\(peer)"])
        case .lost(let peer): system.logger.notice("a node was lost", metadata: ["peer": "\(peer)"])
        case .returned(let peer): system.logger.notice("a node that was lost is back", metadata: ["peer": "\(peer)"])
        case .restless(let peer):
            system.logger.notice(
                "a node comes and goes; for an hour nothing more is said of it", metadata: ["peer": "\(peer)"])
        }
    }

    /// When no task has come for a while, gives back what is held for the next one: worker processes, pixels, catalogues.
    private func trimWhenIdle() async {
        var plan = TrimPlan()
        while true {
            do { try await Task.sleep(for: plan.pause) } catch { return }
            let scanned = await scan.whenLocal { ($0.running, $0.attemptCounts) }
            let done = await coordinator.whenLocal { ($0.newestJob() != nil, $0.work().counts, $0.fetches) }
            guard let scanned, let done else { return }
            let activity = TrimPlan.Activity(
                isBusy: scanned.0 > 0 || done.0, attempts: scanned.1, tasks: done.1, fetches: done.2)
            guard plan.isDue(activity, now: system.now) else { continue }
            await workers.endIdleWorkers()
            await pixels.store.removeParts()
            await coordinator.whenLocal { await $0.trim() }
            SpareMemory.giveBack()
        }
    }
}
