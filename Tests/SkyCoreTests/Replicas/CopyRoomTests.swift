import Fixtures
import Foundation
import NIOCore
import Testing
import Transport

@testable import SkyCore
@testable import SkyJobs

/// How a node's room is shared by its own journal and the copies of others.
struct CopyRoomTests {
    private func id(_ number: UInt64) -> CoordinatorID { CoordinatorID(rawValue: number) }

    @Test func `each has an equal share, and more where others need less`() {
        #expect(CopyRoom.share(of: 60, beside: []) == 60)
        #expect(CopyRoom.share(of: 60, beside: [0, 5]) == 55)
        #expect(CopyRoom.share(of: 60, beside: [30]) == 30)
        #expect(CopyRoom.share(of: 60, beside: [50, 50]) == 20)
        #expect(CopyRoom.share(of: 60, beside: [50, 2]) == 29)
        #expect(CopyRoom.share(of: -5, beside: [50, 2]) == 0)
        // Whoever keeps to its share never needs more than there is in all.
        for held in [[10, 20, 30], [60, 1, 1, 1], [20, 20, 20]] {
            let kept = held.indices.map { index in
                min(
                    held[index],
                    CopyRoom.share(of: 60, beside: held.enumerated().filter { $0.offset != index }.map(\.element)))
            }
            #expect(kept.reduce(0, +) <= 60, "\(held)")
        }
    }

    @Test func `a disk that others have filled makes no share smaller`() {
        let full = DiskSpace(size: 1000, available: 0)
        #expect(!CopyRoom.counts(full, holding: 1) && !CopyRoom.counts(full, holding: 499))
        #expect(
            CopyRoom.counts(full, holding: 500) && CopyRoom.counts(DiskSpace(size: 1000, available: 1000), holding: 0))
    }

    @Test func `copies are made anew at the same time only where all of them fit`() {
        // A twentieth is kept free.
        let disk = DiskSpace(size: 1000, available: 450)
        #expect(CopyRoom.fits(400, beside: [], on: disk) && !CopyRoom.fits(401, beside: [], on: disk))
        #expect(CopyRoom.fits(200, beside: [100, 100], on: disk) && !CopyRoom.fits(200, beside: [100, 101], on: disk))
        #expect(CopyRoom.fits(0, beside: [], on: DiskSpace(size: 1000, available: 50)))
        #expect(!CopyRoom.fits(0, beside: [], on: DiskSpace(size: 1000, available: 49)))
    }

    @Test func `the limit is for the own journal and the copies together`() async throws {
        let room = CopyRoom(in: "/nonexistent/copies", limit: 60 << 20)
        try await room.check()
        #expect(await room.share(of: id(1), countsDisk: true) == 60 << 20)
        room.note(50 << 20, of: id(1))
        room.note(20 << 20, of: id(2))
        #expect(await room.share(of: id(1), countsDisk: false) == 40 << 20)
        #expect(await room.share(of: id(2), countsDisk: false) == 30 << 20)
        #expect(room.bytes(but: id(1)) == 20 << 20)
        #expect(await room.free == 0)
        // A little more than the limit is on its way when it is reached.
        try await room.check()
        room.note(120 << 20, of: id(2))
        await #expect(throws: JournalError.self) { try await room.check() }
        room.setLimit(1 << 30)
        try await room.check()
        room.forget(id(2))
        #expect(room.bytes(but: id(1)) == 0)
    }

    private let job = JobID(rawValue: 7)
    private let primary = ReplicaID(rawValue: 5)

    private func results(_ tasks: Range<Int>) -> [JournalRow] {
        tasks.map {
            .result(
                JournalRow.ResultRow(
                    job: job, task: $0, node: "dome-1", duration: 1, payload: ByteBuffer(repeating: 1, count: 4000)))
        }
    }

    @Test func `a copy in which nothing is stored keeps to its share when others grow`() async throws {
        let data = ScratchFolder()
        let room = CopyRoom(in: data.path + "/copies", limit: 10 << 20)
        let store = try ReplicaStore(
            copyOf: id(0x1f), in: data.path + "/copies/1f", limits: JournalLimits(), room: room,
            book: ReplicaBook(in: data.path))
        let set = ReplicaSet(members: [primary])
        _ = try await store.perform(
            .part(
                SnapshotRequest(
                    term: 1, primary: primary, id: 1, number: 0,
                    part: .page(CopiedRows([.job(submitted)], ran: nil)))),
            own: nil, set: set, recent: nil)
        let start = LogPosition(term: 1, number: 1, hash: 1)
        _ = try await store.perform(.finish(start, set), own: nil, set: set, recent: nil)
        let batch = LogBatch(after: start, term: 1, content: CopiedRows(results(0..<200), ran: nil))
        _ = try await store.perform(
            .append([batch], promised: 1, to: primary), own: nil, set: set, recent: RecentBatches())
        let full = store.held
        #expect(full > 1_600_000)
        await store.keepToShare()
        #expect(store.held == full, "its share is larger")
        for number in 2...8 as ClosedRange<UInt64> { room.note(9 << 20, of: id(number)) }
        let share = await room.share(of: id(0x1f), countsDisk: false)
        #expect(share > 1_000_000 && share < full)
        await store.keepToShare()
        #expect(store.held <= share, "\(store.held) of \(share)")
        // Jobs are the primary's to delete.
        for number in 9...99 as ClosedRange<UInt64> { room.note(9 << 20, of: id(number)) }
        await store.keepToShare()
        #expect(store.held > 800_000)
        #expect(try await store.record().record.position == batch.position)
    }

    private var submitted: JournalRow.JobRow {
        JournalRow.JobRow(
            id: job, token: nil, request: Data([1]), submitted: 5, program: nil, submittedRun: nil, since: nil)
    }

    @Test func `a full standby takes the batch that begins a term, what comes before it, and deletions`() async throws {
        let data = ScratchFolder()
        defer { try? FileManager.default.removeItem(atPath: data.path) }
        let room = CopyRoom(in: data.path + "/copies", limit: 1 << 20)
        var limits = JournalLimits()
        limits.bytes = 100 << 10
        let store = try ReplicaStore(
            copyOf: id(0x1f), in: data.path + "/copies/1f", limits: limits, room: room,
            book: ReplicaBook(in: data.path))
        let set = ReplicaSet(members: [primary])
        func append(_ batch: LogBatch<CopiedRows>, in term: UInt64) async throws {
            _ = try await store.perform(
                .append([batch], promised: term, to: primary), own: nil, set: set, recent: RecentBatches())
        }
        let submitted = JournalRow.job(submitted)
        _ = try await store.perform(
            .part(
                SnapshotRequest(
                    term: 1, primary: primary, id: 1, number: 0, part: .page(CopiedRows([submitted], ran: nil)))),
            own: nil, set: set, recent: nil)
        let start = LogPosition(term: 1, number: 1, hash: 1)
        _ = try await store.perform(.finish(start, set), own: nil, set: set, recent: nil)
        let first = LogBatch(after: start, term: 1, content: CopiedRows(results(0..<100), ran: nil))
        try await append(first, in: 1)
        #expect(store.held > 400_000)
        // Others take all the room there is.
        room.note(1 << 30, of: id(2))
        let second = LogBatch(after: first.position, term: 1, content: CopiedRows(results(100..<200), ran: nil))
        await #expect(throws: JournalError.self) { try await append(second, in: 1) }
        // A deletion behind it makes room for both.
        let gone = LogBatch(
            after: second.position, term: 1, content: CopiedRows([.deletion(job: JobID(rawValue: 99))], ran: nil))
        let both = ReplicaWrite.append([second, gone], promised: 1, to: primary)
        #expect(both.needsRoom(hasCopy: true) && both.makesRoom)
        // The next primary has it already, and cannot begin without.
        try await append(second, in: 2)
        let opening = LogBatch<CopiedRows>(after: second.position, term: 2, content: nil)
        try await append(opening, in: 2)
        let third = LogBatch(after: opening.position, term: 2, content: CopiedRows(results(200..<300), ran: nil))
        await #expect(throws: JournalError.self) { try await append(third, in: 2) }
        let before = store.held
        let deletion = LogBatch(
            after: opening.position, term: 2, content: CopiedRows([.deletion(job: job)], ran: nil))
        try await append(deletion, in: 2)
        #expect(store.held < before / 2, "what was deleted does not count")
        #expect(try await store.record().record.position == deletion.position)
        // A whole new copy whose part cannot be stored leaves nothing, and is begun anew.
        func part(_ number: UInt64, _ rows: [JournalRow]) async throws {
            let part = SnapshotRequest.Part.page(CopiedRows(rows, ran: nil))
            _ = try await store.perform(
                .part(SnapshotRequest(term: 2, primary: primary, id: 2, number: number, part: part)), own: nil,
                set: set,
                recent: nil)
        }
        let next = data.path + "/copies/1f/next.sqlite"
        try await part(0, [submitted])
        #expect(access(next, F_OK) == 0)
        unlink(next)
        await #expect(throws: JournalError.self) { try await part(1, results(0..<9)) }
        #expect(access(next, F_OK) != 0 && access(next + "-wal", F_OK) != 0)
        await #expect(throws: JournalError.self) { try await part(1, results(0..<9)) }
        try await part(0, [submitted])
        #expect(access(next, F_OK) == 0)
        #expect(try await store.record().record.position == deletion.position, "the old one is still there")
        // The primary that began it is lost, and the old one has all that the next one has.
        try await append(LogBatch<CopiedRows>(after: deletion.position, term: 3, content: nil), in: 3)
        #expect(access(next, F_OK) != 0)
    }
}
