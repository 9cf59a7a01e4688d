import Base
import Fixtures
import Testing
import Transport

@testable import SkyCore
@testable import SkyJobs

/// Whoever hangs up, or stops, takes nothing back from the disk.
@Suite struct UninterruptedTests {
    /// The outcome of what a task does that was cancelled before it began.
    private func cancelled<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value
    {
        try await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await body()
        }.value
    }

    @Test func `what a cancelled task stores is stored, and it is told so`() async throws {
        let data = ScratchFolder()
        let coordinator = CoordinatorID(rawValue: 7)
        let book = try ReplicaBook(in: data.path)
        let standby = ReplicaID(rawValue: 3)
        try await cancelled { try await book.promise(4, to: standby, about: coordinator) }
        try await cancelled { try await book.store("east", of: standby) }
        try await cancelled { try await book.noteProof(of: standby) }
        let promise = try await cancelled { try await book.promise(about: coordinator) }
        #expect(promise.term == 4 && promise.to == standby)
        #expect(try await cancelled { try await book.names() } == [standby: "east"])
        try await cancelled { try await book.end(coordinator) }
        #expect(book.hasEnded(coordinator))

        let journal = try Journal(in: JournalFolder(data.path))
        let job = StoredJob(
            id: JobID(rawValue: 1), token: nil,
            request: JobRequest(.simulate(SimulateRequest(tasks: 1, duration: .seconds(1)))), submitted: 1)
        try await cancelled { _ = try await journal.append([.submitted(job)]) }
        #expect(try await cancelled { try await journal.jobs().jobs.map(\.id) } == [job.id])
        try await cancelled { try await journal.syncAlways() }
        try await cancelled { try await journal.shrink() }
        try await cancelled { try await journal.close() }
    }
}
