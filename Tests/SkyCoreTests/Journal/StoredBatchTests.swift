import Base
import Fixtures
import Foundation
import NIOCore
import Testing
import Transport

@testable import SkyCore

/// What a journal stores of the batches that copies get.
struct StoredBatchTests {
    private func entry(_ number: Int) -> JournalEntry {
        .result(
            StoredResult(
                job: JobID(rawValue: 1), task: TaskID(number), node: "east", duration: .milliseconds(5),
                payload: ByteBuffer(repeating: 7, count: 10)))
    }

    /// - Parameter changed: the batch of four that changes the members.
    @Test(arguments: [nil, 0, 1, 3]) func `batches that are stored together leave the position and members of the last`(
        changed: Int?
    ) async throws {
        let folder = ScratchFolder()
        let journal = try Journal(in: JournalFolder(folder.path))
        var (position, stored) = (LogPosition.start, [StoredBatch]())
        var set = ReplicaSet(members: [ReplicaID(rawValue: 1)])
        func store(_ rows: [JournalEntry], _ change: ReplicaSet?) {
            let rows = rows.map(JournalRow.init)
            let content = CopiedRows(rows, ran: nil)
            let batch = LogBatch(after: position, term: 1, content: content, set: change)
            set = change ?? set
            position = batch.position
            stored.append(
                StoredBatch(batch: batch, body: content.trimmed(rows, ran: nil), set: set, keepFrom: 1))
        }
        store([], set)
        _ = try await journal.append([], ran: nil, batches: stored)
        stored = []
        for number in 0..<4 {
            store(
                [entry(number)],
                number == changed ? ReplicaSet(members: [.init(rawValue: 1), .init(rawValue: 2)]) : nil)
        }
        _ = try await journal.append([], ran: nil, batches: stored)
        let read = try #require(try await journal.read { try StoredBatch.read($0) })
        #expect(read.position == position && read.position.number == 5)
        #expect(read.set == set && set.members.count == (changed == nil ? 1 : 2))
        #expect(read.recent.after(.start, bytes: 1 << 20)?.count == 5)
    }
}
