import Base
import Fixtures
import Foundation
import NIOCore
import Testing
import Transport

@testable import SkyCore

/// The write-ahead log of a journal, and what it stores of batches.
struct JournalLogTests {
    private static let pageSize = 4096

    private let request = JobRequest(.simulate(SimulateRequest(tasks: 10, duration: .seconds(1))))

    private func job(_ number: Int) -> StoredJob {
        StoredJob(id: JobID(rawValue: UInt64(number)), token: nil, request: request, submitted: 1000)
    }

    private func result(_ task: Int, bytes: Int) -> JournalEntry {
        .result(
            StoredResult(
                job: job(1).id, task: TaskID(task), node: "east", duration: .milliseconds(5),
                payload: ByteBuffer(repeating: 7, count: bytes)))
    }

    @Test func `the log keeps the room that it usually needs, and gives back what a large transaction took`()
        async throws
    {
        let folder = ScratchFolder()
        let disk = try #require(DiskSpace(of: folder.path))
        let pages = Journal.logPages(ofDisk: disk.size, pageSize: Self.pageSize)
        let limit = Journal.logLimit(pages, pageSize: Self.pageSize)
        let journal = try Journal(in: JournalFolder(folder.path))
        func size() -> Int { FileInode.size(of: folder.path + "/journal.sqlite-wal") }
        // Each takes two pages or more.
        var (number, sizes) = (0, [0])
        func store(_ count: Int) async throws {
            for _ in 0..<count {
                number += 1
                try await journal.append([.submitted(job(number))])
                sizes.append(size())
            }
        }
        try await store(pages)
        let shrunk = zip(sizes, sizes.dropFirst()).first { $0 > $1 }
        #expect(shrunk == nil, "room was given back that was soon needed again")
        #expect(size() <= limit, "the log does not begin again")
        try await journal.append((0..<16).map { result($0, bytes: 1 << 20) })
        #expect(size() > 16 << 20)
        try await store(2)
        #expect(size() <= limit)
    }

    @Test func `the log is small where the disk is`() {
        #expect(Journal.logPages(ofDisk: 1 << 40, pageSize: Self.pageSize) == 2000)
        #expect(Journal.logPages(ofDisk: 64 << 20, pageSize: Self.pageSize) == 512)
        #expect(Journal.logPages(ofDisk: 0, pageSize: Self.pageSize) == 1)
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
        store([.submitted(job(1))], set)
        _ = try await journal.append([], ran: nil, batches: stored)
        stored = []
        for number in 0..<4 {
            store(
                [result(number, bytes: 10)],
                number == changed ? ReplicaSet(members: [.init(rawValue: 1), .init(rawValue: 2)]) : nil)
        }
        _ = try await journal.append([], ran: nil, batches: stored)
        let read = try #require(try await journal.read { try StoredBatch.read($0) })
        #expect(read.position == position && read.position.number == 5)
        #expect(read.set == set && set.members.count == (changed == nil ? 1 : 2))
        #expect(read.recent.after(.start, bytes: 1 << 20)?.count == 5)
    }
}
