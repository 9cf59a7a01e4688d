import Testing

@testable import SkyCore

/// Which jobs are deleted so that results can be stored.
@Suite struct StorageRoomTests {
    /// Long after all ends, so that nobody fetches anything.
    private let late = Duration.seconds(1000)

    private func id(_ number: Int) -> JobID { JobID(rawValue: UInt64(number)) }

    /// Jobs that ended at these seconds.
    private func ended(_ ends: [Int: Int]) -> EndedJobs {
        var jobs = EndedJobs()
        for (number, end) in ends.sorted(by: { $0.key < $1.key }) { jobs.insert(id(number), endedAt: .seconds(end)) }
        return jobs
    }

    private func room(count: Int = 1000, age: Duration = .seconds(100_000)) -> StorageRoom {
        var retention = JobRetention()
        (retention.count, retention.age) = (count, age)
        return StorageRoom(retention)
    }

    private let full = JournalRoom(held: 1001, limit: 1000)

    @Test func `what has ended is deleted for the sake of a copy without a vote, and nothing waits for it`() {
        var room = room()
        room.measure(JournalRoom(held: 1001, limit: 1000, bound: .standby("anna", isWish: true)))
        #expect(room.nextDeletion(among: ended([1: 30]), stored: 5, now: late) == id(1))
        #expect(room.nextDeletion(among: ended([:]), stored: 5, now: late) == nil && room.limitReason == nil)
        room.measure(JournalRoom(held: 1001, limit: 1000, bound: .standby("anna")))
        #expect(room.nextDeletion(among: ended([:]), stored: 5, now: late) == nil && room.limitReason != nil)
    }

    @Test func `the job that ended first is deleted first, and the next when that is stored`() {
        var room = room()
        var jobs = ended([1: 30, 2: 10, 3: 20])
        room.measure(full)
        #expect(room.nextDeletion(among: jobs, stored: 5, now: late) == id(2))
        room.awaitDeletion(by: 6)
        jobs.remove(id(2))
        #expect(room.nextDeletion(among: jobs, stored: 5, now: late) == nil, "there may be room by now")
        #expect(room.limitReason == nil, "and nothing waits for that")
        #expect(room.nextDeletion(among: jobs, stored: 6, now: late) == id(3))
        room.measure(JournalRoom(held: 900, limit: 1000))
        #expect(room.nextDeletion(among: jobs, stored: 7, now: late) == nil)
    }

    @Test func `when nothing can be deleted, tasks wait and the next check is scheduled`() {
        var room = room()
        let jobs = ended([1: 30, 2: 20])
        room.measure(full)
        #expect(room.nextDeletion(among: jobs, stored: 0, now: .seconds(40)) == nil)
        #expect(room.limitReason?.contains("--data-limit") == true && room.due == .seconds(80))
        room.planNextLook(at: jobs)
        #expect(room.due == .seconds(80), "a surplus does not change that")
        #expect(room.nextDeletion(among: jobs, stored: 0, now: .seconds(80)) == id(2))
        #expect(room.limitReason == nil && room.due == nil)
    }

    @Test func `only a full disk counts as a disk fault`() {
        var room = room()
        room.measure(full)
        _ = room.nextDeletion(among: EndedJobs(), stored: 0, now: late)
        #expect(room.limitReason != nil && room.diskFault == nil)
        room.measure(JournalRoom(held: 100, limit: 1000, disk: (size: 2000, available: 50)))
        _ = room.nextDeletion(among: EndedJobs(), stored: 0, now: late)
        #expect(room.diskFault != nil && room.diskFault == room.limitReason)
    }

    @Test func `a new limit takes effect at once if the journal has one`() {
        var room = room()
        let isWithout = room.limit(10)
        #expect(!isWithout && room.journal == nil)
        room.measure(JournalRoom(held: 900, limit: 1000))
        let isWith = room.limit(899)
        #expect(isWith && room.journal?.isFull == true)
    }

    @Test func `surplus jobs are deleted in the order of their ends, and the next check is scheduled`() {
        var room = room(count: 1)
        var jobs = ended([1: 10, 2: 20, 3: 30])
        #expect(
            room.surplus(among: jobs, now: .seconds(75)) == [id(1)], "the second is kept for those who waited for it")
        jobs.remove(id(1))
        room.planNextLook(at: jobs)
        #expect(room.due == .seconds(80))
        #expect(room.surplus(among: jobs, now: .seconds(80)) == [id(2)])
        jobs.remove(id(2))
        room.planNextLook(at: jobs)
        #expect(room.due == nil)
        var retention = JobRetention()
        (retention.count, retention.age) = (1, .seconds(50))
        room.retain(retention)
        #expect(room.surplus(among: jobs, now: late) == [id(3)], "it is too old")
    }
}
