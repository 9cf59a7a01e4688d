import Base
import Logging
import NIOConcurrencyHelpers
import Transport

/// Carries out what a `ReplicaCore` decides: it stores, calls other replicas and answers them.
actor Replica {
    /// What the coordinator's owner has to know.
    enum Event: Sendable {
        /// The coordinator may begin here, in this term.
        case opened(term: UInt64)
        /// The coordinator must end here.
        case closed(ReplicaClosure)
    }

    /// A call to another replica. Throws where there is no answer.
    typealias Call = @Sendable (ReplicaRequest<CopiedRows>, CoordinatorID, ReplicaID) async throws -> ReplicaReply

    private enum Effect: Sendable {
        case write(ReplicaWrite<CopiedRows>)
        case send(ReplicaRequest<CopiedRows>, to: ReplicaID, call: UInt64)
        case read(for: ReplicaID, from: UInt64)
    }

    /// Entries of the coordinator, until they are committed.
    private struct Proposal {
        var rows: [JournalRow]
        var ran: Duration?
        /// The number of their batch, and what became of them, once this node has stored them.
        var number: UInt64?
        var appended: Journal.Appended?
        /// Whether it is enough that this node has stored them.
        var isLocal: Bool
        var waiter = Waiter.coming
    }

    /// Who waits for what becomes of a proposal.
    private enum Waiter {
        /// The one that has proposed it, when it has carried out the write that follows from it.
        case coming
        case waiting(CheckedContinuation<Result<Journal.Appended, JournalError>, Never>)
        case nobody
    }

    nonisolated let coordinator: CoordinatorID
    nonisolated let events: AsyncStream<Event>
    private let eventsInput: AsyncStream<Event>.Continuation
    private let store: ReplicaStore
    private let call: Call
    private let others: @Sendable () -> Others
    private let crowded: @Sendable (Int) -> Set<ReplicaID>
    private let name: @Sendable (ReplicaID) -> String
    private let logger: Logger
    private let start = ContinuousClock.now
    private(set) var core: ReplicaCore<CopiedRows>
    private let effects: AsyncStream<Effect>
    private let effectsInput: AsyncStream<Effect>.Continuation
    private var answers: [UInt64: CheckedContinuation<ReplicaReply, Never>] = [:]
    private var lastTicket: UInt64 = 0
    /// The coordinator's entries, oldest first, by number of their proposal.
    private var proposals: [UInt64: Proposal] = [:]
    private var unstored: [UInt64] = []
    /// What became of proposals whose waiters are still to come.
    private var results: [UInt64: Result<Journal.Appended, JournalError>] = [:]
    /// Whether the next write is taken by the one that proposes, which spares it the way through other tasks.
    private var takesWrite = false
    private var takenWrite: ReplicaWrite<CopiedRows>?
    private var lastProposal: UInt64 = 0
    private var lastError: JournalError?
    /// The errors that were logged today.
    private var loggedErrors = DailyReports()
    /// When the next tick is due, and what ends the wait for it.
    private var nextTick: Duration = .zero
    private var sooner = Latch()
    /// Whether nothing is carried out any more.
    private var hasEnded = false
    /// Whether a coordinator works with the journal, or did until a moment ago.
    private var isUsed: Bool
    /// Whether a standby is being asked to take over.
    private var isHandingOver = false
    private let reported = NIOLockedValueBox<Report?>(nil)
    /// How many reports have been made, and what ends the wait for the next one.
    private var reports = 0
    private var nextReport = Latch()

    /// What a replica is told of the others with each tick.
    struct Others: Sendable {
        /// Those that may keep a copy and can be reached, the best first.
        var available: [ReplicaID] = []
        /// All that can be reached, also those that are about to go.
        var reachable: [ReplicaID] = []
        /// Those whose nodes have said goodbye and are not back, and how long ago.
        var away: [ReplicaID: Duration] = [:]
    }

    /// - Parameters:
    ///   - crowded: those that have no room for so many bytes.
    ///   - name: what the node of a replica is called.
    init(
        _ own: ReplicaID, _ store: ReplicaStore, isNew: Bool, policy: CopyPolicy, logger: Logger,
        others: @escaping @Sendable () -> Others,
        crowded: @escaping @Sendable (Int) -> Set<ReplicaID> = { _ in [] },
        name: @escaping @Sendable (ReplicaID) -> String = { "\($0)" }, call: @escaping Call
    ) async throws(JournalError) {
        (self.store, self.call, self.others, self.logger) = (store, call, others, logger)
        (self.crowded, self.name) = (crowded, name)
        coordinator = store.coordinator
        isUsed = isNew
        (events, eventsInput) = AsyncStream.makeStream()
        (effects, effectsInput) = AsyncStream.makeStream()
        let (record, recent) = try await Replica.record(in: store, isNew: isNew)
        let seed = UInt64.random(in: .min ... .max)
        core =
            isNew && record.position == nil
            ? .first(own, policy: policy, seed: seed, now: .zero)
            : ReplicaCore(own, record: record, recent: recent, policy: policy, seed: seed, now: .zero)
        if let damage = await store.damage { noteDamage(damage) }
    }

    private static func record(
        in store: ReplicaStore, isNew: Bool
    ) async throws(JournalError) -> (record: ReplicaRecord, recent: RecentBatches<CopiedRows>) {
        do {
            return try await store.record()
        } catch {
            guard !isNew, await store.scrub() != nil else { throw error }
            return try await store.record()
        }
    }

    /// A damaged copy was set aside.
    func noteDamage(_ damage: String) {
        core.wasDamaged = true
        store.room.noteDamage()
        logger.error(
            "a copy of another node's jobs is damaged; it is set aside and made anew",
            metadata: ["coordinator": "\(coordinator)", "reason": "\(PrintableText.of(damage))"])
    }

    /// Looks for damage in the copy, and has it made anew where there is any.
    func scrub() async {
        guard !isUsed, !hasEnded, let damage = await store.scrub() else { return }
        step { $0.copyLost() }
        noteDamage(damage)
    }

    /// Whether only those count that prove that they speak for the coordinator.
    var needsProof: Bool { get async { await store.needsProof } }

    private var now: Duration { start.duration(to: .now) }

    /// Works until it is cancelled.
    func run() async {
        step { $0.begin() }
        await withDiscardingTaskGroup { group in
            group.addTask { await self.tick() }
            group.addTask { await self.heedShare() }
            for await effect in effects { group.addImmediateTask { await self.carryOut(effect) } }
        }
        end()
        for ticket in answers.keys { answers.removeValue(forKey: ticket)?.resume(returning: refusal) }
        for proposal in proposals.keys { end(proposal, .failure(Replica.stopping)) }
    }

    /// Ends `run` when the calls that are under way are done. Nothing begins any more.
    func end() {
        hasEnded = true
        sooner.open()
        nextReport.open()
        effectsInput.finish()
        eventsInput.finish()
    }

    /// The answer of a replica that stores nothing now.
    private var refusal: ReplicaReply {
        ReplicaReply(promised: core.record.promised, position: core.record.position, isGranted: false)
    }

    private static let stopping = JournalError(.unprotected, "the node is stopping")
    private static let takenOver = JournalError(.superseded, "another node goes on with these jobs")

    private func tick() async {
        while !hasEnded {
            nextTick = core.now + core.tickPause
            sooner = Latch()
            // What happens meanwhile may need a tick sooner.
            if await sooner.wait(atMost: nextTick - now) { continue }
            guard !Task.isCancelled else { return }
            tickNow()
            if core.isPrimary {
                await store.share(elsewhere: core.smallestShare.map { ($0.bytes, name($0.at), $0.isWish) })
            }
        }
    }

    /// Looks at a copy's share of the room with each report, because others grow while nothing is stored in it. No tick waits for that.
    private func heedShare() async {
        var seen = reports
        while !hasEnded, !Task.isCancelled {
            seen = await reports(after: seen)
            if !core.isPrimary { await store.keepToShare() }
        }
    }

    private func tickNow() {
        let others = others()
        core.linked = Set(others.reachable)
        if core.isPrimary {
            core.held = store.held
            core.crowded = crowded(core.held)
        }
        step { $0.tick(available: others.available, away: others.away) }
        updateReport()
    }

    private func updateReport() {
        let report = makeReport()
        reported.withLockedValue { $0 = report }
        reports += 1
        nextReport.open()
        nextReport = Latch()
    }

    /// Waits for a report that comes after the first `seen`, and returns how many there are then. A report comes with each tick, as
    /// seldom as that: whoever wants to know how the copies are need not look by a clock of its own. Ends early where the replica
    /// has ended or the task is cancelled.
    func reports(after seen: Int) async -> Int {
        while reports == seen, !hasEnded, !Task.isCancelled { await nextReport.wait() }
        return reports
    }

    // MARK: - Events

    /// What this replica answers to another one that keeps nothing and is to keep nothing, if that is so.
    func dismissal(of replica: ReplicaID) -> ReplicaReply? {
        hasEnded ? nil : core.dismissal(of: replica, isEmpty: true)
    }

    /// Another replica asks for something.
    func receive(_ request: ReplicaRequest<CopiedRows>) async -> ReplicaReply {
        guard !hasEnded else { return refusal }
        switch request {
        // A journal becomes a copy when its coordinator has ended, which takes a moment.
        case .append, .snapshot: if isUsed, case .standby = core.role { return refusal }
        case .promise, .takeOver: break
        }
        lastTicket += 1
        let ticket = lastTicket
        return await withCheckedContinuation { continuation in
            answers[ticket] = continuation
            step { $0.receive(request, ticket: ticket) }
        }
    }

    /// Stores entries of the coordinator here and on as many standbys as it takes.
    ///
    /// - Parameter isLocal: whether it is enough that this node has stored them.
    func append(
        _ entries: [JournalEntry], ran: Duration?, isLocal: Bool = false
    ) async throws(JournalError) -> Journal.Appended {
        guard !hasEnded else { throw Replica.stopping }
        let rows = entries.map(JournalRow.init)
        let content = core.isLonely ? CopiedRows.mark() : CopiedRows(rows, ran: ran)
        lastProposal += 1
        let number = lastProposal
        proposals[number] = Proposal(rows: rows, ran: ran, isLocal: isLocal)
        unstored.append(number)
        takesWrite = true
        step { $0.propose(content, proposal: number) }
        takesWrite = false
        if let write = takenWrite {
            takenWrite = nil
            await carryOut(write)
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if let result = results.removeValue(forKey: number) { return continuation.resume(returning: result) }
                proposals[number]?.waiter = .waiting(continuation)
                if Task.isCancelled { abandon(number) }
            }
        } onCancel: {
            Task { await self.abandon(number) }
        }
        return try result.get()
    }

    /// Nobody waits for these entries any more. They may be stored here already, and may still be committed.
    private func abandon(_ proposal: UInt64) {
        // What is not stored yet keeps its place, because the core counts on it.
        guard proposals[proposal]?.isLocal == false else { return }
        answer(proposal, .failure(Replica.stopping))
    }

    /// How many bytes the copy may take here.
    nonisolated var share: Int { get async { await store.room.share(of: coordinator, countsDisk: true) } }

    /// Whether there is a copy here that could be taken over.
    var isWhole: Bool { core.record.position != nil }

    /// Whether nobody else has to be asked.
    var isAlone: Bool { core.record.set.isQuorum([core.own]) }

    /// Lets a standby that has everything take over, and waits until it was asked; it may refuse.
    ///
    /// - Parameter place: which one of those that can be reached, the best first, and again the best after the last; `nil` for any.
    /// - Returns: whether this replica is the primary no more.
    func handOver(within limit: Duration, to place: Int? = nil) async -> Bool {
        let end = ContinuousClock.now + limit
        while core.isPrimary, !hasEnded, ContinuousClock.now < end {
            var available = others().available
            if let place, !available.isEmpty { available = [available[place % available.count]] }
            step { $0.handOver(to: available) }
            guard (try? await Task.sleep(for: Replica.handOverInterval)) != nil else { break }
        }
        while isHandingOver, ContinuousClock.now < end, (try? await Task.sleep(for: Replica.handOverInterval)) != nil {}
        return !core.isPrimary
    }

    private static let handOverInterval = Duration.milliseconds(20)

    /// The nodes that are here have changed, or the link to one of them.
    ///
    /// - Parameters:
    ///   - replica: that of the node; `nil` where it is not known yet.
    ///   - isWell: whether the link is well again; otherwise it is in doubt or lost.
    func linkChanged(to replica: ReplicaID?, isWell: Bool) {
        step { core in
            guard let replica else { return core.stir() }
            if isWell { core.trusted(replica) } else { core.doubted(replica) }
        }
    }

    // MARK: - The node goes

    /// The node is about to go.
    ///
    /// - Parameter needsSuccessor: whether the coordinator has jobs that others could go on with.
    func prepareToLeave(needsSuccessor: Bool) {
        step {
            $0.isLeaving = needsSuccessor
            $0.stir()
        }
        tickNow()
    }

    /// Whether the node should not go yet, because of this replica.
    func isBusyLeaving() -> Bool {
        guard !hasEnded else { return false }
        tickNow()
        return core.needsSuccessor && !others().available.isEmpty || core.isSettling || isHandingOver
            || core.isAwaited(by: others().reachable) || !core.isLeaving && isAhead
    }

    /// Whether a copy that can be reached lacks something that was published, and is about to get it.
    var isAhead: Bool { !hasEnded && core.isAhead(of: others().reachable) }

    /// Whether nothing could be decided without a member whose node is about to go.
    func needs(_ replica: ReplicaID) -> Bool {
        guard !hasEnded else { return false }
        // Those that are called seldom have to show that they are there.
        step { $0.stir() }
        tickNow()
        return core.needs(replica)
    }

    // MARK: - A person's word

    /// Goes on without the other members, on a person's word.
    func continueWithoutStandbys() { step { $0.continueWithoutStandbys() } }

    /// Takes over without a majority, on a person's word. The members in reach are asked, and may prevent it.
    ///
    /// - Returns: why it does not take over; `nil` where it has.
    func adopt() async -> AdoptionRefusal? {
        let end = ContinuousClock.now + Replica.adoptionTime
        while !hasEnded {
            step { $0.adopt() }
            while core.isAdopting, (try? await Task.sleep(for: Replica.handOverInterval)) != nil {}
            guard !core.isPrimary else { return nil }
            let refusal = core.adoptionRefusal ?? AdoptionRefusal(replica: core.primary ?? core.own, reason: .promised)
            // Two that were told so at the same time have promised their terms to themselves; one of them is first the next time.
            guard refusal.reason != .hasMore, ContinuousClock.now < end,
                core.now - core.lastContact > core.policy.contactTime,
                (try? await Task.sleep(for: .milliseconds(Int.random(in: 50...500)))) != nil
            else { return refusal }
        }
        return nil
    }

    private static let adoptionTime = Duration.seconds(5)

    /// Of whom this is a copy, and what is known of what it lacks; `nil` where it cannot take over.
    var adoptable: (primary: ReplicaID, missing: UInt64?, silent: Duration?)? {
        guard !core.isPrimary, let primary = core.primary ?? core.record.promisedTo, primary != core.own,
            let position = core.record.position
        else { return nil }
        // After a start it is not known how far the primary was.
        guard core.primary != nil, core.knownTerm == position.term, let head = core.known[primary] else {
            return (primary, nil, nil)
        }
        return (primary, head - min(head, position.number), core.now - core.lastContact)
    }

    /// How many copies are to be kept from now on, and how long a primary may be silent.
    func setPolicy(_ policy: CopyPolicy) { step { $0.policy = policy } }

    /// How the copies are; `nil` where this replica is not the primary, or was not a moment ago.
    nonisolated var report: Report? { reported.withLockedValue { $0 } }

    /// How the copies of a primary's journal are.
    struct Report: Sendable {
        var term: UInt64
        var isOpen: Bool
        var wanted: Int
        /// The members that hold it up, where something waits to be stored by enough of them.
        var missing: [(replica: ReplicaID, reason: Hindrance)]?
        var copies: [(replica: ReplicaID, state: CopyState)]
        /// Whether one of them has no room for more.
        var isShort: Bool

        /// Whether jobs may wait for the members: without them they would go on.
        var isHeldUp: Bool { !isOpen || missing != nil || isShort }
    }

    /// Why a member does not store what it is sent.
    enum Hindrance: Hashable, Comparable, Sendable {
        case silent
        /// Its node is there with another data folder.
        case replaced
        case full
        /// Its node cannot store it, for this reason.
        case unusable(String)
        case damaged, behind, slow

        /// What follows the name of one node, or of several.
        func words(ofMany: Bool) -> String {
            switch self {
            case .silent: "cannot be reached"
            case .replaced: ofMany ? "came back without their copies" : "came back without its copy"
            case .full: ofMany ? "have no room" : "has no room"
            case .unusable(let reason):
                "cannot store \(ofMany ? "their copies" : "its copy") (\(PrintableText.of(reason)))"
            case .damaged: ofMany ? "had damaged copies, which are made anew" : "had a damaged copy, which is made anew"
            case .behind: ofMany ? "get a whole copy each" : "gets a whole copy"
            case .slow: ofMany ? "are behind" : "is behind"
            }
        }
    }

    private func makeReport() -> Report? {
        guard case .primary(let primary) = core.role, let head = core.record.position else { return nil }
        let copies = primary.followers.sorted { $0.key < $1.key }.map { replica, follower in
            var state = CopyState(hasVote: core.record.set.members.contains(replica))
            state.isInReach = follower.isInReach(core.policy, core.now)
            (state.isFull, state.reason, state.wasDamaged) = (follower.isFull, follower.reason, follower.wasDamaged)
            if case .following = follower.phase {
                let behind = head.number - min(follower.acked, head.number)
                state.behind = behind
                let whole = primary.headTimes.last(upTo: follower.acked) ?? primary.begun
                state.secondsBehind = behind == 0 ? 0 : (core.now - whole) / .seconds(1)
            }
            return (replica, state)
        }
        return Report(
            term: primary.term, isOpen: primary.stage == .open, wanted: core.policy.copies, missing: waiting,
            copies: copies, isShort: primary.followers.values.contains { $0.shortSince != nil })
    }

    /// The members that hold it up, where something has waited to be committed for longer than a healthy disk takes.
    private var waiting: [(replica: ReplicaID, reason: Hindrance)]? {
        guard case .primary(let primary) = core.role, let head = core.record.position,
            primary.committed < head.number, !core.record.set.isQuorum([core.own])
        else { return nil }
        let since = primary.headTimes.last(upTo: primary.committed) ?? primary.begun
        guard core.now - since > core.policy.contactTime else { return nil }
        return core.record.set.everyone.compactMap { replica in
            guard replica != core.own else { return nil }
            guard let follower = primary.followers[replica],
                core.now - follower.lastHeard < core.policy.contactTime
            else { return (replica, .silent) }
            if follower.wasDamaged { return (replica, .damaged) }
            if follower.isFull { return (replica, follower.reason.map { .unusable($0) } ?? .full) }
            guard case .following = follower.phase else { return (replica, .behind) }
            return follower.acked <= primary.committed ? (replica, .slow) : nil
        }
    }

    /// Opens the journal for the coordinator that works here from now on.
    ///
    /// - Throws: `JournalError` also where this is not the primary of that term any more.
    func open(term: UInt64) async throws(JournalError) -> Journal {
        guard case .primary(let primary) = core.role, primary.term == term else {
            throw Replica.takenOver
        }
        isUsed = true
        return try await store.open(term: term)
    }

    /// The coordinator that worked here has ended. Its journal is a copy from now on.
    ///
    /// - Parameter isSetAside: whether what is stored does not count any more.
    /// - Returns: the new journal in the place of the node's own, if it was this one.
    func becomeCopy(isSetAside: Bool) async throws(JournalError) -> Journal? {
        let new = try await store.becomeCopy(isSetAside: isSetAside)
        isUsed = false
        return new
    }

    /// Whether other replicas were promised this journal before this process began. Then no coordinator begins with it.
    var isTakenOver: Bool { if case .standby = core.role { true } else { false } }

    private func step(_ event: (inout ReplicaCore<CopiedRows>) -> Void) {
        for output in core.at(now, event) { handle(output) }
        if core.now + core.tickPause < nextTick { sooner.open() }
    }

    private func handle(_ output: ReplicaCore<CopiedRows>.Output) {
        switch output {
        case .write(let write):
            if takesWrite { takenWrite = write } else { effectsInput.yield(.write(write)) }
            takesWrite = false
        case .send(let request, let replica, let call):
            if case .takeOver = request { isHandingOver = true }
            effectsInput.yield(.send(request, to: replica, call: call))
        case .read(let replica, let cursor): effectsInput.yield(.read(for: replica, from: cursor))
        case .answer(var reply, let ticket):
            if reply.isFull { reply.reason = lastError?.reasonForOthers }
            answers.removeValue(forKey: ticket)?.resume(returning: reply)
        case .open(let term):
            updateReport()
            eventsInput.yield(.opened(term: term))
        case .close(let closure):
            updateReport()
            // What is stored here only may or may not be kept by those that have taken over.
            for (proposal, state) in proposals where state.number != nil {
                end(proposal, .failure(Replica.takenOver))
            }
            eventsInput.yield(.closed(closure))
        case .committed(let number):
            for (proposal, state) in proposals.sorted(by: { $0.key < $1.key }) {
                guard let stored = state.number, stored <= number, let appended = state.appended else { continue }
                end(proposal, .success(appended))
            }
        case .stored(let proposal, let number):
            proposals[proposal]?.number = number
            if let state = proposals[proposal], state.isLocal, let appended = state.appended {
                end(proposal, .success(appended))
            }
        case .refused(let proposal):
            end(proposal, .failure(lastError ?? Replica.takenOver))
        }
    }

    private func end(_ proposal: UInt64, _ result: Result<Journal.Appended, JournalError>) {
        unstored.removeAll { $0 == proposal }
        answer(proposal, result)
        proposals[proposal] = nil
    }

    private func answer(_ proposal: UInt64, _ result: Result<Journal.Appended, JournalError>) {
        switch proposals[proposal]?.waiter {
        case .coming: results[proposal] = result
        case .waiting(let continuation): continuation.resume(returning: result)
        case .nobody, nil: break
        }
        proposals[proposal]?.waiter = .nobody
    }

    // MARK: - Effects

    private func carryOut(_ effect: Effect) async {
        switch effect {
        case .write(let write): await carryOut(write)
        case .send(let request, let replica, let number):
            defer { if case .takeOver = request { isHandingOver = false } }
            do {
                let reply = try await withDeadline(Replica.patience) { [call, coordinator] in
                    try await call(request, coordinator, replica)
                }
                step { $0.replied(reply, from: replica, call: number) }
            } catch {
                try? await Task.sleep(for: core.policy.retryPause)
                step { $0.failed(to: replica, call: number) }
            }
        case .read(let replica, let cursor):
            do {
                let (page, next) = try await store.page(from: cursor)
                step { $0.pageRead(page, next: next, for: replica) }
            } catch {
                logger.warning("a journal cannot be copied", metadata: ["reason": "\(error)"])
                step { $0.pageRead(nil, next: nil, for: replica) }
            }
        }
    }

    /// How long a call may take: a standby with a slow disk stores some megabytes.
    private static let patience = Duration.seconds(10)

    private func carryOut(_ write: ReplicaWrite<CopiedRows>) async {
        var own: (proposal: UInt64?, rows: [JournalRow], ran: Duration?)?
        if case .append(let batches, _, let primary) = write, primary == core.own {
            // Batches of one's own are stored in the order in which they were proposed.
            own = (nil, [], nil)
            if batches.first?.content != nil, let first = unstored.first, let proposal = proposals[first] {
                unstored.removeFirst()
                own = (first, proposal.rows, proposal.ran)
            }
        }
        do {
            let appended = try await store.perform(
                write, own: own.map { ($0.rows, $0.ran) }, set: core.record.set,
                recent: core.isLonely ? nil : core.recent, isOpening: core.isOpening)
            if let proposal = own?.proposal { proposals[proposal]?.appended = appended }
            lastError = nil
            step { $0.wrote(true) }
        } catch {
            // It is tried again several times a second, and on a disk that is nearly full some succeed.
            let reason = PrintableText.of(error.message)
            if loggedErrors.isDue(reason, of: "\(coordinator)", now: start.duration(to: .now)) {
                logger.warning("a copy cannot be stored", metadata: ["reason": "\(reason)"])
            }
            lastError = error
            if [.damaged, .gone, .inaccessible].contains(error.kind) { await scrub() }
            step { $0.wrote(false) }
        }
    }
}

extension Replica {
    /// How many jobs are stored; `nil` where that cannot be read.
    var jobCount: Int? { get async { await store.jobCount } }
}
