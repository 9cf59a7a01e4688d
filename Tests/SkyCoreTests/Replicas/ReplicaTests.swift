import Fixtures
import Foundation
import Logging
import NIOCore
import Testing
import Transport

@testable import SkyCore

/// One replica over a real journal.
struct ReplicaTests {
    private func store(_ journal: Journal, _ book: ReplicaBook) -> ReplicaStore {
        let room = CopyRoom(in: (journal.folderPath ?? "") + "/copies", limit: 1 << 30)
        return ReplicaStore(journal, room: room, book: book)
    }

    private func replica(_ journal: Journal, _ book: ReplicaBook) async throws -> Replica {
        try await Replica(
            book.own, store(journal, book), isNew: true, policy: CopyPolicy(copies: 2),
            logger: Logger(label: "replica") { _ in SwiftLogNoOpLogHandler() }, others: { Replica.Others() },
            call: { _, _, _ in throw CancellationError() })
    }

    private let deletion = JournalEntry.deleted(JobID(rawValue: 1))

    @Test(.timeLimit(.minutes(1))) func `a replica alone opens at every start, and stores`() async throws {
        let data = ScratchFolder()
        let journal = try Journal(in: JournalFolder(data.path))
        let book = try ReplicaBook(in: data.path)
        for start in 1...2 {
            let replica = try await replica(journal, book)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await replica.run() }
                let event = await replica.events.first { _ in true }
                if case .opened(let term) = event {
                    #expect(term == 1, "start \(start)")
                } else {
                    Issue.record("\(event as Any)")
                }
                _ = try await replica.append([deletion], ran: nil)
                await replica.end()
                try await group.waitForAll()
            }
        }
    }

    @Test(.timeLimit(.minutes(1))) func `a replica that has ended refuses at once`() async throws {
        let data = ScratchFolder()
        let journal = try Journal(in: JournalFolder(data.path))
        let replica = try await replica(journal, try ReplicaBook(in: data.path))
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await replica.run() }
            await replica.end()
            await group.waitForAll()
        }
        let request = PromiseRequest(term: 9, candidate: ReplicaID(rawValue: 5), position: .start, isTrial: true)
        #expect(await replica.receive(.promise(request)).isGranted == false)
        await #expect(throws: JournalError.self) { _ = try await replica.append([deletion], ran: nil) }
    }

    /// Runs a replica until its journal has its first batch.
    private func begin(_ journal: Journal, _ book: ReplicaBook) async throws {
        let replica = try await replica(journal, book)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await replica.run() }
            _ = await replica.events.first { _ in true }
            await replica.end()
            await group.waitForAll()
        }
    }

    @Test(.timeLimit(.minutes(1))) func `a journal that others took over becomes a copy, and its replica still votes`()
        async throws
    {
        let data = ScratchFolder()
        let journal = try Journal(in: JournalFolder(data.path))
        let book = try ReplicaBook(in: data.path)
        let coordinator = journal.incarnation.coordinator
        try await begin(journal, book)
        // The process ends right after its promise to another replica.
        let other = ReplicaID(rawValue: 5)
        try await book.promise(2, to: other, about: coordinator)

        let replica = try await replica(journal, book)
        #expect(await replica.isTakenOver)
        let new = try #require(try await replica.becomeCopy(isSetAside: false))
        #expect(new.incarnation.coordinator != coordinator)
        await #expect(throws: JournalError.self) { _ = try await replica.open(term: 2) }
        let position = try #require(await replica.core.record.position)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await replica.run() }
            let batch = LogBatch<CopiedRows>(after: position, term: 2, content: nil, set: nil)
            let request = AppendRequest<CopiedRows>(
                term: 2, primary: other, previous: position, batches: [batch], head: batch.position, acked: [:])
            let reply = await replica.receive(.append(request))
            #expect(reply.isGranted && reply.position == batch.position)
            await replica.end()
            await group.waitForAll()
        }
    }

    @Test func `nothing is promised that the next start would not know`() async throws {
        let data = ScratchFolder()
        let book = try ReplicaBook(in: data.path)
        let store = store(try Journal(in: JournalFolder(data.path)), book)
        let set = ReplicaSet(members: [book.own])
        func promise(_ term: UInt64) async throws {
            _ = try await store.perform(.promise(term, to: book.own), own: nil, set: set, recent: nil)
        }
        try await promise(1)
        unlink(data.path + "/replicas.sqlite")
        let error = await #expect(throws: JournalError.self) { try await promise(2) }
        #expect(error?.kind == .unpromised && error?.message.contains("replicas.sqlite was deleted") == true)
    }

    @Test func `a journal that was put back is set aside, and an empty copy takes its place`() async throws {
        let data = ScratchFolder()
        let journal = try Journal(in: JournalFolder(data.path))
        let book = try ReplicaBook(in: data.path)
        let coordinator = journal.incarnation.coordinator
        try await begin(journal, book)
        let store = store(journal, book)
        let before = try await store.record().record
        _ = try await store.perform(.discard, own: nil, set: before.set, recent: nil)
        // If the process ended here, the journal would still not be one that nobody else knows of.
        #expect(try await store.record().record.position == before.position)
        _ = try #require(try await store.becomeCopy(isSetAside: true))
        #expect(try await store.record().record.position == nil)
        #expect(FileManager.default.fileExists(atPath: data.path + "/" + ReplicaStore.nameAside(coordinator)))
    }

    @Test func `of batches in one call all are stored or none`() async throws {
        let data = ScratchFolder()
        let journal = try Journal(in: JournalFolder(data.path))
        let book = try ReplicaBook(in: data.path)
        try await begin(journal, book)
        let store = store(journal, book)
        let before = try await store.record().record
        let position = try #require(before.position)
        let first = LogBatch(
            after: position, term: 1, content: CopiedRows([JournalRow(deletion)], ran: nil), set: nil)
        let second = LogBatch(
            after: first.position, term: 1, content: CopiedRows(body: ByteBuffer(string: "no rows")), set: nil)
        await #expect(throws: JournalError.self) {
            _ = try await store.perform(
                .append([first, second], promised: 1, to: book.own), own: nil, set: before.set, recent: RecentBatches())
        }
        #expect(try await store.record().record.position == position)
        _ = try await store.perform(
            .append([first], promised: 1, to: book.own), own: nil, set: before.set, recent: RecentBatches())
        #expect(try await store.record().record.position == first.position)
    }

    @Test func `the last batches are whole after a start, unless a result of theirs is gone`() async throws {
        let data = ScratchFolder()
        let journal = try Journal(in: JournalFolder(data.path))
        let book = try ReplicaBook(in: data.path)
        try await begin(journal, book)
        let store = store(journal, book)
        let (before, _) = try await store.record()
        let job = JobID(rawValue: 7)
        let rows: [JournalRow] = [
            .job(
                JournalRow.JobRow(
                    id: job, token: nil, request: Data([1]), submitted: 5, program: nil, submittedRun: nil, since: nil)),
            .result(
                JournalRow.ResultRow(
                    job: job, task: 3, node: "dome-1", duration: 1,
                    payload: ByteBuffer(repeating: 0x55, count: 100_000))),
        ]
        func add(_ rows: [JournalRow], after position: LogPosition, isOwn: Bool) async throws -> LogBatch<CopiedRows> {
            let batch = LogBatch(after: position, term: 1, content: CopiedRows(rows, ran: .seconds(2)), set: nil)
            _ = try await store.perform(
                .append([batch], promised: 1, to: book.own), own: isOwn ? (rows, .seconds(2)) : nil, set: before.set,
                recent: RecentBatches())
            return batch
        }
        let first = try await add(rows, after: try #require(before.position), isOwn: true)
        var stored = try await store.record()
        #expect(stored.recent.batches.last?.position == first.position)
        #expect(stored.recent.batches.last?.content == first.content)
        let bytes = try await journal.read { try $0.number("SELECT max(length(body)) FROM batch") }
        #expect((1..<500).contains(bytes))

        let second = try await add([.deletion(job: job)], after: first.position, isOwn: false)
        stored = try await store.record()
        #expect(stored.record.position == second.position)
        // Who lacks the first gets a whole copy.
        #expect(stored.recent.after(first.position, bytes: 1 << 20)?.count == 1)
        #expect(stored.recent.after(first.previous, bytes: 1 << 20) == nil)

        var last = second
        for _ in 0..<40 { last = try await add([], after: last.position, isOwn: true) }
        let kept = try await journal.read { try $0.number("SELECT count(*) FROM batch") }
        #expect(kept <= 16, "those that are not wanted are deleted a few at a time")
        #expect(try await store.record().recent.batches.last?.position == last.position)
    }
}
