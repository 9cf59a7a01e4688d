import Fixtures
import Foundation
import Logging
import NIOCore
import Testing
import Transport

@testable import SkyCore
@testable import SkyJobs

/// Copies whose files are damaged, in all the ways in which files are.
struct CopyDamageTests {
    enum Damage: CaseIterable {
        case header, page, row, truncated, emptied, folder, foreign, log, otherProgram
    }

    private let job = JobID(rawValue: 7)

    private func rows(_ tasks: Range<Int>) -> [JournalRow] {
        [
            .job(
                JournalRow.JobRow(
                    id: job, token: nil, request: Data([1]), submitted: 5, program: nil, submittedRun: nil, since: nil))
        ]
            + tasks.map {
                .result(
                    JournalRow.ResultRow(
                        job: job, task: $0, node: "dome-1", duration: 1,
                        payload: ByteBuffer(repeating: UInt8($0 & 255), count: 2000)))
            }
    }

    private struct Bench: ~Copyable {
        let data = ScratchFolder()
        let coordinator = CoordinatorID(rawValue: 0x1f)

        deinit { try? FileManager.default.removeItem(atPath: data.path) }

        var folder: String { data.path + "/copies/\(coordinator)" }
        var path: String { folder + "/journal.sqlite" }
        var room: CopyRoom { CopyRoom(in: data.path + "/copies", limit: 1 << 30) }

        /// The last thread that worked on the former one may still hold the folder for a moment.
        func store() throws -> ReplicaStore {
            let end = ContinuousClock.now + .seconds(10)
            while true {
                do throws(JournalError) {
                    return try ReplicaStore(
                        copyOf: coordinator, in: folder, limits: JournalLimits(), room: room,
                        book: ReplicaBook(in: data.path))
                } catch {
                    guard error.kind == .inUse, ContinuousClock.now < end else { throw error }
                    sched_yield()
                }
            }
        }
    }

    /// Makes a copy of some megabytes, and a promise about it.
    private func fill(_ bench: borrowing Bench, _ page: CopiedRows? = nil) async throws {
        let store = try bench.store()
        let primary = ReplicaID(rawValue: 5)
        let page =
            page ?? CopiedRows([.coordinator(bench.coordinator, secret: Data(count: 32))] + rows(0..<500), ran: nil)
        _ = try await store.perform(
            .part(SnapshotRequest(term: 3, primary: primary, id: 1, number: 0, part: .page(page))), own: nil,
            set: ReplicaSet(members: []), recent: nil)
        _ = try await store.perform(
            .finish(LogPosition(term: 3, number: 9, hash: 1), ReplicaSet(members: [primary])), own: nil,
            set: ReplicaSet(members: []), recent: nil)
        let record = try await store.record().record
        #expect(record.position?.number == 9 && record.promised == 3)
    }

    private func write(_ bytes: Data, to path: String, at offset: UInt64) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: offset)
        try file.write(contentsOf: bytes)
        try file.close()
    }

    private func apply(_ damage: Damage, to bench: borrowing Bench) throws {
        let path = bench.path
        let size = FileInode.size(of: path)
        let manager = FileManager.default
        switch damage {
        case .header: try write(Data(count: 100), to: path, at: 0)
        case .page: try write(Data(count: 4096), to: path, at: UInt64(size / 2 / 4096 * 4096))
        case .row: try write(Data([1, 2, 3]), to: path, at: UInt64(size / 2 / 4096 * 4096 + 2500))
        case .truncated: truncate(path, off_t(size / 2))
        case .emptied: truncate(path, 0)
        case .folder:
            try manager.removeItem(atPath: path)
            try manager.createDirectory(atPath: path, withIntermediateDirectories: false)
        case .foreign:
            try manager.removeItem(atPath: path)
            let other = ScratchFolder()
            try Journal(in: JournalFolder(other.path)).end()
            try manager.copyItem(atPath: other.path + "/journal.sqlite", toPath: path)
        case .log:
            // Whatever is in it, a log that is not one counts as empty.
            try manager.createDirectory(atPath: path + "-wal", withIntermediateDirectories: false)
        case .otherProgram:
            try Data("no database, but text, and long enough for a header".utf8).write(to: URL(fileURLWithPath: path))
        }
    }

    private func expectLoss(_ damage: Damage, in bench: borrowing Bench) async throws {
        let store = try bench.store()
        var found = await store.damage
        // Damage within is found by the scrub that follows.
        if found == nil { found = await store.scrub() }
        #expect(found != nil, "\(damage)")
        let record = try await store.record().record
        #expect(record.position == nil && record.promised == 3 && record.promisedTo == ReplicaID(rawValue: 5))
    }

    @Test(arguments: Damage.allCases)
    func `a damaged copy is set aside at the start, and its promises are kept`(damage: Damage) async throws {
        let bench = Bench()
        try await fill(bench)
        try apply(damage, to: bench)
        try await expectLoss(damage, in: bench)
        // A whole new copy takes its place, and one damaged copy is kept.
        try await fill(bench)
        let kept = ScratchFolder.names(in: bench.data.path + "/copies").filter { $0.hasPrefix("damaged-") }
        #expect(kept.contains { $0.hasSuffix(".sqlite") }, "\(kept)")
    }

    @Test func `a copy that is made of another copy is of the same coordinator, and another's page is refused`()
        async throws
    {
        let bench = Bench()
        try await fill(bench)
        // A primary reads pages of its copy before its coordinator has opened it.
        let page = try await bench.store().page(from: 0).page
        let second = Bench()
        try await fill(second, page)
        let store = try second.store()
        #expect(await store.damage == nil)
        #expect(try await store.page(from: 0).page == page)
        let foreign = CopiedRows([.coordinator(CoordinatorID(rawValue: 0), secret: Data())], ran: nil)
        await #expect(throws: JournalError.self) { try await fill(Bench(), foreign) }
    }

    @Test(arguments: [Damage.header, .page, .row, .truncated, .emptied, .folder])
    func `damage to a copy in use is found by a scrub`(damage: Damage) async throws {
        let bench = Bench()
        try await fill(bench)
        let store = try bench.store()
        #expect(await store.scrub() == nil, "nothing is wrong with it")
        try apply(damage, to: bench)
        #expect(await store.scrub() != nil, "\(damage)")
        #expect(try await store.record().record.position == nil)
        #expect(await store.scrub() == nil, "there is none now")
    }

    @Test(.timeLimit(.minutes(1)))
    func `a replica whose copy is damaged says so, votes for nobody, and takes a new copy`()
        async throws
    {
        let bench = Bench()
        try await fill(bench)
        let room = bench.room
        let store = try ReplicaStore(
            copyOf: bench.coordinator, in: bench.folder, limits: JournalLimits(), room: room,
            book: ReplicaBook(in: bench.data.path))
        let replica = try await Replica(
            ReplicaID(rawValue: 6), store, isNew: false, policy: CopyPolicy(copies: 2),
            logger: Logger(label: "replica") { _ in SwiftLogNoOpLogHandler() }, others: { Replica.Others() },
            call: { _, _, _ in throw CancellationError() })
        try apply(.page, to: bench)
        await replica.scrub()
        #expect(room.damages == 1)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await replica.run() }
            let request = PromiseRequest(
                term: 9, candidate: ReplicaID(rawValue: 5), position: LogPosition(term: 3, number: 10, hash: 2),
                isTrial: false)
            #expect(await replica.receive(.promise(request)).isGranted == false)
            let head = LogPosition(term: 3, number: 9, hash: 1)
            let reply = await replica.receive(
                .append(
                    AppendRequest(term: 3, primary: ReplicaID(rawValue: 5), previous: head, batches: [], head: head)))
            #expect(!reply.isGranted && reply.position == nil && reply.wasDamaged == true && !reply.isFull)
            await replica.end()
            await group.waitForAll()
        }
    }

    @Test func `a copy whose folder was removed is made anew`() async throws {
        let bench = Bench()
        let store = try bench.store()
        let primary = ReplicaID(rawValue: 5)
        func copy(_ id: UInt64) async throws {
            let part = SnapshotRequest.Part.page(
                CopiedRows([.coordinator(bench.coordinator, secret: Data(count: 32))], ran: nil))
            _ = try await store.perform(
                .part(SnapshotRequest(term: 3, primary: primary, id: id, number: 0, part: part)), own: nil,
                set: ReplicaSet(members: []), recent: nil)
            _ = try await store.perform(
                .finish(LogPosition(term: 3, number: id, hash: 1), ReplicaSet(members: [primary])), own: nil,
                set: ReplicaSet(members: []), recent: nil)
        }
        try await copy(1)
        try FileManager.default.removeItem(atPath: bench.folder)
        try await copy(2)
        #expect(try await store.record().record.position?.number == 2)
        #expect(FileManager.default.fileExists(atPath: bench.path))
    }
}
