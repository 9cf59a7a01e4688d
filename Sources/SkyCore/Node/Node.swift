import Base
import Distributed
import Logging
import NIOConcurrencyHelpers
import NIOPosix
package import Transport

/// All parts of a node: its actor system, its scan actor with the worker processes, its coordinator.
///
/// `start()` opens the sockets. `run()` works until it is cancelled, and then leaves the cluster in order.
package final class Node: Sendable {
    package let system: ClusterSystem
    /// The node's own coordinator. Another one takes its place when other nodes have taken its jobs over.
    package var coordinator: Coordinator { current.withLockedValue { $0 } }
    private let current: NIOLockedValueBox<Coordinator>
    private let retained: NIOLockedValueBox<JobRetention>
    /// The copies of journals, and the task that works on them; `nil` where there are none.
    let copies: (keeper: Copies, actor: CopyActor)?
    /// The coordinator that takes new jobs while the node's own one waits for the nodes with its copies.
    let spare = SpareCoordinator()
    /// Whether another coordinator stands in for the own one, which cannot begin.
    private let isStandIn = NIOLockedValueBox(false)
    private let ownJournal: NIOLockedValueBox<Journal>
    private let copying = NIOLockedValueBox<Task<Void, Never>?>(nil)
    /// The coordinators that were begun and are to run: with what each ends by.
    let opened = NIOLockedValueBox<[CoordinatorID: (coordinator: Coordinator, end: Latch)]>([:])
    let scan: ScanActor
    /// Whether the node is drained, each time a person says so.
    private let drains: AsyncStream<Bool>
    private let takeovers = NIOLockedValueBox(0)
    /// What was logged today of coordinators that cannot begin: it is tried again and again.
    private let reported = NIOLockedValueBox(DailyReports())
    /// The coordinators that could not begin here, and how often.
    private let passedOn = NIOLockedValueBox<[CoordinatorID: Int]>([:])
    private let members: MembershipHistory
    private let revocations: (keeper: RevocationKeeper, actor: RevocationActor)
    private let workers: WorkerPool
    private let slots: Int
    /// The revocations that the operator has named.
    private let given: Revocations
    private let tools: NodeTools
    /// The files that commands have sent to the node; `nil` where the node has no folder.
    private let inputs: (store: InputStore, actor: InputActor)?

    /// The workers of a node that is made later: some can be loaded meanwhile.
    package static func workers(_ settings: NodeSettings) -> WorkerPool {
        WorkerPool(
            executable: settings.executable, memory: settings.workerMemory, groups: settings.controlGroups,
            reads: settings.reads, logger: settings.cluster.logger)
    }

    /// - Parameters:
    ///   - journal: where the node's coordinator keeps what it must not forget.
    ///   - workers: those of the node (`workers(_:)`), which ends them; `nil` for new ones.
    /// - Throws: `JournalError` where what is stored about copies cannot be read.
    package init(_ settings: NodeSettings, journal: Journal, workers: WorkerPool? = nil) throws(JournalError) {
        var cluster = settings.cluster
        cluster.arithmetic = cluster.arithmetic ?? JobKinds.arithmetic.text
        let system = ClusterSystem(cluster)
        self.system = system
        let members = MembershipHistory()
        self.members = members
        slots = settings.slots
        let revocations = RevocationKeeper(
            in: journal.folderPath, system: system, security: settings.cluster.security)
        self.revocations = ClusterSystem.withActorName(RevocationActor.wellKnownName) {
            (revocations, RevocationActor(revocations, actorSystem: system))
        }
        given = settings.revocations
        let logger = settings.cluster.logger
        var settings = settings
        let sent = journal.folderPath.flatMap { InputStore(in: $0, limit: journal.limits.bytes, logger: logger) }
        inputs = sent.map { store in
            ClusterSystem.withActorName(InputActor.wellKnownName) { (store, InputActor(store, actorSystem: system)) }
        }
        settings.reads.inputs = sent?.folder
        let workers = workers ?? Node.workers(settings)
        let tools = JobKinds.tools(
            NodeToolSite(system: system, memory: settings.toolMemory) { [workers] task, timeLimit in
                await workers.perform(task, timeLimit: timeLimit).end
            })
        workers.setTools(tools)
        (self.workers, self.tools) = (workers, tools)
        let (drains, drained) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingNewest(1))
        self.drains = drains
        scan = ClusterSystem.withActorName(ScanActor.wellKnownName) {
            ScanActor(
                slots: settings.slots,
                runner: TaskRunner(
                    workers: workers, holder: NodeLabel(id: system.node, name: system.name), tools: tools,
                    allowsCrash: settings.allowsCrash, slowness: settings.slowness),
                actorSystem: system, drained: { drained.yield($0) })
        }
        retained = NIOLockedValueBox(settings.retention)
        if let folder = journal.folderPath {
            let keeper = try Copies(in: folder, limits: journal.limits, policy: settings.copies, system: system)
            let actor = ClusterSystem.withActorName(CopyActor.wellKnownName) { CopyActor(keeper, actorSystem: system) }
            copies = (keeper, actor)
        } else {
            copies = nil
        }
        // Where there are copies, another one takes its place before anybody can call it for jobs.
        let keeper = copies?.keeper
        current = NIOLockedValueBox(
            ClusterSystem.withActorName(Coordinator.wellKnownName) {
                Coordinator(
                    storing: EntryStore(journal: journal, replica: nil), copies: keeper, members: members,
                    retention: settings.retention, takesJobs: true, logger: logger, actorSystem: system)
            })
        ownJournal = NIOLockedValueBox(journal)
    }

    /// - Parameter progress: is called with words about the progress, because a large journal takes long to read.
    /// - Throws: if an address cannot be bound, an interface does not exist, the journal or the revocations cannot be read, or there is
    ///   no folder for temporary files.
    package func start(progress: @escaping @Sendable (String) -> Void = { _ in }) async throws {
        let temporary = try TemporaryLocation()
        if let objection = temporary.objection {
            system.logger.warning(
                "TMPDIR cannot be used", metadata: ["because": "\(objection)", "instead": "\(temporary.path)"])
        }
        try revocations.keeper.load()
        await revoke(given)
        await inputs?.store.setNeeded { [weak self] in await self?.neededInputs ?? [] }
        guard let copies else {
            try await coordinator.whenLocal {
                try await $0.restore { done, all in progress("reading the journal: \(done) of \(all) jobs") }
            }
            return try await system.start()
        }
        // Nodes are listed and drained all the same.
        system.withdraw(coordinator, except: Coordinator.methodsWithoutJobs)
        var replica = try await copies.keeper.begin(ownJournal.withLockedValue { $0 })
        if await replica.isTakenOver {
            try await close(replica, .superseded(term: replica.core.record.promised))
            replica = try await copies.keeper.begin(ownJournal.withLockedValue { $0 })
        }
        await copies.keeper.beginStored()
        copies.keeper.spare.withLockedValue { $0 = { [weak self] in await self?.spareName() } }
        copying.withLockedValue { $0 = Task { await copies.keeper.run() } }
        // Without copies elsewhere nobody has to be asked.
        if await replica.isAlone, let event = await copies.keeper.events.first(where: { _ in true }) {
            _ = await handle(event, progress)
        }
        try await system.start()
    }

    /// Ends what was begun of a node that does not run.
    package func abandon() async {
        await system.shutdown()
        await workers.close()
    }

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

    /// The coordinators that work here.
    var coordinators: [Coordinator] {
        copies == nil ? [coordinator] : opened.withLockedValue { $0.values.map(\.coordinator) }
    }

    /// The files that jobs need that have not ended.
    private var neededInputs: Set<[UInt8]> {
        get async {
            var needed: Set<[UInt8]> = []
            for coordinator in coordinators { needed.formUnion(await coordinator.whenLocal { $0.neededInputs } ?? []) }
            return needed
        }
    }

    /// Whether the node's own coordinator works. It does not while it begins, and while too few of those nodes answer that keep
    /// copies of its jobs: another node may have taken them over.
    package var takesJobs: Bool {
        copies == nil || works(own) || isStandIn.withLockedValue { $0 }
    }

    private func works(_ coordinator: CoordinatorID) -> Bool { opened.withLockedValue { $0[coordinator] != nil } }

    /// A coordinator takes the place of the own one, which cannot begin. It passes on whatever it is asked: new jobs to the spare
    /// coordinator, and calls about others to those that have them.
    func standIn() {
        guard let copies, !works(own), let journal = try? Journal.inMemory() else { return }
        let coordinator = ClusterSystem.withActorName(Coordinator.wellKnownName) {
            Coordinator(
                storing: EntryStore(journal: journal, replica: nil), copies: copies.keeper, members: members,
                retention: retained.withLockedValue { $0 }, takesJobs: true, logger: system.logger, actorSystem: system)
        }
        current.withLockedValue { $0 = coordinator }
        isStandIn.withLockedValue { $0 = true }
        system.offer(coordinator)
    }

    /// A person has drained or resumed the node. Its own coordinators hear it here, and those of other nodes by the links.
    private func drained(_ isDraining: Bool) async {
        for coordinator in coordinators {
            await coordinator.whenLocal { [system] in $0.membershipChanged(.draining(system.node, isDraining)) }
        }
        if isDraining { await handOver() }
    }

    /// Lets standbys take over the jobs of this node, if there are any standbys.
    ///
    /// - Parameter limit: how long that may take. What is not taken over then stays here.
    package func handOver(atMost limit: Duration = handOverTime) async {
        guard let copies else { return }
        let left = await copies.keeper.handOver(within: limit)
        guard left > 0 else { return }
        system.logger.notice("jobs stay on this node: no other node has all of them and takes them over now")
    }

    /// Gives back the votes of the copies that this node keeps, before it goes. Jobs that nobody could take over without it go to
    /// another node.
    package func leave() async {
        guard let copies else { return }
        guard await copies.keeper.leave(within: copies.keeper.leavingTime) else {
            return system.logger.notice("leaves although other nodes may need it to go on with its jobs or copies")
        }
    }

    /// How long leaving takes at most.
    package var leavingTime: Duration { copies?.keeper.leavingTime ?? .zero }

    /// How long a node that stops waits at most for copies that lack what was published last.
    private static let completingTime = Duration.seconds(1)

    /// How long a hand-over takes at most: a standby that is a little behind has the rest within this time.
    package static let handOverTime = Duration.seconds(5)

    /// Changes the settings that can change while the node runs.
    package func change(
        slots: Int, retention: JobRetention, limits: JournalLimits, copies policy: CopyPolicy, join: [NodeAddress]
    ) async {
        await scan.whenLocal { $0.setSlots(slots) }
        retained.withLockedValue { $0 = retention }
        for coordinator in coordinators { await coordinator.whenLocal { await $0.setLimits(retention, limits) } }
        await copies?.keeper.setPolicy(policy, limits)
        for address in join { system.seed(address) }
    }

    /// Takes revocations, and tells the other nodes of them.
    package func revoke(_ revocations: Revocations) async {
        system.leaveOut(revocations.ofOtherKeys, from: "the files beside the keys")
        await self.revocations.keeper.take(revocations.all)
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
            job: job, copies: await copyHealth)
    }

    private var copyHealth: CopyHealth? {
        get async {
            guard let copies else { return nil }
            return CopyHealth(
                await copies.keeper.reports, takeovers: takeovers.withLockedValue { $0 },
                damages: copies.keeper.room.damages)
        }
    }

    /// Works until it is cancelled, then stops the workers and says goodbye.
    package func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.runCoordinators() }
            group.addTask { await self.followMembership() }
            group.addTask { await self.scan.whenLocal { await $0.expireLeases() } }
            group.addTask { await self.trimWhenIdle() }
            group.addTask { await self.endIdleCoordinators() }
            group.addTask { await self.offerSpare() }
            group.addTask { await self.revocations.keeper.run() }
            group.addTask { await self.inputs?.store.run() }
            group.addTask { for await isDraining in self.drains { await self.drained(isDraining) } }
        }
        await scan.whenLocal { $0.stop() }
        let taken = coordinators
        for coordinator in taken { await coordinator.whenLocal { await $0.close() } }
        // This task is cancelled, and the copies still get what was published until now.
        await Task { await copies?.keeper.completeCopies(within: Node.completingTime) }.value
        let copying = copying.withLockedValue { $0 }
        copying?.cancel()
        await copying?.value
        // Coordinators and copies know each other.
        for coordinator in taken { copies?.keeper.removeOwner(named: coordinator.id.name) }
        opened.withLockedValue { $0 = [:] }
        await system.shutdown()
        await workers.close()
    }

    // MARK: - Coordinators

    private func runCoordinators() async {
        guard let copies else { return await coordinator.whenLocal { await $0.run() } ?? () }
        await withDiscardingTaskGroup { group in
            for (coordinator, end) in opened.withLockedValue({ Array($0.values) }) {
                group.addTask { await Node.run(coordinator, until: end) }
            }
            // Each coordinator's events are handled in order, and beside those of others: a large journal takes long to read.
            var handlers: [CoordinatorID: AsyncStream<Copies.Event>.Continuation] = [:]
            for await event in copies.keeper.events {
                if handlers[event.coordinator] == nil {
                    let (events, input) = AsyncStream.makeStream(of: Copies.Event.self)
                    handlers[event.coordinator] = input
                    group.addTask { await self.handle(events) }
                }
                handlers[event.coordinator]?.yield(event)
            }
            for input in handlers.values { input.finish() }
            group.cancelAll()
        }
    }

    private func handle(_ events: AsyncStream<Copies.Event>) async {
        await withDiscardingTaskGroup { group in
            for await event in events {
                guard let (coordinator, end) = await handle(event) else { continue }
                group.addTask { await Node.run(coordinator, until: end) }
            }
        }
    }

    private static func run(_ coordinator: Coordinator, until end: Latch) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await coordinator.whenLocal { await $0.run() } }
            group.addTask { await end.wait() }
            await group.next()
            group.cancelAll()
        }
    }

    /// Begins or ends a coordinator.
    ///
    /// - Returns: a coordinator that is to be run, and what ends it.
    private func handle(
        _ event: Copies.Event, _ progress: @escaping @Sendable (String) -> Void = { _ in }
    ) async -> (Coordinator, Latch)? {
        do {
            switch event {
            case .opened(let replica, let term): return try await open(replica, term: term, progress)
            case .closed(let replica, let closure):
                try await close(replica, closure)
                return nil
            }
        } catch let error as JournalError where [.unprotected, .superseded].contains(error.kind) {
            // It has been taken over meanwhile, of which the next event tells.
            return nil
        } catch {
            // The node stops.
            guard !Task.isCancelled else { return nil }
            report("a coordinator cannot begin", error)
            if case .opened(let replica, _) = event { await passOn(replica) }
            return nil
        }
    }

    /// Logs why something cannot be done that is tried again and again.
    func report(_ what: String, _ error: any Error) {
        guard reported.withLockedValue({ $0.isDue("\(error)", of: what, now: system.now) }) else { return }
        system.logger.error("\(what): \(error)")
    }

    /// Lets another node take over what cannot begin here: its copy may be whole where this one is damaged.
    private func passOn(_ replica: Replica) async {
        while !Task.isCancelled {
            // Each time to another one, and some times only: nodes that all cannot read it would pass it on for ever. One that does not
            // store any more what it lacks does not keep it from the next one.
            let times = passedOn.withLockedValue { times in
                times[replica.coordinator, default: 0] += 1
                return times[replica.coordinator, default: 0]
            }
            guard times <= ReplicaSet.limit else { return }
            guard await replica.handOver(within: Node.handOverTime, to: times - 1) else { continue }
            return system.logger.notice(
                "a coordinator that cannot begin here goes on at another node",
                metadata: ["coordinator": "\(replica.coordinator)"])
        }
    }

    private func open(
        _ replica: Replica, term: UInt64, _ progress: @escaping @Sendable (String) -> Void
    ) async throws -> (Coordinator, Latch) {
        let journal = try await replica.open(term: term)
        let isOwn = isOwn(replica.coordinator)
        let name = isOwn ? Coordinator.wellKnownName : "\(Coordinator.wellKnownName)-\(replica.coordinator)"
        let coordinator = ClusterSystem.withActorName(name) {
            Coordinator(
                storing: EntryStore(journal: journal, replica: replica), copies: copies?.keeper, members: members,
                retention: retained.withLockedValue { $0 }, takesJobs: isOwn || spare.isThis(replica.coordinator),
                logger: system.logger, actorSystem: system)
        }
        withdraw(coordinator, isOwn: isOwn)
        if isOwn {
            current.withLockedValue { $0 = coordinator }
            isStandIn.withLockedValue { $0 = false }
        }
        try await coordinator.whenLocal {
            try await $0.restore { done, all in progress("reading the journal: \(done) of \(all) jobs") }
        }
        let end = Latch()
        opened.withLockedValue { $0[replica.coordinator] = (coordinator, end) }
        copies?.keeper.add(OwnedJobs(coordinator: coordinator, coordinatorID: replica.coordinator))
        system.offer(coordinator)
        if spare.isThis(replica.coordinator) {
            system.logger.notice(
                "this node's jobs wait for the nodes that keep their copies; new jobs begin without copies",
                metadata: ["coordinator": "\(replica.coordinator)"])
        } else if !isOwn {
            takeovers.withLockedValue { $0 += 1 }
            system.logger.notice(
                "jobs of another node are taken over, and go on here",
                metadata: ["coordinator": "\(replica.coordinator)", "term": "\(term)"])
        }
        return (coordinator, end)
    }

    /// The node's own coordinator, which takes new jobs where it works.
    var own: CoordinatorID { ownJournal.withLockedValue { $0.incarnation.coordinator } }

    /// Whether a coordinator is the node's own, and not one of a node whose jobs it has taken over.
    private func isOwn(_ coordinator: CoordinatorID) -> Bool {
        ownJournal.withLockedValue { $0.incarnation.coordinator } == coordinator
    }

    /// Lets nobody submit or ask for jobs, or fetch results. The node's own coordinator still answers what needs no jobs.
    private func withdraw(_ coordinator: Coordinator, isOwn: Bool) {
        if isOwn {
            system.withdraw(coordinator, except: Coordinator.methodsWithoutJobs)
        } else {
            system.withdraw(coordinator)
        }
    }

    private func close(_ replica: Replica, _ closure: ReplicaClosure) async throws {
        // A journal that is not among the copies stays where it is.
        if closure == .unneeded {
            if !isOwn(replica.coordinator) { await copies?.keeper.drop(replica.coordinator) }
            return
        }
        let ended = opened.withLockedValue { $0.removeValue(forKey: replica.coordinator) }
        let isOwn = isOwn(replica.coordinator)
        if let ended {
            withdraw(ended.coordinator, isOwn: isOwn)
            copies?.keeper.removeOwner(named: ended.coordinator.id.name)
            ended.end.open()
            await ended.coordinator.whenLocal { await $0.close(isTakenOver: true) }
        }
        if isOwn { logEnd(of: replica.coordinator, closure) }
        // It stays a copy, and this node keeps its vote, so that the others can go on where one more of them is lost.
        let new = try await replica.becomeCopy(isSetAside: closure == .rolledBack || closure == .ended)
        if closure == .ended {
            try await copies?.keeper.remove(replica.coordinator)
            system.logger.info(
                "a coordinator that was taken over has ended: it has no jobs any more",
                metadata: ["coordinator": "\(replica.coordinator)"])
        }
        guard let new else { return }
        ownJournal.withLockedValue { $0 = new }
        _ = try await copies?.keeper.begin(new)
    }

    /// Ends the coordinators that were taken over and have no jobs any more. Otherwise each loss of a node would leave one for ever.
    private func endIdleCoordinators() async {
        guard let copies else { return }
        while (try? await Task.sleep(for: Node.endingInterval)) != nil {
            let own = own
            for (id, (coordinator, _)) in opened.withLockedValue({ $0 }) where id != own {
                guard !(await isNeeded(spare: id)) else { continue }
                if await coordinator.whenLocal({ $0.isIdleForGood }) == true { await copies.keeper.end(id) }
            }
        }
    }

    private static let endingInterval = Duration.seconds(5)

    private func logEnd(of coordinator: CoordinatorID, _ closure: ReplicaClosure) {
        switch closure {
        case .handedOver(let standby):
            system.logger.notice(
                "this node's jobs are handed over; a copy of them stays here",
                metadata: ["to": "\(PrintableText.of(copies?.keeper.name(of: standby) ?? "\(standby)"))"])
        case .superseded(let term):
            system.logger.notice(
                "other nodes have taken over this node's jobs; a copy of them stays here",
                metadata: ["coordinator": "\(coordinator)", "term": "\(term)"])
        case .rolledBack:
            system.logger.warning(
                "this node's journal was put back from an earlier time; it is kept aside, and a new one begins",
                metadata: ["journal": "\(ReplicaStore.nameAside(coordinator))"])
        case .ended:
            system.logger.notice(
                "other nodes had taken over this node's jobs, and none is left; its journal is kept aside",
                metadata: ["journal": "\(ReplicaStore.nameAside(coordinator))"])
        case .unneeded: break
        }
    }

    /// Asks a node that was there before this one for the nodes that are lost: a list of jobs is not complete without those.
    private func askForLost(_ member: Member) {
        guard system.now < Node.newTime else { return }
        // Nobody waits for this task. The call has a time limit.
        Task { [system, members] in
            let other = try Coordinator.resolve(
                id: ActorAddress(node: member.node, name: Coordinator.wellKnownName), using: system)
            let page = try await withDeadline(Node.lostTime) {
                try await other.membership(MembershipRequest(from: nil, patience: .zero))
            }
            members.learn(from: page, at: system.now)
        }
    }

    /// For how long after its start a node asks those that it meets, and how long it waits for their answer.
    private static let (newTime, lostTime) = (Duration.seconds(60), Duration.seconds(10))

    private func followMembership() async {
        var reports = MembershipReports()
        while !Task.isCancelled {
            let events = system.membershipEvents()
            let present = system.members
            reports.begins(with: present)
            members.begins(with: Set(present.map(\.node)), at: system.now)
            for await event in events {
                members.note(event, at: system.now)
                if let line = reports.line(event, at: system.now) { log(line) }
                switch event {
                case .lost(let node): await scan.whenLocal { $0.linkLost(node) }
                case .left(let node): await scan.whenLocal { $0.left(node) }
                case .joined(let member): askForLost(member)
                case .suspect, .back, .draining:
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
            let done = await coordinator.whenLocal { ($0.isBusy, $0.work().counts, $0.core.jobs.count, $0.fetches) }
            guard let scanned, let done else { return }
            let activity = TrimPlan.Activity(
                isBusy: scanned.0 > 0 || done.0, attempts: scanned.1, tasks: done.1, jobs: done.2,
                fetches: done.3)
            guard plan.isDue(activity, now: system.now) else { continue }
            await workers.endIdleWorkers()
            await tools.trim()
            await coordinator.whenLocal { await $0.trim() }
            try? await NIOThreadPool.singleton.runIfActive { SpareMemory.giveBack() }
        }
    }
}
