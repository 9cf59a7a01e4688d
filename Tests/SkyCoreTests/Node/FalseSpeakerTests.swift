import Fixtures
import Foundation
import GRDB
import Logging
import Testing
import Transport

@testable import SkyCore
@testable import SkyJobs

/// A member with the cluster's key that speaks for coordinators and copies that are not its own.
@Suite(.serialized, .timeLimit(.minutes(3))) struct FalseSpeakerTests {
    private struct Cluster {
        var nodes: [Node]
        var folders: [String]
        var coordinator: CoordinatorID
        /// Of the node whose coordinator that is, and of the two that keep copies.
        var replicas: [ReplicaID]
        /// The false member.
        var system: ClusterSystem

        func copies(_ index: Int) throws -> CopyActor {
            try CopyActor.resolve(
                id: ActorAddress(node: nodes[index].system.node, name: CopyActor.wellKnownName), using: system)
        }
    }

    /// Runs three nodes, of which the others keep copies of the first one's journal, and a false member.
    private func with(_ body: @escaping @Sendable (Cluster) async throws -> Void) async throws {
        let data = ScratchFolder()
        let folders = (1...3).map { data.path + "/node\($0)" }
        let journals = try folders.map { try Journal(in: JournalFolder($0)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            var nodes: [Node] = []
            for (index, journal) in journals.enumerated() {
                let seeds = nodes.compactMap(\.system.listeningAddress)
                let node = try Node(
                    NodesInProcess.settings("node\(index + 1)", slots: 1, join: seeds), journal: journal)
                try await node.start()
                nodes.append(node)
                group.addTask { await node.run() }
            }
            let limit = ContinuousClock.now + .seconds(60)
            while ContinuousClock.now < limit {
                if await FalseSpeakerTests.kept(of: nodes[0]) == 2 { break }
                await Task.yield()
            }
            let seeds = nodes.compactMap(\.system.listeningAddress)
            let system = ClusterSystem(NodesInProcess.settings("false", slots: 1, join: seeds).cluster)
            let events = system.membershipEvents()
            try await system.start()
            var met = 0
            for await event in events {
                if case .joined = event { met += 1 }
                if met == 3 { break }
            }
            let cluster = Cluster(
                nodes: nodes, folders: folders, coordinator: journals[0].incarnation.coordinator,
                replicas: try folders.map(FalseSpeakerTests.replica), system: system)
            group.addTask { try await body(cluster) }
            do {
                try await group.next()
            } catch {
                group.cancelAll()
                await system.shutdown()
                throw error
            }
            group.cancelAll()
            await system.shutdown()
        }
        withExtendedLifetime(data) {}
    }

    /// The number of a node's data folder, which that node is using.
    private static func replica(in folder: String) throws -> ReplicaID {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(30)
        let queue = try DatabaseQueue(path: folder + "/replicas.sqlite", configuration: configuration)
        let id = try queue.read { try Int64.fetchOne($0, sql: "SELECT id FROM own") }
        return ReplicaID(rawValue: UInt64(bitPattern: try #require(id)))
    }

    /// How many others keep copies of a node's journal.
    private static func kept(of node: Node) async -> Int {
        let report = await node.coordinator.whenLocal { $0.copyReport } ?? nil
        return report?.kept.count ?? 0
    }

    private func works(_ cluster: Cluster) async throws {
        let request = JobRequest(.simulate(SimulateRequest(tasks: 10, duration: .milliseconds(1))))
        let job = try await cluster.nodes[0].coordinator.submit(Submission(request))
        let (report, _) = try await NodesInProcess.report(of: job, at: cluster.nodes[0].coordinator)
        #expect(report.state == .done && report.completed == 10)
    }

    @Test func `it gets no promise, overwrites no copy, and takes nothing over`() async throws {
        try await with { cluster in
            try await works(cluster)
            let stranger = IdentityKey.coordinator(secret: [4, 7, 1, 1])
            let node = cluster.system.node
            for target in 0..<3 {
                for sender in cluster.replicas + [ReplicaID(rawValue: 4711)] {
                    let promise = ReplicaRequest<CopiedRows>.promise(
                        PromiseRequest(
                            term: 1 << 20, candidate: sender,
                            position: LogPosition(term: 1 << 20, number: 1 << 40, hash: 1),
                            isTrial: false))
                    let append = ReplicaRequest<CopiedRows>.append(
                        AppendRequest(
                            term: 1 << 20, primary: sender, previous: .start, batches: [],
                            head: LogPosition(term: 1 << 20, number: 1 << 40, hash: 1)))
                    for request in [promise, append] {
                        for proof in [nil, stranger.proof(from: node, "\(sender)")] {
                            let reply = try await cluster.copies(target).ask(
                                ReplicaCall(
                                    coordinator: cluster.coordinator, to: cluster.replicas[target], request: request,
                                    proof: proof))
                            #expect(!reply.isGranted && reply.promised == 0 && reply.position == nil)
                        }
                    }
                }
            }
            try await works(cluster)
            #expect(await FalseSpeakerTests.kept(of: cluster.nodes[0]) == 2)
        }
    }

    @Test func `one that has nothing of a journal is told that it is to keep nothing, and no more`() async throws {
        try await with { cluster in
            func ask(_ target: Int, as candidate: ReplicaID, _ proof: IdentityProof? = nil) async throws -> ReplicaReply
            {
                let request = PromiseRequest(term: 1 << 20, candidate: candidate, position: .start, isTrial: true)
                return try await cluster.copies(target).ask(
                    ReplicaCall(
                        coordinator: cluster.coordinator, to: cluster.replicas[target], request: .promise(request),
                        proof: proof))
            }
            let stale = ReplicaID(rawValue: 4711)
            // That the members keep the copies may not be agreed yet.
            let limit = ContinuousClock.now + .seconds(60)
            var reply = try await ask(0, as: stale)
            while reply.isUnneeded != true, ContinuousClock.now < limit { reply = try await ask(0, as: stale) }
            #expect(reply.isUnneeded == true && !reply.isGranted && reply.position == nil && reply.promised < 1 << 20)
            let stranger = IdentityKey.coordinator(secret: [4, 7, 1, 1])
            let others = [
                try await ask(0, as: cluster.replicas[1]), try await ask(1, as: stale),
                try await ask(0, as: stale, stranger.proof(from: cluster.system.node, "\(stale)")),
            ]
            for reply in others {
                #expect(reply.isUnneeded == nil && !reply.isGranted && reply.position == nil && reply.promised == 0)
            }
        }
    }

    @Test func `it keeps no copies in the name of another folder`() async throws {
        try await with { cluster in
            let node = cluster.system.node
            let stranger = IdentityKey.replica(secret: [4, 7, 1, 1])
            for replica in cluster.replicas {
                for proof in [nil, stranger.proof(from: node)] {
                    for target in 0..<3 {
                        _ = try await cluster.copies(target).introduce(
                            CopyIntroduction(replica: replica, machine: 1, uptime: 1, hasRoom: true, proof: proof))
                    }
                }
            }
            try await works(cluster)
            #expect(await FalseSpeakerTests.kept(of: cluster.nodes[0]) == 2)
        }
    }

    @Test func `it collects, acknowledges and stops nothing at a node for another's coordinator`() async throws {
        try await with { cluster in
            try await works(cluster)
            let scan = try ScanActor.resolve(
                id: ActorAddress(node: cluster.nodes[1].system.node, name: ScanActor.wellKnownName),
                using: cluster.system)
            let later = CoordinatorIncarnation(cluster.coordinator, generation: 1 << 40)
            await #expect(throws: WorkBook.Rejection.unproven) {
                _ = try await scan.collect(
                    CollectRequest(
                        incarnation: later, received: 0, acknowledged: 1 << 50, fencingToken: 0, isFirst: true))
            }
            await #expect(throws: WorkBook.Rejection.unproven) {
                _ = try await scan.reserve(ReserveRequest(incarnation: later, wanted: 1))
            }
            await #expect(throws: WorkBook.Rejection.unproven) {
                try await scan.assign(Assignment(incarnation: later))
            }
            try await works(cluster)
        }
    }
}
