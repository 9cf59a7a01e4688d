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
    }

    /// A node that keeps copies.
    private struct Peer {
        var node: NodeID
        var introduction: CopyIntroduction
    }

    let book: ReplicaBook
    private let folder: String
    let system: ClusterSystem
    let policy: CopyPolicy
    private let limits: JournalLimits
    private let logger: Logger
    private let machine: UInt64
    private let start = ContinuousClock.now
    private var replicas: [CoordinatorID: Replica] = [:]
    private let peers = NIOLockedValueBox<[ReplicaID: Peer]>([:])
    /// The replicas that are to be run.
    private let begun: AsyncStream<Replica>
    private let begunInput: AsyncStream<Replica>.Continuation
    nonisolated let events: AsyncStream<Event>
    private let eventsInput: AsyncStream<Event>.Continuation
    /// The coordinators that work here, by the name of their actor.
    let owners = NIOLockedValueBox<[String: any JobOwner]>([:])

    /// The most copies of other nodes' journals: some for each node of a large cluster.
    private static let limit = 1024

    /// - Parameter folder: the node's data folder, which is in use by this process.
    init(
        in folder: String, limits: JournalLimits, policy: CopyPolicy, system: ClusterSystem
    ) throws(JournalError) {
        (self.folder, self.limits, self.policy, self.system) = (folder, limits, policy, system)
        logger = system.logger
        book = try ReplicaBook(in: folder)
        machine = MachineIdentity.number
        (begun, begunInput) = AsyncStream.makeStream()
        (events, eventsInput) = AsyncStream.makeStream()
    }

    // MARK: - Replicas

    /// The journal of this node's own coordinator.
    func begin(_ journal: Journal) async throws(JournalError) -> Replica {
        try await begin(ReplicaStore(journal, book: book), isNew: true)
    }

    /// Begins with the copies that are on the disk.
    func beginStored() async {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: copiesFolder)) ?? []
        for name in names {
            guard let number = UInt64(name, radix: 16) else { continue }
            _ = await beginCopy(of: CoordinatorID(rawValue: number))
        }
    }

    private var copiesFolder: String { folder + "/copies" }

    /// - Returns: `nil` where the copy cannot be kept here, for which the log has the reason.
    private func beginCopy(of coordinator: CoordinatorID) async -> Replica? {
        do {
            let store = try ReplicaStore(
                copyOf: coordinator, in: copiesFolder + "/\(coordinator)", limits: limits, book: book)
            return try await begin(store, isNew: false)
        } catch {
            // A folder in use is that of a replica which ends now; the primary asks again.
            if error.kind != .inUse {
                logger.warning("a copy cannot be stored", metadata: ["reason": "\(PrintableText.of(error.message))"])
            }
            return nil
        }
    }

    private func begin(_ store: ReplicaStore, isNew: Bool) async throws(JournalError) -> Replica {
        let replica = try await Replica(
            book.own, store, isNew: isNew, policy: policy, logger: logger,
            available: { [weak self] in self?.available() ?? [] },
            call: { [weak self] in
                guard let self else { throw CancellationError() }
                return try await self.call($0, $1, $2)
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

    // MARK: - Other nodes

    private func followMembership() async {
        while !Task.isCancelled {
            await withDiscardingTaskGroup { group in
                for await event in system.membershipEvents() {
                    switch event {
                    case .joined(let member), .back(let member):
                        group.addTask { await self.introduceOneself(to: member.node) }
                    case .lost, .left, .suspect, .draining: break
                    }
                }
            }
            // The sequence of events has ended, at shutdown or because this listener was far behind.
            try? await Task.sleep(for: Copies.patience)
        }
    }

    private func introduceOneself(to node: NodeID) async {
        guard let actor = try? actor(of: node), let other = try? await actor.introduce(introduction) else { return }
        note(other, of: node)
    }

    private var introduction: CopyIntroduction {
        CopyIntroduction(
            replica: book.own, machine: machine,
            uptime: UInt64(max(0, start.duration(to: .now).components.seconds)) * 1000,
            hasRoom: !JournalRoom.isShort(at: folder))
    }

    func introduced(_ other: CopyIntroduction, from node: NodeID?) -> CopyIntroduction {
        if let node { note(other, of: node) }
        return introduction
    }

    private func note(_ introduction: CopyIntroduction, of node: NodeID) {
        guard introduction.replica != book.own else { return }
        peers.withLockedValue { $0[introduction.replica] = Peer(node: node, introduction: introduction) }
    }

    /// The replicas that may keep a copy and can be reached: on other machines first, then those that have run for longest.
    private nonisolated func available() -> [ReplicaID] {
        let peers = peers.withLockedValue { $0 }
        return peers.filter { system.isLinked($0.value.node) && $0.value.introduction.hasRoom }
            .sorted { left, right in
                let (one, other) = (left.value.introduction, right.value.introduction)
                let areElsewhere = (one.machine != machine, other.machine != machine)
                if areElsewhere.0 != areElsewhere.1 { return areElsewhere.0 }
                return (one.uptime, left.key) > (other.uptime, right.key)
            }
            .map(\.key)
    }

    nonisolated func actor(of node: NodeID) throws -> CopyActor {
        try CopyActor.resolve(id: ActorAddress(node: node, name: CopyActor.wellKnownName), using: system)
    }

    private nonisolated func call(
        _ request: ReplicaRequest<CopiedRows>, _ coordinator: CoordinatorID, _ replica: ReplicaID
    ) async throws -> ReplicaReply {
        guard let peer = peers.withLockedValue({ $0[replica] }), system.isLinked(peer.node) else {
            throw JournalError(.unprotected, "there is no link to the node")
        }
        return try await actor(of: peer.node).ask(
            ReplicaCall(coordinator: coordinator, to: replica, request: request))
    }

    /// A replica asks one of this node. A primary may begin a new copy here.
    func receive(_ call: ReplicaCall) async -> ReplicaReply {
        let nothing = ReplicaReply(promised: 0, position: nil, isGranted: false)
        guard call.to == book.own else { return nothing }
        if let replica = replicas[call.coordinator] { return await replica.receive(call.request) }
        switch call.request {
        case .append, .snapshot:
            guard replicas.count < Copies.limit, let replica = await beginCopy(of: call.coordinator) else {
                return ReplicaReply(promised: 0, position: nil, isGranted: false, isFull: true)
            }
            return await replica.receive(call.request)
        case .promise, .takeOver: return nothing
        }
    }

    /// Forgets a replica whose coordinator has ended here. Its journal was set aside.
    func forget(_ coordinator: CoordinatorID) async { await replicas.removeValue(forKey: coordinator)?.end() }

    /// The name of the node that a replica is on, if it is in reach.
    nonisolated func name(of replica: ReplicaID) -> String? {
        guard let peer = peers.withLockedValue({ $0[replica] }) else { return nil }
        return system.members.first { $0.node == peer.node }?.name
    }

    static let patience = Duration.seconds(1)
}
