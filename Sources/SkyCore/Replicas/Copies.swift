import Base
import Foundation
import Logging
import NIOConcurrencyHelpers
import Transport

/// The copies of journals that a node keeps, and those that others keep of its own.
package actor Copies {
    /// What the node has to do with a coordinator.
    enum Event: Sendable {
        case opened(Replica, term: UInt64)
        case closed(Replica, ReplicaClosure)

        var coordinator: CoordinatorID {
            switch self {
            case .opened(let replica, _), .closed(let replica, _): replica.coordinator
            }
        }
    }

    /// Who has proved to speak for a coordinator.
    private struct Proven: Hashable {
        var proof: IdentityProof
        var node: NodeID
        var sender: ReplicaID
    }

    private var proven: [CoordinatorID: Set<Proven>] = [:]

    /// A node that keeps copies.
    private struct Peer {
        var node: NodeID
        var introduction: CopyIntroduction
    }

    /// What can change while the node runs, and what is known of others.
    private struct State {
        var policy: CopyPolicy
        var peers: [ReplicaID: Peer] = [:]
        /// What the nodes of replicas are called, those among them that are gone.
        var names: [ReplicaID: String] = [:]
        /// The replicas that more than one node passes for, with the one that is not counted.
        var doubles: [ReplicaID: NodeID] = [:]
        /// The replicas whose nodes have said goodbye and are not back.
        var goodbyes: [ReplicaID: Goodbye] = [:]
        /// Whether this node is about to go.
        var isLeaving = false
    }

    private struct Goodbye {
        var node: NodeID
        var at: ContinuousClock.Instant
    }

    let book: ReplicaBook
    private let folder: String
    let system: ClusterSystem
    private let state: NIOLockedValueBox<State>
    private let limits: JournalLimits
    /// The room for copies of other nodes' journals.
    nonisolated let room: CopyRoom
    let logger: Logger
    private let machine: UInt64
    /// That the copies here are those of this data folder.
    private let proof: IdentityProof?
    private let start = ContinuousClock.now
    /// Why copies could not be stored, each reason once a day: their primaries ask again each second.
    private var reported = DailyReports()
    private var replicas: [CoordinatorID: Replica] = [:]
    /// The replicas that are to be run.
    private let begun: AsyncStream<Replica>
    private let begunInput: AsyncStream<Replica>.Continuation
    nonisolated let events: AsyncStream<Event>
    private let eventsInput: AsyncStream<Event>.Continuation
    /// The coordinators that work here, by the name of their actor.
    let owners = NIOLockedValueBox<[String: any JobOwner]>([:])
    /// Finds the coordinator that takes new jobs while this node's own one waits for the nodes with its copies: the name of its actor.
    nonisolated let spare = NIOLockedValueBox<(@Sendable () async -> String?)?>(nil)

    /// The most copies of other nodes' journals: some for each node of a large cluster.
    private static let limit = 1024

    /// - Parameter folder: the node's data folder, which is in use by this process.
    init(
        in folder: String, limits: JournalLimits, policy: CopyPolicy, system: ClusterSystem
    ) throws(JournalError) {
        (self.folder, self.limits, self.system) = (folder, limits, system)
        state = NIOLockedValueBox(State(policy: policy))
        room = CopyRoom(in: CopiesFolder(in: folder).path, limit: limits.bytes)
        logger = system.logger
        book = try ReplicaBook(in: folder)
        proof = book.key?.proof(from: system.node)
        machine = MachineIdentity.number
        (begun, begunInput) = AsyncStream.makeStream()
        (events, eventsInput) = AsyncStream.makeStream()
    }

    // MARK: - Replicas

    /// The journal of this node's own coordinator.
    func begin(_ journal: Journal) async throws(JournalError) -> Replica {
        try await begin(ReplicaStore(journal, room: room, book: book), isNew: true)
    }

    /// A new coordinator beside this node's own, for new jobs while that one waits for the nodes with its copies.
    ///
    /// - Parameter made: is called before it begins to work.
    func beginSpare(_ made: @Sendable (CoordinatorID) -> Void) async throws(JournalError) -> Replica {
        if let fault = copiesFolder.fault { throw JournalError(.inaccessible, fault) }
        let new = copiesFolder.placeOfNew()
        let coordinator = try Copies.makeJournal(in: new, limits, room.ballast)
        made(coordinator)
        let path = copiesFolder.place(of: coordinator)
        guard rename(new, path) == 0 else {
            throw JournalError(.inaccessible, "\(path): \(String(cString: strerror(errno)))")
        }
        let store = try ReplicaStore(copyOf: coordinator, in: path, limits: limits, room: room, book: book)
        return try await begin(store, isNew: true)
    }

    /// Makes a journal, and closes it with its folder.
    private static func makeJournal(
        in folder: String, _ limits: JournalLimits, _ ballast: JournalBallast
    ) throws(JournalError) -> CoordinatorID {
        let journal = try Journal(besideOwn: JournalFolder(folder), limits: limits, ballast: ballast)
        defer { journal.end() }
        return journal.incarnation.coordinator
    }

    /// How copies are kept.
    nonisolated var policy: CopyPolicy { state.withLockedValue { $0.policy } }

    /// Sets how copies are kept from now on.
    func setPolicy(_ policy: CopyPolicy, _ limits: JournalLimits) async {
        room.setLimit(limits.bytes)
        guard policy != self.policy else { return }
        state.withLockedValue { $0.policy = policy }
        for replica in replicas.values { await replica.setPolicy(policy) }
        // Whether this node keeps copies may have changed, too.
        for member in system.members { await introduceOneself(to: member.node) }
    }

    /// Begins with the copies that are on the disk.
    func beginStored() async {
        let names = (try? await book.names()) ?? [:]
        state.withLockedValue { $0.names.merge(names) { current, _ in current } }
        copiesFolder.tidy()
        for coordinator in copiesFolder.coordinators {
            guard !book.hasEnded(coordinator) else {
                // The process ended between the two.
                removeFolder(of: coordinator)
                continue
            }
            if !copiesFolder.isBegun(coordinator), JournalFolder.fault(of: copiesFolder.place(of: coordinator)) == nil {
                // It was begun and not finished. What was promised is elsewhere.
                removeFolder(of: coordinator)
                continue
            }
            _ = try? await beginCopy(of: coordinator)
        }
    }

    private func removeFolder(of coordinator: CoordinatorID) {
        guard !copiesFolder.remove(coordinator) else { return }
        logger.warning(
            "a folder among the copies is not removed: something in it is not this program's",
            metadata: ["folder": "\(PrintableText.of(copiesFolder.place(of: coordinator)))"])
    }

    /// Looks for damage in all copies, at the start and once a day.
    private func scrub() async {
        repeat {
            for replica in replicas.values where !Task.isCancelled { await replica.scrub() }
        } while (try? await Task.sleep(for: Copies.scrubInterval)) != nil
    }

    private static let scrubInterval = Duration.seconds(86_400)

    private var copiesFolder: CopiesFolder { CopiesFolder(in: folder) }

    /// Begins with a copy, which is on the disk or is to be made.
    ///
    /// - Throws: `JournalError` where the copy cannot be kept here; the log has the reason, too.
    @discardableResult
    func beginCopy(of coordinator: CoordinatorID) async throws(JournalError) -> Replica {
        let path = copiesFolder.place(of: coordinator)
        do throws(JournalError) {
            // What cannot be used is made anew like a damaged copy.
            let reason = JournalFolder.fault(of: path)
            if reason != nil { try copiesFolder.setAside(path) }
            let store = try ReplicaStore(copyOf: coordinator, in: path, limits: limits, room: room, book: book)
            let replica = try await begin(store, isNew: false)
            if let reason { await replica.noteDamage(reason) }
            return replica
        } catch {
            // A folder in use is that of a replica which ends now; the primary asks again.
            let reason = PrintableText.of(error.message)
            if error.kind != .inUse,
                reported.isDue(reason, of: "\(coordinator)", now: start.duration(to: .now))
            {
                logger.warning("a copy cannot be stored", metadata: ["reason": "\(reason)"])
            }
            throw error
        }
    }

    private func begin(_ store: ReplicaStore, isNew: Bool) async throws(JournalError) -> Replica {
        let replica = try await Replica(
            book.own, store, isNew: isNew, policy: policy, logger: logger,
            others: { [weak self] in self?.others() ?? Replica.Others() },
            crowded: { [weak self] in self?.crowded($0) ?? [] },
            name: { [weak self] in self?.name(of: $0) ?? "\($0)" },
            call: { [weak self, proof = NIOLockedValueBox<IdentityProof?>(nil)] in
                guard let self else { throw CancellationError() }
                if proof.withLockedValue({ $0 }) == nil {
                    let made = await store.proof(of: self.book.own, from: self.system.node)
                    proof.withLockedValue { $0 = made }
                }
                return try await self.call($0, $1, $2, proof.withLockedValue { $0 })
            })
        // Two calls may have begun the same copy; the first one counts.
        if let other = replicas[store.coordinator] { return other }
        replicas[store.coordinator] = replica
        begunInput.yield(replica)
        return replica
    }

    /// Works until it is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.followMembership() }
            group.addTask { await self.askForRoom() }
            group.addTask { await self.scrub() }
            for await replica in begun {
                group.addTask { await replica.run() }
                group.addTask { await self.follow(replica) }
            }
            group.cancelAll()
        }
    }

    private func follow(_ replica: Replica) async {
        for await event in replica.events {
            switch event {
            case .opened(let term): eventsInput.yield(.opened(replica, term: term))
            case .closed(let closure): eventsInput.yield(.closed(replica, closure))
            }
        }
    }

    /// The coordinators of whose journals there are whole copies here.
    var keptHere: Set<CoordinatorID> {
        get async {
            var kept: Set<CoordinatorID> = []
            for (coordinator, replica) in replicas where await replica.isWhole { kept.insert(coordinator) }
            return kept
        }
    }

    // MARK: - Other nodes

    private func followMembership() async {
        while !Task.isCancelled {
            await withDiscardingTaskGroup { group in
                for await event in system.membershipEvents() {
                    switch event {
                    case .joined(let member):
                        await self.linkChanged(to: nil)
                        group.addTask { await self.introduceOneself(to: member.node) }
                    case .back(let member):
                        await self.linkChanged(to: member.node, isWell: true)
                        group.addTask { await self.introduceOneself(to: member.node) }
                    case .lost(let node), .left(let node):
                        if case .left = event { self.noteGoodbye(of: node) }
                        await self.linkChanged(to: node)
                        // One that had passed for the same replica is the only one now: it may be the same machine, started again.
                        if let other = self.removePeer(node) {
                            group.addTask { await self.introduceOneself(to: other) }
                        }
                    case .suspect(let node): await self.linkChanged(to: node)
                    case .draining: break
                    }
                }
            }
            // The sequence of events has ended, at shutdown or because this listener was far behind.
            try? await Task.sleep(for: Copies.patience)
        }
    }

    /// Asks who has room while a node that keeps a copy has none: another one may take its place.
    private func askForRoom() async {
        while (try? await Task.sleep(for: Copies.askingInterval)) != nil {
            guard primaries.contains(where: { $0.report?.isShort == true }) else { continue }
            await withDiscardingTaskGroup { group in
                for member in system.members { group.addTask { await self.introduceOneself(to: member.node) } }
            }
        }
    }

    private static let askingInterval = Duration.seconds(10)

    /// Lets the replicas here look at each other more often again, and doubt what is at a node.
    private func linkChanged(to node: NodeID?, isWell: Bool = false) async {
        let replica = node.flatMap { node in
            state.withLockedValue { $0.peers.first { $0.value.node == node }?.key }
        }
        for other in replicas.values { await other.linkChanged(to: replica, isWell: isWell) }
    }

    /// A node is gone.
    ///
    /// - Returns: the node that passes for the same replica, and was not counted.
    private nonisolated func removePeer(_ node: NodeID) -> NodeID? {
        state.withLockedValue { state in
            guard let replica = state.peers.first(where: { $0.value.node == node })?.key else { return nil }
            return state.doubles.removeValue(forKey: replica)
        }
    }

    private func introduceOneself(to node: NodeID) async {
        guard let actor = try? actor(of: node), let other = try? await actor.introduce(await introduction) else {
            return
        }
        await note(other, of: node)
    }

    private var introduction: CopyIntroduction {
        get async {
            let isShort = await CopyRoom.isShort(at: folder)
            return CopyIntroduction(
                replica: book.own, machine: machine,
                uptime: UInt64(max(0, start.duration(to: .now).components.seconds)) * 1000,
                hasRoom: policy.copies > 0 && !isShort && !state.withLockedValue(\.isLeaving), proof: proof,
                free: await room.free)
        }
    }

    func introduced(_ other: CopyIntroduction, from node: NodeID?) async -> CopyIntroduction {
        if let node { await note(other, of: node) }
        return await introduction
    }

    private func note(_ introduction: CopyIntroduction, of node: NodeID) async {
        let replica = introduction.replica
        let name = system.members.first { $0.node == node }?.name
        guard await isAuthentic(introduction, of: node) else {
            logger.error(
                "a node does not prove that the copies are its own that it says it keeps; it keeps none",
                metadata: ["node": "\(PrintableText.of(name ?? "\(node)"))"])
            return
        }
        // Two that pass for one could both promise the same, or both say that they have what only one has.
        var known = state.withLockedValue { $0.peers[replica] }
        // One that had nothing to show has no claim against one that has.
        if introduction.proof != nil, known?.introduction.proof == nil { known = nil }
        let other = replica == book.own ? system.node : known?.node
        if let other, other != node, other == system.node || system.isLinked(other) {
            let isFirst = state.withLockedValue { $0.doubles.updateValue(node, forKey: replica) } == nil
            if isFirst {
                logger.error(
                    "two nodes use copies of one data folder; the second one keeps no copies",
                    metadata: ["node": "\(PrintableText.of(name ?? "\(node)"))"])
            }
            return
        }
        let isNew = state.withLockedValue { state in
            state.peers[replica] = Peer(node: node, introduction: introduction)
            if state.goodbyes[replica]?.node != node { state.goodbyes[replica] = nil }
            guard let name, state.names[replica] != name else { return false }
            state.names[replica] = name
            return true
        }
        // Without its name, a person can still name a lost node by its number.
        if isNew, let name { try? await book.store(name, of: replica) }
    }

    /// Whether a node has the data folder that it says it has. One that has proved it once has to prove it always.
    private func isAuthentic(_ introduction: CopyIntroduction, of node: NodeID) async -> Bool {
        guard let proof = introduction.proof else { return !book.hasProved(introduction.replica) }
        guard proof.proves(introduction.replica, from: node) else { return false }
        try? await book.noteProof(of: introduction.replica)
        return true
    }

    private nonisolated func others() -> Replica.Others {
        let (peers, goodbyes) = state.withLockedValue { ($0.peers, $0.goodbyes) }
        return Replica.Others(
            available: available(), reachable: peers.filter { system.isLinked($0.value.node) }.map(\.key),
            away: goodbyes.mapValues { $0.at.duration(to: .now) })
    }

    /// The replicas that may keep a copy and can be reached: on other machines first, then those that have run for longest.
    private nonisolated func available() -> [ReplicaID] {
        let peers = state.withLockedValue { state in state.peers.filter { state.goodbyes[$0.key] == nil } }
        guard !peers.isEmpty else { return [] }
        let draining = Set(system.members.filter(\.isDraining).map(\.node))
        return peers.filter { replica, peer in
            system.isLinked(peer.node) && peer.introduction.hasRoom && !draining.contains(peer.node)
        }
        .sorted { left, right in
            let (one, other) = (left.value.introduction, right.value.introduction)
            let areElsewhere = (one.machine != machine, other.machine != machine)
            if areElsewhere.0 != areElsewhere.1 { return areElsewhere.0 }
            return (one.uptime, left.key) > (other.uptime, right.key)
        }
        .map(\.key)
    }

    /// The replicas that have no room for so many bytes more.
    private nonisolated func crowded(_ bytes: Int) -> Set<ReplicaID> {
        Set(state.withLockedValue { $0.peers }.filter { $0.value.introduction.free.map { $0 < bytes } ?? false }.keys)
    }

    nonisolated func actor(of node: NodeID) throws -> CopyActor {
        try CopyActor.resolve(id: ActorAddress(node: node, name: CopyActor.wellKnownName), using: system)
    }

    private nonisolated func call(
        _ request: ReplicaRequest<CopiedRows>, _ coordinator: CoordinatorID, _ replica: ReplicaID,
        _ proof: IdentityProof?
    ) async throws -> ReplicaReply {
        guard let peer = state.withLockedValue({ $0.peers[replica] }), system.isLinked(peer.node) else {
            throw JournalError(.unprotected, "there is no link to the node")
        }
        return try await actor(of: peer.node).ask(
            ReplicaCall(coordinator: coordinator, to: replica, request: request, proof: proof))
    }

    /// A replica asks one of this node. A primary may begin a new copy here.
    func receive(_ call: ReplicaCall, from node: NodeID?) async -> ReplicaReply {
        let nothing = ReplicaReply(promised: 0, position: nil, isGranted: false)
        guard call.to == book.own else { return nothing }
        let isAuthentic = await isAuthentic(call, from: node ?? system.node)
        guard isAuthentic || call.isUnprovenQuestion else { return nothing }
        guard !book.hasEnded(call.coordinator) else {
            return ReplicaReply(promised: 0, position: nil, isGranted: false, hasEnded: true)
        }
        guard isAuthentic else {
            return await replicas[call.coordinator]?.dismissal(of: call.request.sender) ?? nothing
        }
        if let replica = replicas[call.coordinator] { return await answer(call.request, replica) }
        switch call.request {
        case .append, .snapshot:
            do throws(JournalError) {
                guard replicas.count < Copies.limit else {
                    throw JournalError(.unprotected, "it keeps the most copies already: \(Copies.limit)")
                }
                return await answer(call.request, try await beginCopy(of: call.coordinator))
            } catch {
                return ReplicaReply(
                    promised: 0, position: nil, isGranted: false, isFull: true, reason: error.reasonForOthers)
            }
        case .promise, .takeOver: return nothing
        }
    }

    private func answer(_ request: ReplicaRequest<CopiedRows>, _ replica: Replica) async -> ReplicaReply {
        var reply = await replica.receive(request)
        switch request {
        case .append, .snapshot: reply.share = await replica.share
        case .promise, .takeOver: break
        }
        return reply
    }

    /// Whether the one that asks has the coordinator's journal or a copy of it, so that nobody else takes the coordinator over or
    /// overwrites what is kept of it.
    private func isAuthentic(_ call: ReplicaCall, from node: NodeID) async -> Bool {
        guard let proof = call.proof else { return await replicas[call.coordinator]?.needsProof != true }
        // A signature takes longer to check than a batch to store.
        let known = Proven(proof: proof, node: node, sender: call.request.sender)
        if proven[call.coordinator]?.contains(known) == true { return true }
        guard proof.proves(call.coordinator, from: node, "\(call.request.sender)") else { return false }
        if proven.count >= Copies.limit { proven = [:] }
        // One primary and some candidates, each of which may have been started again.
        if proven[call.coordinator]?.count ?? 0 >= Copies.provenLimit { proven[call.coordinator] = [] }
        proven[call.coordinator, default: []].insert(known)
        return true
    }

    private static let provenLimit = 16

    // MARK: - Coordinators that have ended

    /// A coordinator that was taken over has no jobs any more, so it ends for good. The others hear of that when they next ask.
    ///
    /// Nothing can come later that it would have to keep: it takes no jobs, and that none is left is committed. The copies in reach know
    /// that first: otherwise they would say that the jobs wait where this node is gone before they ask. It ends later then.
    func end(_ coordinator: CoordinatorID) async {
        guard let replica = replicas[coordinator], await !replica.isAhead else { return }
        eventsInput.yield(.closed(replica, .ended))
    }

    /// The coordinator does not work here any more, and has ended for good.
    func remove(_ coordinator: CoordinatorID) async throws(JournalError) {
        try await book.end(coordinator)
        await drop(coordinator)
    }

    /// No copy is kept here any more. What was promised stays promised.
    func drop(_ coordinator: CoordinatorID) async {
        await replicas.removeValue(forKey: coordinator)?.end()
        room.forget(coordinator)
        removeFolder(of: coordinator)
    }

    // MARK: - Goodbyes

    func replica(of coordinator: CoordinatorID) -> Replica? { replicas[coordinator] }

    /// All replicas of this node.
    var replicasHere: [Replica] { Array(replicas.values) }

    /// - Returns: whether this is said for the first time.
    nonisolated func noteLeaving() -> Bool {
        state.withLockedValue { state in
            defer { state.isLeaving = true }
            return !state.isLeaving
        }
    }

    /// - Returns: whether the node is the one that keeps the replica's copies.
    nonisolated func noteGoodbye(of replica: ReplicaID, _ node: NodeID) -> Bool {
        state.withLockedValue { state in
            guard state.peers[replica]?.node == node else { return false }
            if state.goodbyes[replica]?.node != node { state.goodbyes[replica] = Goodbye(node: node, at: .now) }
            return true
        }
    }

    private nonisolated func noteGoodbye(of node: NodeID) {
        guard let replica = state.withLockedValue({ $0.peers.first { $0.value.node == node }?.key }) else { return }
        _ = noteGoodbye(of: replica, node)
    }

    // MARK: - What people see and say

    /// What the node of a replica is called; its number where that is not known.
    nonisolated func name(of replica: ReplicaID) -> String {
        state.withLockedValue { $0.names[replica] } ?? "\(replica)"
    }

    /// How the copies of a coordinator's journal are; `nil` where it does not work here.
    nonisolated func report(of replica: Replica) -> CopyReport? {
        replica.report.map { report in
            CopyReport(
                term: report.term, wanted: report.wanted,
                copies: report.copies.map { copy in
                    var state = copy.state
                    state.node = name(of: copy.replica)
                    return state
                }, isWaiting: report.missing != nil)
        }
    }

    /// Why nothing counts as stored now; `nil` where it does.
    nonisolated func waiting(of replica: Replica) -> JournalError? {
        guard let missing = replica.report?.missing else { return nil }
        let nodes = Dictionary(grouping: missing) { replica, reason in
            reason == .silent && isReplaced(replica) ? Replica.Hindrance.replaced : reason
        }
        let words = nodes.sorted { $0.key < $1.key }.map { reason, replicas -> String in
            let names = replicas.map { name(of: $0.replica) }.sorted().joined(separator: " and ")
            return "\(names) \(reason.words(ofMany: replicas.count > 1))"
        }.joined(separator: ", ")
        let isHopeless = nodes.keys.allSatisfy { $0 == .replaced }
        let end = isHopeless ? "it goes on" : "it goes on when one of them can store again, or"
        return JournalError(
            .unprotected,
            "nodes that keep copies: \(words); \(end) without copies: "
                + PersonsWord.unprotect(at: system.ownMember.address))
    }

    /// Whether the node that had a replica is there with another data folder.
    private nonisolated func isReplaced(_ replica: ReplicaID) -> Bool {
        state.withLockedValue { state in
            guard state.peers[replica].map({ system.isLinked($0.node) }) != true, let name = state.names[replica] else {
                return false
            }
            return state.peers.contains { other, peer in
                other != replica && state.names[other] == name && system.isLinked(peer.node)
            }
        }
    }

    /// The replicas of coordinators that work here, or would if enough others were in reach.
    var primaries: [Replica] { replicas.values.filter { $0.report != nil } }

    /// How the copies are of everything that works here.
    var reports: [CopyReport] { primaries.compactMap(report(of:)) }

    /// Lets standbys take over everything that works here. Where one has everything, that is done within moments.
    ///
    /// - Returns: how many coordinators work here still that others keep copies of.
    func handOver(within limit: Duration) async -> Int {
        await withTaskGroup(of: Bool.self) { group in
            for replica in primaries where replica.report?.copies.contains(where: \.state.hasVote) == true {
                group.addTask { await replica.handOver(within: limit) }
            }
            var left = 0
            for await isDone in group where !isDone { left += 1 }
            return left
        }
    }

    /// Lets coordinators of this node go on without their copies, on a person's word.
    ///
    /// - Returns: how many now go on alone.
    func continueWithoutStandbys(_ request: UnprotectRequest) async throws -> Int {
        var chosen: [Replica] = []
        if request.jobs.isEmpty {
            chosen = primaries.filter { $0.report?.isHeldUp == true }
        } else {
            for job in request.jobs {
                guard let place = await locateHere(job),
                    let replica = replicas.values.first(where: { replica in
                        owners.withLockedValue { $0[place.actor]?.coordinatorID } == replica.coordinator
                    })
                else { throw RemoteError(.failed, "\(RemoteError.unknownJob) \(job)") }
                if !chosen.contains(where: { $0 === replica }) { chosen.append(replica) }
            }
        }
        for replica in chosen { await replica.continueWithoutStandbys() }
        for replica in chosen {
            logger.notice(
                "a coordinator goes on alone, on a person's word; new copies are made when nodes are here",
                metadata: ["coordinator": "\(replica.coordinator)"])
        }
        return chosen.count
    }

    /// Takes over what a lost node had, on a person's word, as far as this node has copies of it.
    ///
    /// - Parameter node: the node's name, or the number of its replica.
    func adopt(from node: String) async throws -> [AdoptedCopy] {
        var adopted: [AdoptedCopy] = []
        var isHere = system.name == node
        let censuses = await censuses()
        let open = censuses.open
        var refusals: Set<String> = []
        for replica in replicas.values {
            guard let copy = await replica.adoptable, name(of: copy.primary) == node || "\(copy.primary)" == node else {
                continue
            }
            // Another machine may have its name by now, with an empty disk, or it may have got an old disk back, and have none of its jobs.
            let isKnown = censuses.contains { $0.census.replica == copy.primary }
            guard !isInReach(copy.primary) || isKnown && !open.contains(replica.coordinator) else {
                isHere = true
                continue
            }
            if let refusal = await replica.adopt() {
                refusals.insert(words(refusal, of: node))
                continue
            }
            adopted.append(
                AdoptedCopy(coordinator: "\(replica.coordinator)", missing: copy.missing, silent: copy.silent))
            logger.notice(
                "a coordinator is taken over on a person's word",
                metadata: ["coordinator": "\(replica.coordinator)", "node": "\(PrintableText.of(node))"])
        }
        guard adopted.isEmpty else { return adopted }
        guard refusals.isEmpty else {
            throw RemoteError(.failed, refusals.sorted().joined(separator: "; "))
        }
        guard !isHere else { throw RemoteError(.failed, "node \(node) is here, and has its jobs") }
        do {
            let known = Set(await names()).sorted().joined(separator: ", ")
            throw RemoteError(
                .failed,
                "there is no copy here of what \(node) had" + (known.isEmpty ? "" : "; there are of: \(known)"))
        }
    }

    private nonisolated func isInReach(_ replica: ReplicaID) -> Bool {
        state.withLockedValue { $0.peers[replica] }.map { system.isLinked($0.node) } ?? false
    }

    private nonisolated func words(_ refusal: AdoptionRefusal, of node: String) -> String {
        let other = name(of: refusal.replica)
        let peer = state.withLockedValue { $0.peers[refusal.replica] }?.node
        let address = system.members.first { $0.node == peer }?.address
        return switch refusal.reason {
        case .promised: "\(other) is taking the jobs over"
        case .hasMore: "\(other) has a newer copy; adopt them there: \(PersonsWord.adopt(node, at: address))"
        case .hearsPrimary: "\(other) still hears that node; its jobs go on there"
        }
    }

    /// The nodes of whose jobs there are copies here.
    private func names() async -> [String] {
        var names: [String] = []
        for replica in replicas.values {
            if let copy = await replica.adoptable { names.append(name(of: copy.primary)) }
        }
        return names
    }

    static let patience = Duration.seconds(1)
}

// MARK: - Coordinators that do not work here

extension Copies {
    /// Most of them work elsewhere, and to count their jobs waits for what they have stored here: not for long, on a slow disk.
    private static let countingTime = Duration.milliseconds(300)

    /// How many jobs copies have; those are left out of which it is not known in time.
    private func jobCounts(of replicas: [CoordinatorID: Replica]) async -> [CoordinatorID: Int] {
        let counts = NIOLockedValueBox<[CoordinatorID: Int]>([:])
        let all = Latch()
        Task {
            await withDiscardingTaskGroup { group in
                for (coordinator, replica) in replicas {
                    group.addTask {
                        guard let count = await replica.jobCount else { return }
                        counts.withLockedValue { $0[coordinator] = count }
                    }
                }
            }
            all.open()
        }
        await all.wait(atMost: Copies.countingTime)
        return counts.withLockedValue { $0 }
    }

    /// What is known of the coordinators of which there are whole copies here, but for some.
    func restingHere(but open: Set<CoordinatorID>) async -> [RestingCoordinator] {
        let linked = state.withLockedValue { $0.peers.filter { system.isLinked($0.value.node) }.map(\.key) }
        var resting: [RestingCoordinator] = []
        let counts = await jobCounts(of: replicas.filter { !open.contains($0.key) })
        for (coordinator, replica) in replicas where !open.contains(coordinator) {
            let core = await replica.core
            guard core.record.position != nil else { continue }
            let had = core.primary ?? core.record.promisedTo ?? book.own
            resting.append(
                RestingCoordinator(
                    coordinator: coordinator, node: had == book.own ? system.name : name(of: had),
                    jobs: counts[coordinator],
                    isDecidable: core.record.set.isQuorum(Set(linked + [book.own]).subtracting(core.forgetful)),
                    position: core.record.position, set: core.record.set,
                    forgetful: core.forgetful.isEmpty ? nil : core.forgetful))
        }
        return resting
    }
}
