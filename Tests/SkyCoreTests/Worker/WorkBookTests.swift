import NIOCore
import Testing
import Transport

@testable import SkyCore

@Suite struct WorkBookTests {
    private let peer = NodeID(rawValue: 7)
    private let life = CoordinatorLife(CoordinatorID(rawValue: 5), generation: 2)

    private func book(slots: Int = 2, wanted: Int = 2) throws -> WorkBook {
        var book = WorkBook(slots: slots, leaseDuration: .seconds(10))
        _ = try book.reserve(wanted, by: life, from: peer, now: .zero)
        return book
    }

    private func attempt(_ task: Int) -> AttemptID { AttemptID(job: JobID(rawValue: 1), task: TaskID(task), number: 1) }

    private func assignment(_ tasks: Range<Int>, stop: [Int] = []) -> Assignment {
        let task = ScanTask(.simulate(Simulation(duration: .zero)), label: "")
        return Assignment(
            life: life,
            attempts: tasks.map { RunRequest(attempt: attempt($0), task: task, timeLimit: .seconds(1)) },
            stop: stop.map(attempt))
    }

    private func collect(
        _ book: inout WorkBook, received: UInt64 = 0, acknowledged: UInt64 = 0, generation: UInt64 = 2,
        isFirst: Bool = false, limit: Int = 1 << 20, now: Duration = .zero
    ) throws -> CollectReply {
        let request = CollectRequest(
            life: CoordinatorLife(life.coordinator, generation: generation), received: received,
            acknowledged: acknowledged, epoch: 0, isFirst: isFirst)
        return try book.collect(request, from: peer, limit: limit, now: now).collection
    }

    private func done(_ bytes: Int = 0) -> AttemptOutcome { .done(ByteBuffer(repeating: 1, count: bytes)) }

    @Test func `what finds no slot waits, in order, and starts when one comes free`() throws {
        var book = try book()
        #expect(try book.assign(assignment(0..<4), from: peer, now: .zero).start.map(\.attempt.task.index) == [0, 1])
        #expect(book.running == 2 && book.waiting == 2)
        #expect(try book.assign(assignment(0..<4), from: peer, now: .zero).start.isEmpty, "the same again is no more")
        let update = book.ended(attempt(1), done(), .zero, now: .zero)
        #expect(update.start.map(\.attempt.task.index) == [2] && update.wake == [life.coordinator])
        #expect(book.running == 2 && book.waiting == 1)
    }

    @Test func `results are handed over until they are acknowledged, a few at a time`() throws {
        var book = try book(slots: 5, wanted: 5)
        _ = try book.assign(assignment(0..<5), from: peer, now: .zero)
        for task in 0..<5 { _ = book.ended(attempt(task), done(1000), .zero, now: .zero) }
        #expect(try collect(&book, limit: 1500).results.map(\.sequence) == [1, 2], "the last may go beyond the limit")
        #expect(try collect(&book, received: 2).results.map(\.sequence) == [3, 4, 5])
        // Their coordinator was restarted, and knows of the first alone.
        #expect(try collect(&book, acknowledged: 1, generation: 3).results.map(\.sequence) == [2, 3, 4, 5])
        #expect(try collect(&book, received: 5, acknowledged: 5, generation: 3).results.isEmpty)
        #expect(book.resultBytes == 0)
    }

    @Test func `an earlier life of a coordinator is refused`() throws {
        var book = try book()
        _ = try collect(&book, generation: 3)
        #expect(throws: WorkBook.Rejection.superseded) { _ = try collect(&book, generation: 2) }
        #expect(throws: WorkBook.Rejection.superseded) {
            _ = try book.assign(assignment(0..<1), from: peer, now: .zero)
        }
    }

    @Test
    func `a stop ends what waits at once and what runs when it has ended; a result that was done all the same counts`()
        throws
    {
        var book = try book()
        _ = try book.assign(assignment(0..<3), from: peer, now: .zero)
        let update = try book.assign(assignment(0..<0, stop: [0, 1, 2]), from: peer, now: .zero)
        #expect(update.stop == [attempt(0), attempt(1)])
        _ = book.ended(attempt(0), .fault("killed"), .zero, now: .zero)
        _ = book.ended(attempt(1), done(), .zero, now: .zero)
        let results = try collect(&book).results
        #expect(results.map(\.attempt.task.index) == [2, 0, 1])
        #expect(results.map(\.outcome) == [.refused("stopped"), .refused("stopped"), done()])
        #expect(book.running == 0 && book.free == 0, "the lease keeps its slots")
    }

    @Test func `with the link go those that wait; those that run go on until the lease ends`() throws {
        var book = try book()
        _ = try book.assign(assignment(0..<3), from: peer, now: .zero)
        #expect(book.linkLost(peer, now: .seconds(1)).stop.isEmpty)
        #expect(book.running == 2 && book.waiting == 0)
        let first = try collect(&book, isFirst: true, now: .seconds(2))
        #expect(first.attempts == [attempt(0), attempt(1)] && first.results.map(\.attempt) == [attempt(2)])
        #expect(book.expire(now: .seconds(11)).stop.isEmpty, "it was renewed")
        #expect(book.expire(now: .seconds(13)).stop == [attempt(0), attempt(1)])
        _ = book.ended(attempt(0), .fault("killed"), .zero, now: .seconds(13))
        #expect(try collect(&book, received: 1, now: .seconds(14)).lease == nil)
        #expect(
            try collect(&book, received: 1, now: .seconds(14)).results.map(\.outcome) == [.refused("the lease ran out")]
        )
    }

    @Test func `nothing new starts for one that leaves too many results lying here`() throws {
        var book = try book()
        _ = try book.assign(assignment(0..<4), from: peer, now: .zero)
        _ = book.ended(attempt(0), done(WorkBook.resultLimit), .zero, now: .zero)
        #expect(book.running == 1 && book.waiting == 2)
        _ = try collect(&book, received: 1, acknowledged: 1)
        #expect(book.running == 2 && book.waiting == 1)
    }

    @Test func `one that comes back after a quiet time gets what it has done then`() throws {
        var book = try book()
        _ = try book.assign(assignment(0..<2), from: peer, now: .zero)
        for task in 0..<2 { _ = book.ended(attempt(task), done(), .zero, now: .zero) }
        #expect(try collect(&book).results.map(\.sequence) == [1, 2])
        #expect(try collect(&book, received: 2, acknowledged: 2).results.isEmpty)
        var now = Duration.zero
        for round in 1...3 as ClosedRange<UInt64> {
            now += WorkBook.retention
            _ = book.expire(now: now)
            _ = try book.reserve(2, by: life, from: peer, now: now)
            var next = assignment(10..<11)
            next.acknowledged = round + 1
            _ = try book.assign(next, from: peer, now: now)
            _ = book.ended(attempt(10), done(), .zero, now: now)
            let collected = try collect(&book, received: round + 1, acknowledged: round + 1, now: now)
            #expect(collected.results.map(\.sequence) == [round + 2], "not taken for one that was heard before")
        }
    }

    @Test func `what is known of a silent coordinator is forgotten in the end`() throws {
        var book = try book()
        _ = try book.assign(assignment(0..<1), from: peer, now: .zero)
        _ = book.ended(attempt(0), done(100), .zero, now: .zero)
        _ = book.expire(now: WorkBook.retention - .seconds(1))
        #expect(book.resultBytes > 0)
        _ = book.expire(now: WorkBook.retention)
        #expect(book.resultBytes == 0 && book.free == 2 && book.nextExpiry == nil)
    }
}
