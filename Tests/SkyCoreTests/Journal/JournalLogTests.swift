import Base
import Fixtures
import Foundation
import NIOCore
import Testing
import Transport

@testable import SkyCore
@testable import SkyJobs

/// The write-ahead log of a journal.
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
}
