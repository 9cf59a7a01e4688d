import Base
import NIOCore
import Testing
import Transport

@testable import SkyCore

/// Events are published after the entries that they depend on are stored.
@Suite struct WriteAheadQueueTests {
    private let job = JobID(rawValue: 7)

    private func event(_ number: Int) -> WriteAheadQueue.Matter {
        .event(.failed(task: "\(number)", reason: "it was tried"), at: .zero)
    }

    /// The numbers of the events that are released now, in order.
    private func release(_ queue: inout WriteAheadQueue) -> [Int] {
        var numbers: [Int] = []
        while let next = queue.nextReleased() {
            if case .event(.failed(let task, _), _) = next.matter, let number = Int(task) { numbers.append(number) }
        }
        return numbers
    }

    private func append(_ count: Int, to queue: inout WriteAheadQueue) {
        for _ in 0..<count { _ = queue.append(.deleted(job)) }
    }

    private func attempt(_ number: Int) -> RunRequest {
        let task = ScanTask(.simulate(Simulation(duration: .zero)), label: "task")
        return RunRequest(
            attempt: AttemptID(job: job, task: 0, number: number, generation: 1), task: task, timeLimit: .seconds(1))
    }

    @Test func `events are released in order, and only after the entry they depend on is stored`() {
        var queue = WriteAheadQueue()
        queue.wait(event(0), of: job)
        #expect(release(&queue) == [0], "it depends on nothing")
        append(1, to: &queue)
        queue.wait(event(1), of: job)
        queue.wait(event(2), of: job)
        append(2, to: &queue)
        queue.wait(event(3), of: job)
        #expect(release(&queue).isEmpty && !queue.isSettled)
        queue.store(1)
        #expect(release(&queue) == [1, 2])
        queue.store(1)
        #expect(release(&queue).isEmpty, "the newest entry at that moment was the third")
        queue.store(1)
        #expect(release(&queue) == [3] && queue.isSettled)
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `in any history each event is released once, in order, and after its entry`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var queue = WriteAheadQueue()
        var entries: [UInt64] = []
        var released: [Int] = []
        for _ in 0..<200 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: append(Int.random(in: 0...3, using: &random), to: &queue)
            case 1:
                queue.wait(event(entries.count), of: job)
                entries.append(queue.lastEntry)
            case 2: queue.store(Int.random(in: 0...4, using: &random))
            default:
                let numbers = release(&queue)
                #expect(numbers.allSatisfy { entries[$0] <= queue.lastStored }, "seed \(seed)")
                released += numbers
            }
            #expect(queue.lastStored <= queue.lastEntry, "seed \(seed)")
        }
        queue.store(.max)
        released += release(&queue)
        #expect(released == Array(entries.indices), "seed \(seed)")
    }

    @Test func `a backlog pauses work until half of it is stored`() {
        var queue = WriteAheadQueue()
        let limit = Int(WriteAheadQueue.backlogLimit)
        append(limit, to: &queue)
        #expect(!queue.isBehind)
        append(1, to: &queue)
        #expect(queue.isBehind)
        queue.store(limit / 2 + 1)
        _ = release(&queue)
        #expect(queue.isBehind, "half of the limit still waits")
        queue.store(1)
        #expect(queue.isBehind, "what was released may bring more")
        _ = release(&queue)
        #expect(!queue.isBehind)
    }

    @Test func `one writer works at a time until nothing is left`() {
        var queue = WriteAheadQueue()
        let begins = [queue.append(.deleted(job)), queue.append(.deleted(job))]
        #expect(begins == [true, false])
        #expect(queue.nextEntries(in: nil)?.count == 2)
        #expect(queue.nextEntries(in: nil, goesOn: true)?.isEmpty == true, "it looks at the disk")
        let meanwhile = queue.append(.deleted(job))
        #expect(!meanwhile, "a writer is still active")
        #expect(queue.nextEntries(in: nil)?.count == 1 && queue.nextEntries(in: nil) == nil)
        let again = queue.append(.deleted(job))
        #expect(again)
    }

    @Test func `entries that are given back are written first`() throws {
        var queue = WriteAheadQueue()
        for number in 1...3 as ClosedRange<UInt64> { _ = queue.append(.deleted(JobID(rawValue: number))) }
        let entries = queue.nextEntries(in: nil)
        let taken = try #require(entries)
        _ = queue.append(.deleted(JobID(rawValue: 4)))
        queue.giveBack(taken)
        #expect(queue.takeAll().map(\.job.rawValue) == [1, 2, 3, 4] && queue.takeAll().isEmpty)
    }

    @Test func `a transaction uses at most a quarter of the room that is left`() {
        var queue = WriteAheadQueue()
        let result = StoredResult(
            job: job, task: 0, node: "one", duration: .zero, payload: ByteBuffer(repeating: 0, count: 1 << 20))
        for _ in 0..<20 { _ = queue.append(.result(result)) }
        #expect(queue.nextEntries(in: JournalRoom(held: 2 << 20, limit: 10 << 20))?.count == 2)
        #expect(queue.nextEntries(in: JournalRoom(held: 10 << 20, limit: 10 << 20))?.count == 1)
        #expect(queue.nextEntries(in: nil)?.count == 16)
    }

    @Test func `a deletion goes ahead of failing entries, and those then only keep their place`() throws {
        var queue = WriteAheadQueue()
        let other = JobID(rawValue: 8)
        _ = queue.append(.failed(job, StoredFailure(task: 0, reason: "it was tried", isBadInput: false)))
        _ = queue.append(.failed(other, StoredFailure(task: 0, reason: "it was tried", isBadInput: false)))
        let entries = queue.nextEntries(in: nil)
        let failed = try #require(entries)
        #expect(queue.nextDeletions(failed).isEmpty)
        _ = queue.append(.deleted(job))
        #expect(queue.nextDeletions(failed) == [job])
        queue.markDeletedAhead([job])
        #expect(queue.nextDeletions(failed).isEmpty, "once is enough")
        #expect(queue.withoutDeleted(failed).map(\.isDeletion) == [true, false])
        queue.store(2)
        #expect(queue.deletedAhead == [job], "its own entry has not been stored")
        #expect(queue.nextEntries(in: nil)?.count == 1)
        queue.store(1)
        #expect(queue.deletedAhead.isEmpty)
    }

    @Test func `an attempt is sent after its entry is stored, unless it was stopped`() {
        var queue = WriteAheadQueue()
        for number in 1...3 {
            append(1, to: &queue)
            queue.hold(attempt(number))
        }
        #expect(queue.nextReleasedAttempt() == nil)
        let isHeld = (0..<2).map { _ in queue.withdraw(attempt(2).attempt) }
        #expect(isHeld == [true, false])
        queue.store(2)
        #expect(queue.nextReleasedAttempt()?.attempt.number == 1 && queue.nextReleasedAttempt() == nil)
        queue.store(1)
        #expect(queue.nextReleasedAttempt()?.attempt.number == 3)
    }
}
