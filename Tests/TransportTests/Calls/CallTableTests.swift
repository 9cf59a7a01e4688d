import Testing

@testable import Transport

@Suite struct CallTableTests {
    @Test func `an answer finds its caller once`() {
        var table = CallTable<String>()
        let call = table.open("a", deadline: .seconds(1)) ?? 0
        #expect(table.take(call) == "a")
        #expect(table.take(call) == nil, "a late or repeated answer is dropped")
    }

    @Test func `deadlines pass in their order, whatever the order of the calls`() {
        var table = CallTable<String>()
        _ = table.open("slow", deadline: .seconds(9))
        _ = table.open("fast", deadline: .seconds(1))
        #expect(table.nextDeadline() == .seconds(1))
        #expect(table.expire(at: .milliseconds(999)).isEmpty)
        #expect(table.expire(at: .seconds(1)).map(\.waiter) == ["fast"])
        #expect(table.nextDeadline() == .seconds(9))
        #expect(table.expire(at: .seconds(20)).map(\.waiter) == ["slow"])
        #expect(table.nextDeadline() == nil)
    }

    @Test func `an answered call does not expire`() {
        var table = CallTable<Int>()
        let call = table.open(1, deadline: .seconds(1)) ?? 0
        _ = table.take(call)
        #expect(table.nextDeadline() == nil)
        #expect(table.expire(at: .seconds(2)).isEmpty)
    }

    @Test func `a lost link takes all calls with it and lets no more in`() {
        var table = CallTable<Int>()
        for number in 0..<3 { _ = table.open(number, deadline: .seconds(1)) }
        #expect(table.close().sorted() == [0, 1, 2])
        #expect(table.open(4, deadline: .seconds(1)) == nil)
        #expect(table.count == 0)
    }

    @Test func `a hundred thousand answered calls leave nothing behind`() {
        var table = CallTable<Int>()
        let waiting = table.open(-1, deadline: .seconds(5)) ?? 0
        for number in 0..<100_000 {
            let call = table.open(number, deadline: .seconds(30)) ?? 0
            #expect(table.take(call) == number)
        }
        #expect(table.count == 1)
        #expect(table.pendingDeadlines <= 65)
        #expect(table.nextDeadline() == .seconds(5))
        #expect(table.take(waiting) == -1)
    }
}
