import Fixtures
import Logging
import Testing
import Transport

@testable import SkyCore

/// One replica over a real journal.
struct ReplicaTests {
    private func replica(_ journal: Journal, _ book: ReplicaBook) async throws -> Replica {
        try await Replica(
            book.own, ReplicaStore(journal, book: book), isNew: true, policy: CopyPolicy(copies: 2),
            logger: Logger(label: "replica") { _ in SwiftLogNoOpLogHandler() }, available: { [] },
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
}
