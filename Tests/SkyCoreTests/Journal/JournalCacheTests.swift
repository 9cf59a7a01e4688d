import Fixtures
import NIOCore
import Testing
import Transport

@testable import SkyCore
@testable import SkyJobs

@Suite struct JournalCacheTests {
    private let job = StoredJob(
        id: JobID(rawValue: 1), token: nil, request: JobRequest(.simulate(SimulateRequest(tasks: 10, duration: .zero))),
        submitted: 1000)

    private func key(_ number: UInt8) -> CacheKey { CacheKey(digest: [UInt8](repeating: number, count: 32)) }

    private func result(_ task: Int, bytes: Int) -> JournalEntry {
        var result = StoredResult(
            job: job.id, task: TaskID(task), node: "east", duration: .zero,
            payload: ByteBuffer(repeating: UInt8(task), count: bytes))
        result.cacheKey = key(UInt8(task))
        return .result(result)
    }

    private func journal(_ folder: borrowing ScratchFolder, cache: Int) throws -> Journal {
        var limits = JournalLimits()
        limits.cache = cache
        return try Journal(in: JournalFolder(folder.path), limits: limits)
    }

    @Test func `a cached result is found after its job was deleted and the node restarted`()
        async throws
    {
        let folder = ScratchFolder()
        do {
            let journal = try journal(folder, cache: 10_000)
            try await journal.append([.submitted(job), result(1, bytes: 100), result(2, bytes: 50), .deleted(job.id)])
        }
        do {
            let journal = try journal(folder, cache: 10_000)
            let found = try await journal.cached([4: key(1), 5: key(9), 6: key(2)])
            #expect(found.mapValues(\.readableBytes) == [4: 100, 6: 50])
            let usage = try await journal.usage()
            #expect(usage.cachedResults == 2 && usage.cacheBytes == 150 && usage.hits == 2 && usage.misses == 1)
        }
        let emptied = try journal(folder, cache: 0)
        #expect(try await emptied.cached([4: key(1)]).isEmpty, "a node that is to keep none has none from its start")
    }

    @Test func `the least recently used results make room, and one that is too large is not kept`() async throws {
        let folder = ScratchFolder()
        let journal = try journal(folder, cache: 1000)
        try await journal.append([.submitted(job), result(1, bytes: 400)])
        try await later()
        try await journal.append([result(2, bytes: 400), result(9, bytes: 1001)])
        try await later()
        #expect(try await journal.cached([0: key(1)]).count == 1, "used last")
        try await later()
        try await journal.append([result(3, bytes: 400)])
        let found = try await journal.cached([1: key(1), 2: key(2), 3: key(3), 9: key(9)])
        #expect(found.keys.sorted() == [1, 3])
        let usage = try await journal.usage()
        #expect(usage.cacheBytes == 800 && usage.evictions == 1)
    }

    /// The times of uses are kept in milliseconds, so they must differ by one at least.
    private func later() async throws {
        let now = WallClock.milliseconds
        while WallClock.milliseconds <= now + 1 { await Task.yield() }
    }

    @Test func `no more results are evicted than necessary when all were used at once`() async throws {
        let folder = ScratchFolder()
        let journal = try journal(folder, cache: 1000)
        try await journal.append([.submitted(job)] + (1...20).map { result($0, bytes: 100) })
        #expect(try await journal.usage().cacheBytes == 900)
    }

    @Test func `in a full journal cached results are evicted before jobs are deleted`() async throws {
        let folder = ScratchFolder()
        var limits = JournalLimits()
        (limits.bytes, limits.cache) = (1 << 20, 1 << 20)
        let journal = try Journal(in: JournalFolder(folder.path), limits: limits)
        // Each is stored twice: as the job's and as an earlier result.
        let bytes = try await journal.append([.submitted(job)] + (1...9).map { result($0, bytes: 100_000) }).room.held
        #expect(bytes < 1 << 20)
        #expect(try await journal.usage().cacheBytes < 200_000)
        #expect(try await journal.results(of: job.id, from: 0, count: 20).count == 9)
    }

    @Test func `a lower limit is kept while nothing is stored`() async throws {
        let folder = ScratchFolder()
        let journal = try journal(folder, cache: 1 << 20)
        try await journal.append([.submitted(job)] + (1...9).map { result($0, bytes: 100_000) })
        #expect(try await journal.keepToLimit().held > 1_800_000)
        journal.limits.bytes = 1_500_000
        let room = try await journal.keepToLimit()
        let usage = try await journal.usage()
        #expect(!room.isFull && usage.cacheBytes > 0 && usage.evictions > 0, "no more is evicted than necessary")
        journal.limits.cache = 0
        _ = try await journal.keepToLimit()
        #expect(try await journal.usage().cachedResults == 0)
        journal.limits.bytes = 500_000
        #expect(try await journal.keepToLimit().isFull, "what is left cannot be made again")
        #expect(try await journal.results(of: job.id, from: 0, count: 20).count == 9)
    }
}
