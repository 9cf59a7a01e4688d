import Foundation
import NIOCore
import Testing
import Transport

@testable import Sky
@testable import SkyCore
@testable import SkyJobs

@Suite struct WorkBookTests {
    private let peer = NodeID(rawValue: 7)
    private let incarnation = CoordinatorIncarnation(CoordinatorID(rawValue: 5), generation: 2)

    private func book(slots: Int = 2, wanted: Int = 2) throws -> WorkBook {
        var book = WorkBook(slots: slots, leaseDuration: .seconds(10))
        _ = try book.reserve(wanted, by: incarnation, from: peer, now: .zero)
        return book
    }

    private func attempt(_ task: Int) -> AttemptID { AttemptID(job: JobID(rawValue: 1), task: TaskID(task), number: 1) }

    private func assignment(_ tasks: Range<Int>, stop: [Int] = []) -> Assignment {
        let task = ScanTask(.simulate(Simulation(duration: .zero)), label: "")
        return Assignment(
            incarnation: incarnation,
            attempts: tasks.map { RunRequest(attempt: attempt($0), task: task, timeLimit: .seconds(1)) },
            stop: stop.map(attempt))
    }

    private func collect(
        _ book: inout WorkBook, received: UInt64 = 0, acknowledged: UInt64 = 0, generation: UInt64 = 2,
        isFirst: Bool = false, limit: Int = 1 << 20, now: Duration = .zero
    ) throws -> CollectReply {
        let request = CollectRequest(
            incarnation: CoordinatorIncarnation(incarnation.coordinator, generation: generation), received: received,
            acknowledged: acknowledged, fencingToken: 0, isFirst: isFirst)
        return try book.collect(request, from: peer, limit: limit, now: now).collection
    }

    private func done(_ bytes: Int = 0) -> AttemptOutcome { .done(ByteBuffer(repeating: 1, count: bytes)) }

    @Test func `attempts without a slot wait in order, and start when one is free`() throws {
        var book = try book()
        #expect(try book.assign(assignment(0..<4), from: peer, now: .zero).start.map(\.attempt.task.index) == [0, 1])
        #expect(book.running == 2 && book.waiting == 2)
        #expect(try book.assign(assignment(0..<4), from: peer, now: .zero).start.isEmpty, "the same again is no more")
        let update = book.recordEnd(of: attempt(1), done().end, .zero, now: .zero)
        #expect(update.start.map(\.attempt.task.index) == [2] && update.wake == [incarnation.coordinator])
        #expect(book.running == 2 && book.waiting == 1)
    }

    @Test func `results are sent until they are acknowledged, a few at a time`() throws {
        var book = try book(slots: 5, wanted: 5)
        _ = try book.assign(assignment(0..<5), from: peer, now: .zero)
        for task in 0..<5 { _ = book.recordEnd(of: attempt(task), done(1000).end, .zero, now: .zero) }
        #expect(try collect(&book, limit: 1500).results.map(\.sequence) == [1, 2], "the last may go beyond the limit")
        #expect(try collect(&book, received: 2).results.map(\.sequence) == [3, 4, 5])
        // Their coordinator was restarted, and knows of the first alone.
        #expect(try collect(&book, acknowledged: 1, generation: 3).results.map(\.sequence) == [2, 3, 4, 5])
        #expect(try collect(&book, received: 5, acknowledged: 5, generation: 3).results.isEmpty)
        #expect(book.resultBytes == 0)
    }

    @Test func `who has not proved to be a coordinator cannot speak for one that has`() throws {
        let key = IdentityKey.coordinator(secret: [1, 2, 3])
        let own = CoordinatorIncarnation(key.coordinator, generation: 2)
        let proof = key.proof(from: peer, "2")
        let thief = NodeID(rawValue: 8)
        var book = WorkBook(slots: 2, leaseDuration: .seconds(10))
        func collect(
            _ incarnation: CoordinatorIncarnation, _ proof: IdentityProof?, from node: NodeID, acknowledged: UInt64 = 0
        ) throws -> CollectReply {
            var request = CollectRequest(
                incarnation: incarnation, received: 0, acknowledged: acknowledged, fencingToken: 0, isFirst: false)
            request.proof = proof
            return try book.collect(request, from: node, limit: 1 << 20, now: .zero).collection
        }
        _ = try book.reserve(2, by: own, proof, from: peer, now: .zero)
        var assignment = assignment(0..<3)
        (assignment.incarnation, assignment.proof) = (own, proof)
        _ = try book.assign(assignment, from: peer, now: .zero)
        _ = book.recordEnd(of: attempt(0), done().end, .zero, now: .zero)
        // A later generation, the same one while its link is down, without a proof, with that of another node, generation or key.
        _ = book.linkLost(peer, now: .zero)
        let later = CoordinatorIncarnation(key.coordinator, generation: 3)
        for (incarnation, proof) in [
            (later, nil), (own, nil), (own, proof), (later, proof), (later, key.proof(from: peer, "3")),
            (later, key.proof(from: thief, "2")),
            (later, IdentityKey.coordinator(secret: [1, 2]).proof(from: thief, "3")),
            (later, IdentityKey.replica(secret: [1, 2, 3]).proof(from: thief, "3")),
        ] {
            #expect(throws: WorkBook.Rejection.unproven) {
                try collect(incarnation, proof, from: thief, acknowledged: .max >> 1)
            }
        }
        #expect(try collect(own, proof, from: peer).results.count == 1, "nothing was acknowledged")
        #expect(try collect(later, key.proof(from: thief, "3"), from: thief).results.count == 1, "it has the key")
        #expect(throws: WorkBook.Rejection.superseded) { try collect(own, proof, from: peer) }
    }

    @Test func `one that passed for a coordinator before it came has nothing left`() throws {
        let key = IdentityKey.coordinator(secret: [1, 2, 3])
        var book = WorkBook(slots: 1, leaseDuration: .seconds(10))
        let thief = NodeID(rawValue: 8)
        let later = CoordinatorIncarnation(key.coordinator, generation: 9)
        _ = try book.reserve(1, by: later, from: thief, now: .zero)
        var assignment = assignment(0..<2)
        assignment.incarnation = later
        #expect(try book.assign(assignment, from: thief, now: .zero).start.count == 1)
        let own = CoordinatorIncarnation(key.coordinator, generation: 2)
        let (lease, update) = try book.reserve(1, by: own, key.proof(from: peer, "2"), from: peer, now: .zero)
        #expect(update.stop == [attempt(0)] && book.waiting == 0)
        #expect(lease.coordinator == key.coordinator)
        _ = book.recordEnd(of: attempt(0), done().end, .zero, now: .zero)
        #expect(!book.hasResults)
        #expect(throws: WorkBook.Rejection.unproven) { try book.reserve(1, by: later, from: thief, now: .zero) }
    }

    @Test func `an earlier incarnation of a coordinator is refused`() throws {
        var book = try book()
        _ = try collect(&book, generation: 3)
        #expect(throws: WorkBook.Rejection.superseded) { _ = try collect(&book, generation: 2) }
        #expect(throws: WorkBook.Rejection.superseded) {
            _ = try book.assign(assignment(0..<1), from: peer, now: .zero)
        }
    }

    @Test
    func `a stop ends waiting attempts at once and running ones later; a finished result still counts`()
        throws
    {
        var book = try book()
        _ = try book.assign(assignment(0..<3), from: peer, now: .zero)
        let update = try book.assign(assignment(0..<0, stop: [0, 1, 2]), from: peer, now: .zero)
        #expect(update.stop == [attempt(0), attempt(1)])
        _ = book.recordEnd(of: attempt(0), .failure(.fault("killed")), .zero, now: .zero)
        _ = book.recordEnd(of: attempt(1), done().end, .zero, now: .zero)
        let results = try collect(&book).results
        #expect(results.map(\.attempt.task.index) == [2, 0, 1])
        #expect(results.map(\.outcome) == [.refused("stopped"), .refused("stopped"), done()])
        #expect(book.running == 0 && book.free == 0, "the lease keeps its slots")
    }

    @Test func `a lost link drops waiting attempts; running ones go on until the lease ends`() throws {
        var book = try book()
        _ = try book.assign(assignment(0..<3), from: peer, now: .zero)
        #expect(book.linkLost(peer, now: .seconds(1)).stop.isEmpty)
        #expect(book.running == 2 && book.waiting == 0)
        let first = try collect(&book, isFirst: true, now: .seconds(2))
        #expect(first.attempts == [attempt(0), attempt(1)] && first.results.map(\.attempt) == [attempt(2)])
        #expect(book.expire(now: .seconds(11)).stop.isEmpty, "it was renewed")
        #expect(book.expire(now: .seconds(13)).stop == [attempt(0), attempt(1)])
        _ = book.recordEnd(of: attempt(0), .failure(.fault("killed")), .zero, now: .seconds(13))
        #expect(try collect(&book, received: 1, now: .seconds(14)).lease == nil)
        #expect(
            try collect(&book, received: 1, now: .seconds(14)).results.map(\.outcome) == [.refused("the lease ran out")]
        )
    }

    @Test func `where a node's slots are taken to none, what waits comes back, and nothing starts until it has some`()
        throws
    {
        var book = try book()
        _ = try book.assign(assignment(0..<4), from: peer, now: .zero)
        #expect(book.running == 2 && book.waiting == 2)
        let update = book.setSlots(0, now: .zero)
        #expect(update.start.isEmpty && update.stop.isEmpty && update.wake == [incarnation.coordinator])
        #expect(book.running == 2 && book.waiting == 0, "what runs goes on")
        _ = book.recordEnd(of: attempt(0), done().end, .zero, now: .zero)
        #expect(try book.assign(assignment(4..<5), from: peer, now: .zero).start.isEmpty)
        let collected = try collect(&book)
        let refused = AttemptOutcome.refused(StartRefusal.noSlots.description)
        #expect(collected.results.map(\.attempt.task.index) == [2, 3, 0, 4])
        #expect(collected.results.map(\.outcome) == [refused, refused, done(), refused])
        #expect(collected.lease?.hasNoSlots == true && collected.lease?.slots == 1, "one runs")
        _ = book.recordEnd(of: attempt(1), done().end, .zero, now: .zero)
        _ = book.setSlots(2, now: .zero)
        let lease = try book.reserve(2, by: incarnation, from: peer, now: .zero).lease
        #expect(lease.slots == 2 && lease.hasNoSlots == nil)
        #expect(try book.assign(assignment(5..<7), from: peer, now: .zero).start.map(\.attempt.task.index) == [5, 6])
    }

    @Test func `nothing new starts for a coordinator with too many uncollected results`() throws {
        var book = try book()
        _ = try book.assign(assignment(0..<4), from: peer, now: .zero)
        _ = book.recordEnd(of: attempt(0), done(WorkBook.resultLimit).end, .zero, now: .zero)
        #expect(book.running == 1 && book.waiting == 2)
        _ = try collect(&book, received: 1, acknowledged: 1)
        #expect(book.running == 2 && book.waiting == 1)
    }

    @Test func `a coordinator that returns after a quiet time gets its new results`() throws {
        var book = try book()
        _ = try book.assign(assignment(0..<2), from: peer, now: .zero)
        for task in 0..<2 { _ = book.recordEnd(of: attempt(task), done().end, .zero, now: .zero) }
        #expect(try collect(&book).results.map(\.sequence) == [1, 2])
        #expect(try collect(&book, received: 2, acknowledged: 2).results.isEmpty)
        var now = Duration.zero
        for round in 1...3 as ClosedRange<UInt64> {
            now += WorkBook.retention
            _ = book.expire(now: now)
            _ = try book.reserve(2, by: incarnation, from: peer, now: now)
            var next = assignment(10..<11)
            next.acknowledged = round + 1
            _ = try book.assign(next, from: peer, now: now)
            _ = book.recordEnd(of: attempt(10), done().end, .zero, now: now)
            let collected = try collect(&book, received: round + 1, acknowledged: round + 1, now: now)
            #expect(collected.results.map(\.sequence) == [round + 2], "not taken for one that was heard before")
        }
    }

    /// Found by fuzzing: the slots of the first that left began what waited for the second, which could then be asked for again.
    @Test(arguments: 0..<8) func `when a node leaves, no waiting attempt of its other coordinators starts`(
        seed: Int
    ) throws {
        var book = WorkBook(slots: 1, leaseDuration: .seconds(10))
        // The book goes through them in an arbitrary order.
        let incarnations = (0..<3).map {
            CoordinatorIncarnation(CoordinatorID(rawValue: UInt64(seed * 3 + $0)), generation: 1)
        }
        for (number, incarnation) in incarnations.enumerated() {
            _ = try book.reserve(1, by: incarnation, from: peer, now: .zero)
            let task = ScanTask(.simulate(Simulation(duration: .zero)), label: "")
            let request = RunRequest(attempt: attempt(number), task: task, timeLimit: .seconds(1))
            _ = try book.assign(Assignment(incarnation: incarnation, attempts: [request]), from: peer, now: .zero)
        }
        try #require(book.running == 1 && book.waiting == 2)
        let update = book.left(peer, now: .seconds(1))
        #expect(update.start.isEmpty && update.stop.count == 1)
        #expect(book.running == 1 && book.waiting == 0, "what ran is on its way to an end")
    }

    @Test func `a second node cannot act for a coordinator until the link to the first is gone`() throws {
        var book = try book()
        let other = NodeID(rawValue: 8)
        #expect(throws: WorkBook.Rejection.duplicate) {
            _ = try book.reserve(2, by: incarnation, from: other, now: .zero)
        }
        #expect(throws: WorkBook.Rejection.duplicate) {
            _ = try book.assign(assignment(0..<1), from: other, now: .zero)
        }
        let request = CollectRequest(
            incarnation: incarnation, received: 9, acknowledged: 9, fencingToken: 0, isFirst: true)
        #expect(throws: WorkBook.Rejection.duplicate) {
            _ = try book.collect(request, from: other, limit: 100, now: .zero)
        }
        #expect(try book.assign(assignment(0..<1), from: peer, now: .zero).start.count == 1, "the first goes on")
        _ = book.linkLost(peer, now: .seconds(1))
        _ = try book.reserve(2, by: incarnation, from: other, now: .seconds(2))
        #expect(throws: WorkBook.Rejection.duplicate) {
            _ = try book.reserve(2, by: incarnation, from: peer, now: .seconds(3))
        }
    }

    @Test func `waiting attempts are limited in bytes, and a start makes room`() throws {
        var book = try book(slots: 1, wanted: 1)
        let background = try LargeBackground.map
        let image = ImageReference(path: "/data/m13.fits", hdu: nil)
        let rect = PixelRect(x: 0, y: 0, width: 64, height: 64)
        let work = SkyWork.extract(
            image, Sector(index: 0, core: rect, padded: rect), background, ScanConfiguration())
        let task = ScanTask(.sky(work), label: "")
        let fitting = WorkBook.waitingBytes / task.byteCount + 1
        try #require((2...1000).contains(fitting))
        func assign(_ tasks: Range<Int>) throws -> WorkBook.Update {
            let attempts = tasks.map { RunRequest(attempt: attempt($0), task: task, timeLimit: .seconds(1)) }
            return try book.assign(Assignment(incarnation: incarnation, attempts: attempts), from: peer, now: .zero)
        }
        #expect(try assign(0..<1).start.count == 1)
        _ = try assign(1..<fitting + 3)
        #expect(book.waiting == fitting && book.running == 1)
        #expect(
            try collect(&book).results.map(\.outcome)
                == Array(repeating: .refused(StartRefusal.noIdleSlot.description), count: 2))
        _ = book.recordEnd(of: attempt(0), done().end, .zero, now: .zero)
        #expect(book.waiting == fitting - 1)
        _ = try assign(fitting + 3..<fitting + 5)
        #expect(book.waiting == fitting, "one more, and no more")
    }

    @Test func `a silent coordinator is forgotten in the end`() throws {
        var book = try book()
        _ = try book.assign(assignment(0..<1), from: peer, now: .zero)
        _ = book.recordEnd(of: attempt(0), done(100).end, .zero, now: .zero)
        _ = book.expire(now: WorkBook.retention - .seconds(1))
        #expect(book.resultBytes > 0)
        _ = book.expire(now: WorkBook.retention)
        #expect(book.resultBytes == 0 && book.free == 2 && book.nextExpiry == nil)
    }
}

/// A background of half a megabyte, as those of large images with small meshes are.
private enum LargeBackground {
    private struct Fields: Codable {
        var (width, height, meshSize) = (2048, 2048, 8)
        var (globalLevel, globalRMS) = (Float(100), Float(3))
        var levels = PackedFloats([Float](repeating: 100, count: 256 * 256))
    }

    static var map: BackgroundMap {
        get throws { try JSONDecoder().decode(BackgroundMap.self, from: JSONEncoder().encode(Fields())) }
    }
}
