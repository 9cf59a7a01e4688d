import Base
import Distributed
import Logging
package import Transport

/// Everything a node is: its actor system, its scan actor with the worker processes, its coordinator.
///
/// `start()` opens the sockets; `run()` works until it is cancelled and then leaves the cluster in order.
package final class Node: Sendable {
    package let system: ClusterSystem
    package let coordinator: Coordinator
    let scan: ScanActor
    private let workers: WorkerPool
    private let pixels: (store: PixelStore, actor: PixelActor)

    /// - Parameter journal: where its coordinator keeps what it must not forget.
    package init(_ settings: NodeSettings, journal: Journal) {
        let system = ClusterSystem(settings.cluster)
        self.system = system
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

    /// - Parameter progress: told in words how far it is, where a large journal makes it take long.
    /// - Throws: where an address cannot be bound or an interface is not there, or the journal cannot be read.
    package func start(progress: @escaping @Sendable (String) -> Void = { _ in }) async throws {
        await pixels.store.read(with: workers)
        try await coordinator.whenLocal {
            try await $0.restore { done, all in progress("reading the journal: \(done) of \(all) jobs") }
        }
        try await system.start()
    }

    /// Takes no new work, and waits until what runs here has ended and its results are fetched.
    ///
    /// - Parameters:
    ///   - grace: how long to wait; what still runs then is left to other nodes.
    ///   - begun: told how many tasks there are to wait for.
    package func drain(atMost grace: Duration, begun: @Sendable (Int) -> Void) async {
        guard let (running, latches) = await scan.whenLocal({ ($0.running, $0.finish()) }) else { return }
        system.drain(true)
        begun(running)
        guard await latches.idle.wait(atMost: grace) else { return }
        // Coordinators ask all the time; one that has no answer now has other worries.
        await latches.fetched.wait(atMost: Node.fetchingTime)
    }

    private static let fetchingTime = Duration.seconds(1)

    /// What can change while it runs.
    package func change(slots: Int, retention: JobRetention, limits: JournalLimits, join: [NodeAddress]) async {
        await scan.whenLocal { $0.setSlots(slots) }
        await coordinator.whenLocal { await $0.setLimits(retention, limits) }
        for address in join { system.seed(address) }
    }

    /// Where it stands, which it tells only if all of its parts answer: the event loops, the scan actor, the coordinator. That
    /// takes as long as the slowest takes.
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

    /// Works until cancelled, then stops the workers and says goodbye.
    package func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.coordinator.whenLocal { await $0.run() } }
            group.addTask { await self.followMembership() }
            group.addTask { await self.scan.whenLocal { await $0.expireLeases() } }
            group.addTask { await self.rest() }
        }
        await scan.whenLocal { $0.stop() }
        await coordinator.whenLocal { await $0.close() }
        await system.shutdown()
        await workers.close()
    }

    private func followMembership() async {
        var news = MembershipNews()
        while !Task.isCancelled {
            let events = system.membershipEvents()
            news.begins(with: system.members)
            for await event in events {
                if let line = news.line(event, at: system.now) { log(line) }
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

    private func log(_ line: MembershipNews.Line) {
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

    /// Gives back what is held for the next task where none has come for a while: worker processes, pixels, catalogues.
    private func rest() async {
        var plan = RestPlan()
        while true {
            do { try await Task.sleep(for: plan.pause) } catch { return }
            let scanned = await scan.whenLocal { ($0.running, $0.attemptCounts) }
            let done = await coordinator.whenLocal { ($0.newestJob() != nil, $0.work().counts, $0.fetches) }
            guard let scanned, let done else { return }
            let activity = RestPlan.Activity(
                isBusy: scanned.0 > 0 || done.0, attempts: scanned.1, tasks: done.1, fetches: done.2)
            guard plan.isDue(activity, now: system.now) else { continue }
            await workers.rest()
            await pixels.store.rest()
            await coordinator.whenLocal { await $0.rest() }
            SpareMemory.giveBack()
        }
    }
}
