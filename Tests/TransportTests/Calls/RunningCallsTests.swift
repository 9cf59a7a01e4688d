import Testing

@testable import Transport

@Suite struct RunningCallsTests {
    @Test func `a call is cancelled by its handle, whenever the cancel comes`() {
        var calls = RunningCalls<String>(limit: 10)
        #expect(calls.begin(1, deadline: .seconds(1), unanswered: 0) == .run)
        #expect(calls.cancel(1) == nil, "its handle is not known yet")
        #expect(calls.started(1, "one") == "one", "so it is cancelled as soon as it is")
        #expect(calls.begin(2, deadline: .seconds(1), unanswered: 0) == .run)
        #expect(calls.started(2, "two") == nil)
        #expect(calls.cancel(2) == "two")
        calls.finished(2)
        #expect(calls.cancel(2) == nil)
        #expect(calls.cancel(99) == nil)
    }

    @Test func `a call that ended while it was started is not entered again`() {
        var calls = RunningCalls<String>(limit: 10)
        _ = calls.begin(1, deadline: .seconds(1), unanswered: 0)
        calls.finished(1)
        #expect(calls.started(1, "one") == nil)
        #expect(calls.count == 0)
    }

    @Test func `a call of a batch has the task of the batch only while it runs`() {
        var calls = RunningCalls<String>(limit: 10)
        for call: UInt64 in 1...3 { _ = calls.begin(call, deadline: .seconds(1), unanswered: 0) }
        #expect(calls.cancel(2) == nil)
        #expect(calls.begins(1, in: "batch") == true)
        #expect(calls.cancel(1) == "batch")
        calls.finished(1)
        #expect(calls.cancel(1) == nil)
        #expect(calls.begins(2, in: "batch") == false, "it was cancelled before its turn")
        #expect(calls.cancel(2) == nil, "so nobody gets the batch for it")
        #expect(calls.begins(3, in: "batch") == true)
        calls.moved(3, to: "its own")
        #expect(calls.cancelAll() == ["its own"])
        calls.finished(3)
        calls.moved(3, to: "another")
        #expect(calls.cancel(3) == nil)
        #expect(calls.count == 1)
    }

    @Test func `calls beyond the limit are refused, and far beyond it the peer is cut off`() {
        var calls = RunningCalls<Int>(limit: 10)
        var admissions: [RunningCalls<Int>.Admission] = []
        for call in 0..<20 { admissions.append(calls.begin(UInt64(call), deadline: .seconds(1), unanswered: 0)) }
        #expect(admissions.prefix(10).allSatisfy { $0 == .run })
        #expect(admissions.last == .busy)
        #expect(calls.begin(99, deadline: .seconds(1), unanswered: 200) == .abuse, "it reads no answers")
        #expect(calls.begin(0, deadline: .seconds(1), unanswered: 0) == .abuse, "the number is taken")
    }

    @Test func `calls end at their deadlines and with the link`() {
        var calls = RunningCalls<String>(limit: 10)
        for (call, name) in [(1, "short"), (2, "long"), (3, "done")] as [(UInt64, String)] {
            _ = calls.begin(call, deadline: .seconds(Int64(call)), unanswered: 0)
            _ = calls.started(call, name)
        }
        #expect(calls.nextDeadline() == .seconds(1))
        #expect(calls.expire(at: .seconds(1)) == ["short"])
        calls.finished(3)
        #expect(calls.nextDeadline() == .seconds(2))
        #expect(Set(calls.cancelAll()) == ["short", "long"])
    }
}
