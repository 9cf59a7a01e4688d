import Base
import NIOCore
import Testing
import Transport

@testable import SkyCore
@testable import SkyJobs

/// Events are published after the entries that they depend on are stored.
@Suite struct WriteAheadQueueTests {
    private let job = JobID(rawValue: 7)

    private func event(_ number: Int) -> JobEvent.Kind { .failed(task: "\(number)", reason: "it was tried") }

    /// The numbers of the events that are released now, in order.
    private func release(_ queue: inout WriteAheadQueue) -> [Int] {
        var numbers: [Int] = []
        while let next = queue.nextReleased() {
            if case .failed(let task, _) = next.event, let number = Int(task) { numbers.append(number) }
        }
        return numbers
    }

    private func append(_ count: Int, to queue: inout WriteAheadQueue) {
        for _ in 0..<count { _ = queue.append(.deleted(job), at: .zero) }
    }

    private func attempt(_ number: Int) -> RunRequest {
        let task = ScanTask(.simulate(Simulation(duration: .zero)), label: "task")
        return RunRequest(
            attempt: AttemptID(job: job, task: 0, number: number, generation: 1), task: task, timeLimit: .seconds(1))
    }

    @Test func `events are released in order, and only after the entry they depend on is stored`() {
        var queue = WriteAheadQueue()
        queue.wait(event(0), of: job, at: .zero)
        #expect(release(&queue) == [0], "it depends on nothing")
        append(1, to: &queue)
        queue.wait(event(1), of: job, at: .zero)
        queue.wait(event(2), of: job, at: .zero)
        append(2, to: &queue)
        queue.wait(event(3), of: job, at: .zero)
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
                queue.wait(event(entries.count), of: job, at: .zero)
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
        let begins = [queue.append(.deleted(job), at: .zero), queue.append(.deleted(job), at: .zero)]
        #expect(begins == [true, false])
        #expect(queue.nextEntries(in: nil, at: .zero)?.count == 2)
        #expect(queue.nextEntries(in: nil, goesOn: true, at: .zero)?.isEmpty == true, "it looks at the disk")
        let meanwhile = queue.append(.deleted(job), at: .zero)
        #expect(!meanwhile, "a writer is still active")
        #expect(queue.nextEntries(in: nil, at: .zero)?.count == 1 && queue.nextEntries(in: nil, at: .zero) == nil)
        let again = queue.append(.deleted(job), at: .zero)
        #expect(again)
    }

    private func result(_ bytes: Int = 0) -> JournalEntry {
        .result(
            StoredResult(
                job: job, task: 0, node: "one", duration: .zero, payload: ByteBuffer(repeating: 0, count: bytes)))
    }

    /// A queue that has begun a transaction at zero, and has done it.
    private func gathering() -> WriteAheadQueue {
        var queue = WriteAheadQueue()
        queue.gatheringTime = .milliseconds(50)
        _ = queue.append(result(), at: .zero)
        _ = (queue.nextEntries(in: nil, at: .zero), queue.nextEntries(in: nil, at: .zero))
        return queue
    }

    @Test func `results gather after a transaction, but not for longer than they may`() {
        var queue = WriteAheadQueue()
        queue.gatheringTime = .milliseconds(50)
        let first = queue.append(result(), at: .zero)
        #expect(first && queue.nextEntries(in: nil, at: .zero)?.count == 1, "there was no transaction before it")
        // One that comes while that is stored, and one that comes later.
        let meanwhile = queue.append(result(), at: .milliseconds(1))
        #expect(!meanwhile && queue.due(at: .milliseconds(1)) == .milliseconds(50))
        #expect(queue.nextEntries(in: nil, at: .milliseconds(2)) == nil)
        let later = queue.append(result(), at: .milliseconds(49))
        let early = queue.begin(at: .milliseconds(49))
        #expect(!later && !early && queue.due(at: .milliseconds(49)) == .milliseconds(50))
        let due = queue.begin(at: .milliseconds(50))
        #expect(due && queue.nextEntries(in: nil, at: .milliseconds(50))?.count == 2)
        #expect(queue.nextEntries(in: nil, at: .milliseconds(51)) == nil && queue.due(at: .milliseconds(51)) == nil)
        let lone = queue.append(result(), at: .seconds(2))
        #expect(lone, "the last transaction is long ago")
    }

    @Test func `an entry that may wait is stored with what follows it, but does not wait for longer than it may`() {
        for gatheringTime in [Duration.zero, .milliseconds(50)] {
            var queue = WriteAheadQueue()
            queue.gatheringTime = gatheringTime
            let first = queue.append(submission, waiting: .milliseconds(3), at: .milliseconds(10))
            #expect(!first && queue.due(at: .milliseconds(10)) == .milliseconds(13))
            let early = queue.begin(at: .milliseconds(12))
            #expect(!early)
            let urgent = queue.append(.deleted(job), at: .milliseconds(12))
            #expect(urgent && queue.nextEntries(in: nil, at: .milliseconds(12))?.count == 2)
            #expect(queue.nextEntries(in: nil, at: .milliseconds(12)) == nil && queue.due(at: .milliseconds(12)) == nil)
            // The first that waits says when the time is over, the one before it has no say any more, and a result waits with it.
            let waits = [
                queue.append(submission, waiting: .milliseconds(3), at: .seconds(1)),
                queue.append(submission, waiting: .milliseconds(30), at: .seconds(1)),
                queue.append(result(), waiting: nil, at: .seconds(1)),
            ]
            let due = Duration.seconds(1) + .milliseconds(3)
            #expect(waits == [false, false, false] && queue.due(at: .seconds(1)) == due)
            let begins = queue.begin(at: due)
            #expect(begins && queue.nextEntries(in: nil, at: due)?.count == 3)
            _ = queue.nextEntries(in: nil, at: due)
            _ = queue.append(submission, waiting: .milliseconds(3), at: .seconds(2))
            let hurried = queue.hurry(at: .seconds(2))
            #expect(hurried && queue.nextEntries(in: nil, at: .seconds(2))?.count == 1)
        }
    }

    private var submission: JournalEntry {
        .submitted(StoredJob(id: job, token: nil, request: CoordinatorStory.simulation(1), submitted: 0))
    }

    @Test func `what somebody waits for is stored at once, and what has gathered with it`() {
        for entry in [JournalEntry.deleted(job), .failed(job, StoredFailure(task: 0, reason: "", isBadInput: false))] {
            var queue = gathering()
            let waits = queue.append(result(), at: .milliseconds(1))
            let urgent = queue.append(entry, at: .milliseconds(2))
            #expect(!waits && urgent && queue.nextEntries(in: nil, at: .milliseconds(2))?.count == 2)
            let next = queue.append(result(), at: .milliseconds(3))
            #expect(!next && queue.nextEntries(in: nil, at: .milliseconds(3)) == nil, "this one gathers again")
        }
        var queue = gathering()
        let idle = queue.hurry(at: .milliseconds(1))
        #expect(!idle, "nothing waits to be stored")
        _ = queue.append(result(), at: .milliseconds(2))
        let begins = queue.hurry(at: .milliseconds(3))
        #expect(begins && queue.nextEntries(in: nil, at: .milliseconds(3))?.count == 1)
    }

    @Test func `many results, or long ones, do not gather`() {
        var many = gathering()
        let begun = (0..<WriteAheadQueue.gatheringLimit.entries).map { _ in many.append(result(), at: .milliseconds(1))
        }
        #expect(begun.firstIndex(of: true) == begun.indices.last)
        var long = gathering()
        let half = long.append(result(WriteAheadQueue.gatheringLimit.bytes / 2), at: .milliseconds(1))
        let all = long.append(result(WriteAheadQueue.gatheringLimit.bytes / 2), at: .milliseconds(1))
        #expect(!half && all)
        // What is taken counts no more, and what is given back counts again.
        let entries = long.nextEntries(in: nil, at: .milliseconds(1)) ?? []
        #expect(entries.count == 2)
        _ = long.append(result(), at: .milliseconds(2))
        #expect(long.nextEntries(in: nil, at: .milliseconds(2)) == nil)
        long.giveBack(entries)
        #expect(long.nextEntries(in: nil, at: .milliseconds(3))?.count == 3)
    }

    @Test func `entries that are given back are written first`() throws {
        var queue = WriteAheadQueue()
        for number in 1...3 as ClosedRange<UInt64> { _ = queue.append(.deleted(JobID(rawValue: number)), at: .zero) }
        let entries = queue.nextEntries(in: nil, at: .zero)
        let taken = try #require(entries)
        _ = queue.append(.deleted(JobID(rawValue: 4)), at: .zero)
        queue.giveBack(taken)
        #expect(queue.takeAll().map(\.job.rawValue) == [1, 2, 3, 4] && queue.takeAll().isEmpty)
    }

    @Test func `a transaction uses at most a quarter of the room that is left`() {
        var queue = WriteAheadQueue()
        let result = StoredResult(
            job: job, task: 0, node: "one", duration: .zero, payload: ByteBuffer(repeating: 0, count: 1 << 20))
        for _ in 0..<20 { _ = queue.append(.result(result), at: .zero) }
        #expect(queue.nextEntries(in: JournalRoom(held: 2 << 20, limit: 10 << 20), at: .zero)?.count == 2)
        #expect(queue.nextEntries(in: JournalRoom(held: 10 << 20, limit: 10 << 20), at: .zero)?.count == 1)
        #expect(queue.nextEntries(in: nil, at: .zero)?.count == 16)
    }

    @Test func `a deletion goes ahead of failing entries, and those then only keep their place`() throws {
        var queue = WriteAheadQueue()
        let other = JobID(rawValue: 8)
        _ = queue.append(.failed(job, StoredFailure(task: 0, reason: "it was tried", isBadInput: false)), at: .zero)
        _ = queue.append(.failed(other, StoredFailure(task: 0, reason: "it was tried", isBadInput: false)), at: .zero)
        let entries = queue.nextEntries(in: nil, at: .zero)
        let failed = try #require(entries)
        #expect(queue.nextDeletions(failed).isEmpty)
        _ = queue.append(.deleted(job), at: .zero)
        #expect(queue.nextDeletions(failed) == [job])
        queue.markDeletedAhead([job])
        #expect(queue.nextDeletions(failed).isEmpty, "once is enough")
        #expect(queue.withoutDeleted(failed).map(\.isDeletion) == [true, false])
        queue.store(2)
        #expect(queue.deletedAhead == [job], "its own entry has not been stored")
        #expect(queue.nextEntries(in: nil, at: .zero)?.count == 1)
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
