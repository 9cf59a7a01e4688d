import NIOCore
import Testing

@testable import Transport

@Suite struct CallTableTests {
    /// Opens a call that has room, and tells whether it is to be sent.
    private func open<Waiter>(
        _ table: inout CallTable<Waiter>, _ call: UInt64, _ waiter: Waiter, deadline: Duration = .seconds(1),
        hasRoom: Bool = true
    ) -> CallTable<Waiter>.Admission {
        table.open(call, waiter, deadline: deadline, frame: Frame(.call, call: call), hasRoom: hasRoom)
    }

    @Test func `an answer finds its caller once`() {
        var table = CallTable<String>(limit: 10)
        #expect(open(&table, 1, "a") == .send)
        #expect(table.take(1)?.waiter == "a")
        #expect(table.take(1) == nil, "a late or repeated answer is dropped")
    }

    @Test func `deadlines pass in their order, whatever the order of the calls`() {
        var table = CallTable<String>(limit: 10)
        _ = open(&table, 1, "slow", deadline: .seconds(9))
        _ = open(&table, 2, "fast", deadline: .seconds(1))
        #expect(table.nextDeadline() == .seconds(1))
        #expect(table.expire(at: .milliseconds(999)).isEmpty)
        #expect(table.expire(at: .seconds(1)).map(\.waiter) == ["fast"])
        #expect(table.nextDeadline() == .seconds(9))
        #expect(table.expire(at: .seconds(20)).map(\.waiter) == ["slow"])
        #expect(table.nextDeadline() == nil)
    }

    @Test func `an answered call does not expire`() {
        var table = CallTable<Int>(limit: 10)
        _ = open(&table, 1, 1)
        _ = table.take(1)
        #expect(table.nextDeadline() == nil)
        #expect(table.expire(at: .seconds(2)).isEmpty)
    }

    @Test func `a lost link takes all calls with it and lets no more in`() {
        var table = CallTable<Int>(limit: 2)
        for call in 1...3 { _ = open(&table, UInt64(call), call) }
        let closed = table.close()
        #expect(closed.map(\.waiter).sorted() == [1, 2, 3])
        #expect(closed.filter { !$0.wasSent }.map(\.call) == [3], "the third cannot have run")
        #expect(open(&table, 4, 4) == .closed)
        #expect(table.count == 0 && !table.hasWaiting)
    }

    @Test func `calls beyond the other side's limit wait and go in order as others end`() {
        var table = CallTable<Int>(limit: 2)
        let admissions = (1...5).map { open(&table, $0, Int($0)) }
        #expect(admissions == [.send, .send, .wait, .wait, .wait])
        #expect(table.nextToSend() == nil)
        #expect(table.take(4)?.wasSent == false, "a call that is cancelled while it waits")
        _ = table.take(1)
        #expect(table.nextToSend()?.call == 3)
        #expect(table.nextToSend() == nil)
        _ = table.take(2)
        _ = table.take(3)
        #expect(table.nextToSend()?.call == 5)
        #expect(!table.hasWaiting)
    }

    @Test func `a new call does not overtake those that wait`() {
        var table = CallTable<Int>(limit: 9)
        #expect(open(&table, 1, 1, hasRoom: false) == .wait)
        #expect(open(&table, 2, 2, hasRoom: true) == .wait)
        #expect(table.nextToSend()?.call == 1)
        #expect(table.nextToSend()?.call == 2)
    }

    @Test func `waiting has an end too`() {
        var table = CallTable<Int>(limit: 1)
        for call in 0...UInt64(FrameLimits.waitingCalls) { _ = open(&table, call, 0) }
        #expect(open(&table, .max, 0) == .congested)
    }

    @Test func `a hundred thousand answered calls leave nothing behind`() {
        var table = CallTable<Int>(limit: 10)
        _ = open(&table, 0, -1, deadline: .seconds(5))
        for call in 1...100_000 {
            _ = open(&table, UInt64(call), call, deadline: .seconds(30))
            #expect(table.take(UInt64(call))?.waiter == call)
        }
        #expect(table.count == 1)
        #expect(table.pendingDeadlines <= 65)
        #expect(table.nextDeadline() == .seconds(5))
        #expect(table.take(0)?.waiter == -1)
    }
}
