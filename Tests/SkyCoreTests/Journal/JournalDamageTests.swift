import Base
import Fixtures
import Foundation
import GRDB
import NIOCore
import Testing
import Transport

@testable import Sky
@testable import SkyCore
@testable import SkyJobs

/// Bits that rot, rows that cannot be read, values that cannot be written: none of them gives a wrong answer, and none stops
/// anything else.
@Suite struct JournalDamageTests {
    private let request = JobRequest(.simulate(SimulateRequest(tasks: 10, duration: .seconds(1))))

    private func job(_ number: UInt64, _ request: JobRequest? = nil) -> StoredJob {
        StoredJob(id: JobID(rawValue: number), token: nil, request: request ?? self.request, submitted: 1000)
    }

    private func result(_ job: StoredJob, _ task: Int, cacheKey: CacheKey? = nil) -> JournalEntry {
        var result = StoredResult(
            job: job.id, task: TaskID(task), node: "east", duration: .milliseconds(5),
            payload: ByteBuffer(string: "result \(task) of a task"))
        result.cacheKey = cacheKey
        return .result(result)
    }

    private func open(_ folder: borrowing ScratchFolder) throws -> Journal {
        try Journal(in: JournalFolder(folder.path))
    }

    @Test(arguments: [
        "UPDATE result SET payload = CAST('Result 1 of a task' AS BLOB) WHERE key % 2147483648 = 1",
        "UPDATE result SET node = 'easu' WHERE key % 2147483648 = 1",
        "UPDATE result SET duration = duration + 1 WHERE key % 2147483648 = 1",
        "UPDATE result SET key = key + 7 WHERE key % 2147483648 = 1",
        "UPDATE result SET duration = 'soon' WHERE key % 2147483648 = 1",
    ])
    func `a damaged result is not returned`(change: String) async throws {
        let folder = ScratchFolder()
        let journal = try open(folder)
        let job = job(1)
        try await journal.append([.submitted(job), result(job, 0), result(job, 1)])
        #expect(try await journal.results(of: job.id, from: 0, count: 9).count == 2)
        try await journal.queue.write { try $0.execute(sql: change) }
        let error = await #expect(throws: JournalError.self) {
            _ = try await journal.results(of: job.id, from: 0, count: 9)
        }
        #expect(error?.kind == .damagedJob && error?.message.contains("job 0000000000000001") == true)
    }

    @Test(arguments: [false, true])
    func `a job with more stored tasks than it has cannot be replayed`(isFailure: Bool) async throws {
        let journal = try Journal.inMemory()
        let job = job(1)
        let last: JournalEntry = .failed(job.id, StoredFailure(task: 10, reason: "bad", isBadInput: false))
        try await journal.append([.submitted(job), result(job, 9)])
        #expect(try await journal.replay(job).completed.count == 1)
        try await journal.append([isFailure ? last : result(job, 10)])
        let error = await #expect(throws: JournalError.self) { _ = try await journal.replay(job) }
        #expect(error?.kind == .damagedJob && error?.message.contains("task 11") == true)
        try await journal.append([
            .restarted(job.id, program: JobKinds.arithmetic.text, since: journal.incarnation.generation)
        ])
        #expect(try await journal.replay(job).completed.count == 0)
    }

    @Test func `a damaged failure is not returned`() async throws {
        let folder = ScratchFolder()
        let journal = try open(folder)
        let job = job(1)
        try await journal.append([
            .submitted(job), .failed(job.id, StoredFailure(task: 3, reason: "bad", isBadInput: false)),
        ])
        try await journal.queue.write { try $0.execute(sql: "UPDATE failure SET reason = 'bat'") }
        await #expect(throws: JournalError.self) { _ = try await journal.failures(of: job.id) }
    }

    @Test func `a damaged cached result is deleted, and does not answer`() async throws {
        let folder = ScratchFolder()
        let journal = try open(folder)
        let job = job(1)
        let keys = (1...2).map { CacheKey(digest: [UInt8](repeating: UInt8($0), count: 32)) }
        try await journal.append([
            .submitted(job), result(job, 0, cacheKey: keys[0]), result(job, 1, cacheKey: keys[1]),
        ])
        try await journal.queue.write {
            try $0.execute(
                sql: "UPDATE cache SET payload = CAST('Result 0 of a task' AS BLOB) WHERE key = ?",
                arguments: [Data(keys[0].digest)])
        }
        #expect(try await Array(journal.cached([0: keys[0], 1: keys[1]]).keys) == [1])
        #expect(try await journal.usage().cachedResults == 1)
    }

    @Test(arguments: [
        "UPDATE job SET request = CAST('{\"kind\":1}' AS BLOB) WHERE id = 2",
        "UPDATE job SET request = CAST(replace(CAST(request AS TEXT), '10', '11') AS BLOB) WHERE id = 2",
        "UPDATE job SET request = 'text', checksum = NULL WHERE id = 2",
        "UPDATE job SET submitted = 'soon' WHERE id = 2",
        "UPDATE job SET report = CAST('x' AS BLOB) WHERE id = 2",
    ])
    func `a job that cannot be read is left out and named, and the others go on`(change: String) async throws {
        let folder = ScratchFolder()
        let journal = try open(folder)
        try await journal.append((1...3).map { .submitted(job($0)) })
        try await journal.queue.write { try $0.execute(sql: change) }
        let (jobs, damaged) = try await journal.jobs()
        #expect(jobs.map(\.id.rawValue) == [1, 3])
        #expect(damaged.count == 1 && damaged[0].hasPrefix("job 0000000000000002: "), "\(damaged)")
    }

    @Test func `a job that an earlier version accepted and this one refuses is left out too`() async throws {
        let folder = ScratchFolder()
        let journal = try open(folder)
        var sky = SkyRequest(image: ImageReference(path: "/x.fits", hdu: nil), configuration: ScanConfiguration())
        sky.failSector = .max
        try await journal.append([.submitted(job(1, JobRequest(.sky(sky)))), .submitted(job(2))])
        #expect(try await journal.jobs().jobs.map(\.id.rawValue) == [2])
    }

    @Test func `numbers that JSON cannot express are written and read again`() async throws {
        let folder = ScratchFolder()
        var configuration = ScanConfiguration()
        (configuration.gain, configuration.zeroPoint) = (.infinity, .nan)
        let request = JobRequest(
            .sky(SkyRequest(image: ImageReference(path: "/x.fits", hdu: nil), configuration: configuration)))
        #expect(throws: SkyError.self) { try request.validate() }
        let text = try JournalText.encode(request)
        let again = try JournalText.decode(JobRequest.self, text)
        guard let sky = again.kind.scan else { throw SkyError(.failed, "another kind") }
        #expect(sky.configuration.gain == .infinity && sky.configuration.zeroPoint?.isNaN == true)
        let journal = try open(folder)
        try await journal.append([.submitted(job(1, request)), .submitted(job(2))])
        #expect(try await journal.jobs().jobs.map(\.id.rawValue) == [2], "it is refused where it is read")
    }

    @Test func `an entry that can never be stored does not keep others from being stored`() async throws {
        let folder = ScratchFolder()
        let journal = try open(folder)
        let (one, other) = (job(1), job(2))
        try await journal.append([.submitted(one), .submitted(other)])
        // This trigger stands for a bad entry: the database refuses it every time.
        try await journal.queue.write {
            try $0.execute(
                sql: """
                    CREATE TRIGGER refuse BEFORE INSERT ON failure WHEN NEW.reason = 'bad'
                    BEGIN SELECT RAISE(ABORT, 'never'); END
                    """)
        }
        let appended = try await journal.append([
            result(one, 0), .failed(one.id, StoredFailure(task: 1, reason: "bad", isBadInput: false)), result(other, 0),
        ])
        #expect(appended.refused.map(\.place) == [1])
        #expect(try await journal.results(of: one.id, from: 0, count: 9).count == 1)
        #expect(try await journal.results(of: other.id, from: 0, count: 9).count == 1)
    }

    @Test func `a journal whose file is gone stores nothing more, and says so`() async throws {
        let folder = ScratchFolder()
        let journal = try open(folder)
        try await journal.append([.submitted(job(1))])
        try FileManager.default.removeItem(atPath: folder.path + "/journal.sqlite")
        let error = await #expect(throws: JournalError.self) { try await journal.append([.submitted(job(2))]) }
        #expect(error?.kind == .gone)
        await #expect(throws: JournalError.self, "whoever asks what it holds") { _ = try await journal.usage() }
        try Data().write(to: URL(fileURLWithPath: folder.path + "/journal.sqlite"))
        await #expect(throws: JournalError.self) { try await journal.append([.submitted(job(2))]) }
    }

    @Test func `a deletion that was half done is finished by the next incarnation`() async throws {
        let folder = ScratchFolder()
        let job = job(1)
        do {
            let journal = try open(folder)
            try await journal.append([.submitted(job)] + (0..<10).map { result(job, $0) })
            try await journal.queue.write { database in
                try database.execute(sql: "INSERT INTO deletion SELECT number FROM job")
                try database.execute(sql: "DELETE FROM job")
            }
        }
        let journal = try open(folder)
        try await journal.append([.submitted(self.job(2)), .deleted(self.job(2).id)])
        let left = try await journal.queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM result") }
        #expect(left == 0)
    }

    @Test func `all rows of deleted jobs go, however many they are`() async throws {
        let journal = try Journal.inMemory()
        let (large, small, kept) = (job(1), job(2), job(3))
        for job in [large, small, kept] { try await journal.append([.submitted(job)]) }
        try await journal.append((0..<4500).map { result(large, $0) })
        try await journal.append((0..<3).map { result(small, $0) } + (0..<5).map { result(kept, $0) })
        let appended = try await journal.append([.deleted(large.id), .deleted(small.id)])
        let left = try await journal.queue.read { database in
            try ["result", "deletion", "job"].map { try Int.fetchOne(database, sql: "SELECT count(*) FROM \($0)") }
        }
        #expect(left == [5, 0, 1])
        #expect(appended.room.held < 200_000, "of some 400,000 before")
    }

    @Test func `the next incarnation knows the total running time and the same secret`() async throws {
        let folder = ScratchFolder()
        var secret: [UInt8] = []
        do {
            let journal = try open(folder)
            secret = journal.secret
            #expect(secret.count == 32 && journal.ranBefore == .zero)
            try await journal.append([.submitted(job(1))], ran: .seconds(100))
            try await journal.append([.submitted(job(2))], ran: .seconds(105))
            try await journal.close(ran: .seconds(107))
        }
        let journal = try open(folder)
        #expect(journal.ranBefore == .seconds(107) && journal.secret == secret)
    }
}

/// How much a journal may hold.
@Suite struct JournalRoomTests {
    private let mebibyte = 1 << 20

    @Test func `the limit depends on the free room of the disk, less a reserve`() {
        var room = JournalRoom(held: 0, limit: 1000 * mebibyte, disk: (100_000 * mebibyte, 50_000 * mebibyte))
        #expect(room.limit == 1000 * mebibyte && !room.isOfDisk && !room.isFull)
        room = JournalRoom(held: 10 * mebibyte, limit: 1000 * mebibyte, disk: (10_000 * mebibyte, 100 * mebibyte))
        #expect(room.limit == 46 * mebibyte && room.isOfDisk && !room.isFull)
        room = JournalRoom(held: 10 * mebibyte, limit: 1000 * mebibyte, disk: (10_000 * mebibyte, 0))
        #expect(room.isFull && room.reason.contains("disk"))
        room = JournalRoom(held: 1000, limit: mebibyte, disk: (3 * mebibyte, 2 * mebibyte))
        #expect(!room.isFull, "of a small disk the reserve is small")
        room = JournalRoom(held: 2 * mebibyte, limit: mebibyte, disk: nil)
        #expect(room.isFull && room.reason.contains("--data-limit"))
    }
}
