import Base
import NIOCore
import Testing
import Transport

@testable import SkyCore

/// Which node does what, and whom a coordinator believes.
@Suite struct NodeDispatchTests {
    private let own = NodeID(rawValue: 1)
    private let other = NodeID(rawValue: 2)
    private let job = JobID(rawValue: 7)

    private func dispatch(generation: UInt64 = 3) -> NodeDispatch {
        NodeDispatch(
            incarnation: CoordinatorIncarnation(CoordinatorID(rawValue: 5), generation: generation), secret: [1, 2, 3],
            own: own, name: "own")
    }

    private func join(_ node: NodeID, _ dispatch: inout NodeDispatch) -> NodeDispatch.Consequence {
        dispatch.join(node, name: "other", arithmetic: Arithmetic("99.0"), isDraining: false, now: .zero)
    }

    private func attempt(_ number: Int = 1, generation: UInt64 = 3) -> AttemptID {
        AttemptID(job: job, task: 0, number: number, generation: generation)
    }

    private func result(_ sequence: UInt64) -> AttemptResult {
        AttemptResult(sequence: sequence, attempt: attempt(), outcome: .done(ByteBuffer()), duration: .zero)
    }

    private func lease(_ fencingToken: UInt64) -> Lease {
        Lease(coordinator: CoordinatorID(rawValue: 5), fencingToken: fencingToken, slots: 2)
    }

    @Test func `an event that arrives while another is handled waits its turn`() {
        var dispatch = dispatch()
        let isFirst = [.nodeJoined(own), .submitted(job, tasks: 1)].map { dispatch.enqueue($0) }
        #expect(isFirst == [true, false])
        #expect(dispatch.nextActions(now: .zero) == [])
        let meanwhile = dispatch.enqueue(.leased(own, slots: 1, fencingToken: 1))
        #expect(!meanwhile)
        #expect(dispatch.nextActions(now: .zero) == [.reserve(own, wanted: 1)], "the job came before the lease")
        #expect(dispatch.nextActions(now: .zero) == [.run(attempt(), on: own)])
        #expect(dispatch.nextActions(now: .zero) == nil)
        let isNext = dispatch.enqueue(.tick)
        #expect(isNext, "and then the next event has its turn")
    }

    @Test func `nodes that lend less than was demanded hear at once for how many people`() {
        var dispatch = dispatch()
        func decide(_ events: JobScheduler.Event...) -> [JobScheduler.Action] {
            var actions: [JobScheduler.Action] = []
            for event in events { _ = dispatch.enqueue(event) }
            while let next = dispatch.nextActions(now: .zero) { actions += next }
            for case .reserve(let node, let wanted) in actions { _ = dispatch.reserve(wanted, on: node) }
            return actions
        }
        _ = join(own, &dispatch)
        _ = join(other, &dispatch)
        let alice = JobSubmitter("alice")
        _ = decide(.nodeJoined(own), .nodeJoined(other), .submitted(job, tasks: 100, by: alice))
        #expect(dispatch.announcePeople().isEmpty, "one is what nodes believe")
        for node in [own, other] {
            let request = dispatch.nextReservation(for: node)
            #expect(request?.wanted == 128 && request?.people == nil)
            #expect(dispatch.nextReservation(for: node) == nil)
        }
        _ = decide(.leased(own, slots: 4, fencingToken: 1), .leased(other, slots: 128, fencingToken: 1))
        for node in [own, other] { while dispatch.nextReservation(for: node) != nil {} }
        _ = decide(.submitted(JobID(rawValue: 8), tasks: 1, by: JobSubmitter("bob")))
        #expect(dispatch.announcePeople() == [NodeCalls.Call(.reserve, own)])
        #expect(dispatch.announcePeople().isEmpty)
        #expect(dispatch.nextReservation(for: own)?.people == 2)
        #expect(dispatch.nextReservation(for: own) == nil)
        // The other node hears of it when it lends less.
        #expect(
            dispatch.leased(Lease(coordinator: CoordinatorID(rawValue: 5), fencingToken: 7, slots: 4), on: own).calls
                .isEmpty)
        let less = Lease(coordinator: CoordinatorID(rawValue: 5), fencingToken: 8, slots: 60)
        #expect(dispatch.leased(less, on: other).calls == [NodeCalls.Call(.reserve, other)])
        #expect(dispatch.leased(less, on: other).calls.isEmpty, "it is under way")
        #expect(dispatch.nextReservation(for: other)?.people == 2)
        #expect(dispatch.nextReservation(for: other) == nil)
        #expect(dispatch.leased(less, on: other).calls.isEmpty)
    }

    /// Found by the simulation, whose histories changed: a node that has just started asked itself what it had.
    @Test func `another node is asked for its attempts, and the coordinator's own is not`() {
        var dispatch = dispatch()
        let mine = join(own, &dispatch)
        #expect(
            mine.calls.isEmpty
                && mine.events == [.nodeJoined(own, name: "other", measuresAlike: false), .nodeDraining(own, false)])
        #expect(join(other, &dispatch).calls == [NodeCalls.Call(.collect, other)])
        #expect(dispatch.nextCollection(from: other)?.isFirst == true)
        #expect(dispatch.nextCollection(from: own) == nil)
        #expect(join(other, &dispatch).events == [.nodeDraining(other, false)], "it is known")
    }

    @Test func `a distrusted node is lost once, and is not used again before it has left`() throws {
        var dispatch = dispatch()
        _ = join(other, &dispatch)
        #expect(dispatch.distrust(other, now: .zero)?.events == [.nodeLost(other)])
        #expect(dispatch.distrust(other, now: .zero) == nil)
        #expect(join(other, &dispatch).events == [.nodeDraining(other, false)] && !dispatch.isPresent(other))
        #expect(dispatch.nextCollection(from: other) == nil)
        #expect(dispatch.unheard([]) == [other] && dispatch.unheard([other]).isEmpty)
        #expect(dispatch.lose(other, now: .zero).events.isEmpty, "its loss is known")
        #expect(join(other, &dispatch).events.count == 2 && dispatch.isPresent(other))
    }

    @Test func `only the receipt for the same node and a valid incarnation proves an attempt`() {
        let dispatch = dispatch()
        let receipt = dispatch.receipts.receipt(for: attempt(generation: 2), basis: 9, on: other)
        func isProven(
            _ generation: UInt64, on node: NodeID, _ receipt: UInt64?, since: UInt64? = nil, basis: UInt64 = 9
        ) -> Bool {
            let question = AttemptReceipts.Question(basis: basis, since: since)
            return dispatch.isProven(attempt(generation: generation), on: node, receipt, question)
        }
        #expect(isProven(2, on: other, receipt) && isProven(2, on: other, receipt, since: 2))
        #expect(!isProven(2, on: other, nil) && !isProven(2, on: other, receipt &+ 1))
        #expect(!isProven(2, on: own, receipt) && !isProven(1, on: other, receipt))
        #expect(!isProven(2, on: other, receipt, since: 3), "the job began anew after it")
        #expect(!isProven(2, on: other, receipt, basis: 8), "the task follows from other results now")
        #expect(!dispatch.isProven(attempt(generation: 2), on: other, receipt, nil), "there is no such task")
        let future = dispatch.receipts.receipt(for: attempt(generation: 4), basis: 9, on: other)
        #expect(!isProven(4, on: other, future))
    }

    @Test func `an attempt that is known to run on a node needs no receipt`() throws {
        var dispatch = dispatch()
        for event in [
            .nodeJoined(other), .leased(other, slots: 1, fencingToken: 1), .submitted(job, tasks: 1),
        ] as [JobScheduler.Event] {
            _ = dispatch.enqueue(event)
        }
        while dispatch.nextActions(now: .zero) != nil {}
        #expect(dispatch.isBelievable(attempt(), on: other, nil, nil))
        #expect(!dispatch.isBelievable(attempt(2), on: other, nil, nil))
        #expect(!dispatch.isBelievable(attempt(), on: own, nil, nil))
    }

    @Test func `a result counts once, and is acknowledged when its entries are stored`() throws {
        var dispatch = dispatch()
        _ = join(other, &dispatch)
        let isNew = [1, 1, 2, 1].map { dispatch.receive(result($0), from: other) }
        #expect(isNew == [true, false, true, false])
        dispatch.markResults(of: other, dependingOn: 10, stored: 4)
        func acknowledged() -> UInt64? {
            _ = dispatch.stop(attempt(), on: other)
            return dispatch.nextAssignment(for: other)?.acknowledged
        }
        #expect(acknowledged() == 0)
        _ = dispatch.store(upTo: 9)
        #expect(acknowledged() == 0)
        _ = dispatch.store(upTo: 10)
        #expect(acknowledged() == 2)
    }

    @Test func `large results are acknowledged at once when they are stored`() {
        var dispatch = dispatch()
        _ = join(other, &dispatch)
        var large = result(1)
        large.outcome = .done(ByteBuffer(repeating: 0, count: 9 << 20))
        _ = dispatch.receive(large, from: other)
        dispatch.markResults(of: other, dependingOn: 1, stored: 0)
        #expect(dispatch.store(upTo: 1) == [NodeCalls.Call(.assign, other)])
        #expect(dispatch.nextAssignment(for: other)?.acknowledged == 1)
        #expect(dispatch.store(upTo: 2).isEmpty, "it knows")
    }

    @Test func `only attempts that may have arrived are asked for`() {
        var dispatch = dispatch()
        #expect(dispatch.assignmentFailed([attempt()], on: other, .refused("no link")).calls.isEmpty)
        let lost = dispatch.assignmentFailed([attempt(1), attempt(2)], on: other, .nodeLost("the call was lost"))
        #expect(lost.calls == [NodeCalls.Call(.collect, other)])
        #expect(lost.events.count == 2)
    }

    @Test func `a repeated lease changes nothing, and its loss is noticed`() throws {
        var dispatch = dispatch()
        _ = join(other, &dispatch)
        #expect(dispatch.leased(lease(4), on: other).events == [.leased(other, slots: 2, fencingToken: 4)])
        #expect(dispatch.leased(lease(4), on: other).events.isEmpty)
        let collection = dispatch.nextCollection(from: other)
        let request = try #require(collection)
        #expect(request.fencingToken == 4)
        let isLost = [lease(4), nil, nil].map { lease in
            dispatch.collect(CollectReply(results: [], lease: lease), request, from: other)
        }
        #expect(isLost == [false, true, false])
    }

    @Test func `the scheduler is notified once of a pause and once of its end`() {
        var dispatch = dispatch()
        let isNew = [false, true, true, false].map { dispatch.suspend($0) }
        #expect(isNew == [false, true, false, true])
    }
}
