import Fixtures
import Foundation
import Logging
import NIOConcurrencyHelpers
import Testing
import Transport

@testable import SkyCore

/// A primary that has another replica take over.
@Suite(.timeLimit(.minutes(3))) struct HandOverTests {
    /// Three replicas that call each other in one process.
    private final class Wire: Sendable {
        private struct State {
            var replicas: [ReplicaID: Replica] = [:]
            var silent: Set<ReplicaID> = []
        }

        private let state = NIOLockedValueBox(State())
        /// That calls were answered. There is one a second at least, to keep in touch.
        let answers: AsyncStream<Void>
        private let answersInput: AsyncStream<Void>.Continuation

        init() { (answers, answersInput) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

        var all: [ReplicaID: Replica] { state.withLockedValue { $0.replicas } }

        func add(_ replica: Replica, as id: ReplicaID) { state.withLockedValue { $0.replicas[id] = replica } }

        /// A replica is not heard any more.
        func silence(_ id: ReplicaID) { state.withLockedValue { _ = $0.silent.insert(id) } }

        func call(
            _ request: ReplicaRequest<CopiedRows>, from: ReplicaID, to: ReplicaID
        ) async throws -> ReplicaReply {
            let replica = state.withLockedValue { state in
                state.silent.isDisjoint(with: [from, to]) ? state.replicas[to] : nil
            }
            guard let replica else { throw JournalError(.inaccessible, "it does not answer") }
            defer { answersInput.yield() }
            return await replica.receive(request)
        }
    }

    @Test func `one that does not store any more what it lacks does not keep it from the next one`() async throws {
        let data = ScratchFolder()
        let folders = (0..<3).map { data.path + "/node\($0)" }
        for folder in folders {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        let books = try folders.map { try ReplicaBook(in: $0) }
        let wire = Wire()
        let journal = try Journal(in: JournalFolder(folders[0]))
        let (own, good, silent) = (books[0].own, books[1].own, books[2].own)
        var policy = CopyPolicy(copies: 2)
        policy.adoptAfter = .seconds(3600)
        for (index, book) in books.enumerated() {
            let room = CopyRoom(in: folders[index] + "/copies", limit: 1 << 30)
            let store =
                index == 0
                ? ReplicaStore(journal, room: room, book: book)
                : try ReplicaStore(
                    copyOf: journal.incarnation.coordinator, in: folders[index] + "/copies/one",
                    limits: JournalLimits(), room: room, book: book)
            let replica = try await Replica(
                book.own, store, isNew: index == 0, policy: policy,
                logger: Logger(label: "replica") { _ in SwiftLogNoOpLogHandler() },
                others: { Replica.Others(available: index == 0 ? [silent, good] : []) },
                call: { request, _, target in try await wire.call(request, from: book.own, to: target) })
            wire.add(replica, as: book.own)
        }
        let primary = try #require(wire.all[own])
        await withTaskGroup(of: Void.self) { group in
            for replica in wire.all.values { group.addTask { await replica.run() } }
            for await _ in wire.answers where await primary.core.record.set.members.count == 3 { break }
            wire.silence(silent)
            // With the other one it is stored on two of three.
            await #expect(throws: Never.self) {
                _ = try await primary.append([.deleted(JobID(rawValue: 1))], ran: nil)
            }
            #expect(await !primary.handOver(within: .milliseconds(300), to: 0), "it lacks what was stored meanwhile")
            #expect(await primary.handOver(within: .seconds(60), to: 1))
            #expect(await wire.all[good]?.core.isPrimary == true)
            for replica in wire.all.values { await replica.end() }
            await group.waitForAll()
        }
        withExtendedLifetime(data) {}
    }
}
