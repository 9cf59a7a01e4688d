import NIOCore
import Testing

@testable import Transport

@Suite struct CallTableTests {
    /// Makes a call as a link does, where there is a slot.
    private func make<Waiter>(
        _ table: inout CallTable<Waiter>, _ call: UInt64, _ waiter: Waiter, deadline: Duration = .seconds(1),
        hasRoom: Bool = true
    ) -> CallTable<Waiter>.Admission {
        let admission = table.enter(hasRoom: hasRoom)
        switch admission {
        case .go: _ = table.open(call, waiter, deadline: deadline, waited: false)
        case .wait: _ = table.wait(call, waiter, deadline: deadline)
        case .closed, .congested: break
        }
        return admission
    }

    @Test func `an answer finds its caller once`() {
        var table = CallTable<String>(limit: 10)
        #expect(make(&table, 1, "a") == .go)
        #expect(table.answer(1, at: .zero)?.waiter == "a")
        #expect(table.answer(1, at: .zero)?.waiter == nil, "a late or repeated answer is dropped")
    }

    @Test func `an answer at or after the deadline is late, and does not count`() {
        var table = CallTable<String>(limit: 10)
        for call in 1...3 { _ = make(&table, UInt64(call), "a", deadline: .seconds(5)) }
        #expect(table.answer(1, at: .seconds(5) - .nanoseconds(1))?.isLate == false)
        #expect(table.answer(2, at: .seconds(5))?.isLate == true)
        #expect(table.answer(3, at: .seconds(7))?.isLate == true)
        #expect(table.count == 0 && table.answer(3, at: .zero) == nil, "a late answer removes the call too")
    }

    @Test func `deadlines pass in their order, whatever the order of the calls`() {
        var table = CallTable<String>(limit: 10)
        _ = make(&table, 1, "slow", deadline: .seconds(9))
        _ = make(&table, 2, "fast", deadline: .seconds(1))
        #expect(table.nextDeadline() == .seconds(1))
        #expect(table.expire(at: .milliseconds(999)).isEmpty)
        #expect(table.expire(at: .seconds(1)).map(\.waiter) == ["fast"])
        #expect(table.nextDeadline() == .seconds(9))
        #expect(table.expire(at: .seconds(20)).map(\.waiter) == ["slow"])
        #expect(table.nextDeadline() == nil)
        #expect(table.count == 0)
    }

    @Test func `an answered call does not expire`() {
        var table = CallTable<Int>(limit: 10)
        _ = make(&table, 1, 1)
        _ = table.take(1)
        #expect(table.nextDeadline() == nil)
        #expect(table.expire(at: .seconds(2)).isEmpty)
    }

    @Test func `a lost link ends all calls and admits no more`() {
        var table = CallTable<Int>(limit: 2)
        for call in 1...3 { _ = make(&table, UInt64(call), call) }
        let closed = table.close()
        #expect(closed.map(\.waiter).sorted() == [1, 2, 3])
        #expect(closed.filter { !$0.wasOpen }.map(\.call) == [3], "the third cannot have run")
        #expect(make(&table, 4, 4) == .closed)
        #expect(table.count == 0 && !table.hasWaiting)
    }

    @Test func `calls beyond the other side's limit get their turns in order as others end`() {
        var table = CallTable<Int>(limit: 2)
        let admissions = (1...5).map { make(&table, $0, Int($0)) }
        #expect(admissions == [.go, .go, .wait, .wait, .wait])
        #expect(table.nextTurn(hasRoom: true) == nil)
        #expect(table.take(4)?.wasOpen == false, "a call that is cancelled while it waits")
        #expect(table.answer(1, at: .zero)?.waiter == 1)
        #expect(table.answer(2, at: .zero)?.waiter == 2)
        #expect(table.nextTurn(hasRoom: true) == 3)
        #expect(table.nextTurn(hasRoom: true) == nil, "the third has to be made first, or the fifth overtakes it")
        #expect(table.enter(hasRoom: true) == .wait, "and so would a new one")
        #expect(table.open(3, 3, deadline: .seconds(1), waited: true) == true)
        #expect(table.nextTurn(hasRoom: true) == 5)
        #expect(table.open(5, 5, deadline: .seconds(1), waited: true) == true)
        #expect(!table.hasWaiting && table.count == 2)
    }

    @Test func `without room no waiting call gets its turn`() {
        var table = CallTable<Int>(limit: 9)
        #expect(make(&table, 1, 1, hasRoom: false) == .wait)
        #expect(make(&table, 2, 2, hasRoom: true) == .wait, "a new call does not overtake those that wait")
        #expect(table.nextTurn(hasRoom: false) == nil)
        #expect(table.nextTurn(hasRoom: true) == 1)
    }

    @Test func `a slot that is given back goes to the next call`() {
        var table = CallTable<Int>(limit: 1)
        #expect(table.enter(hasRoom: true) == .go)
        #expect(make(&table, 2, 2) == .wait)
        table.giveBack(waited: false)
        #expect(table.nextTurn(hasRoom: true) == 2)
        table.giveBack(waited: true)
        #expect(table.enter(hasRoom: true) == .go)
        #expect(table.count == 1)
    }

    @Test func `an answer to a call that was not made is dropped`() {
        var table = CallTable<Int>(limit: 1)
        _ = make(&table, 1, 1)
        _ = make(&table, 2, 2)
        #expect(table.answer(2, at: .zero)?.waiter == nil)
        #expect(table.answer(1, at: .zero)?.waiter == 1)
        #expect(table.nextTurn(hasRoom: true) == 2)
    }

    @Test func `the number of waiting calls is limited`() {
        var table = CallTable<Int>(limit: 1)
        for call in 0...UInt64(FrameLimits.waitingCalls) { _ = make(&table, call, 0) }
        #expect(make(&table, .max, 0) == .congested)
    }

    @Test func `a hundred thousand answered calls leave nothing behind`() {
        var table = CallTable<Int>(limit: 10)
        _ = make(&table, 0, -1, deadline: .seconds(5))
        for call in 1...100_000 {
            _ = make(&table, UInt64(call), call, deadline: .seconds(30))
            #expect(table.answer(UInt64(call), at: .zero)?.waiter == call)
        }
        #expect(table.count == 1)
        #expect(table.pendingDeadlines <= 65)
        #expect(table.nextDeadline() == .seconds(5))
        #expect(table.answer(0, at: .zero)?.waiter == -1)
    }
}
