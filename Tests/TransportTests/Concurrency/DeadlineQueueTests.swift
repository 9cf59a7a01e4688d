import Testing

@testable import Transport

@Suite struct DeadlineQueueTests {
    @Test func `deadlines are due in their order, in whatever order they came`() {
        var queue = DeadlineQueue()
        let seconds = [5, 6, 2, 6, 9, 1, 7, 9, 3]
        for (call, second) in seconds.enumerated() { queue.insert(UInt64(call), at: .seconds(second)) }
        #expect(queue.count == seconds.count)
        #expect(queue.next { _ in true } == .seconds(1))
        #expect(queue.popDue(at: .milliseconds(999)) == nil)
        var due: [Int] = []
        for now in 1...9 {
            while let call = queue.popDue(at: .seconds(now)) { due.append(seconds[Int(call)]) }
            #expect(due == seconds.filter { $0 <= now }.sorted())
        }
        #expect(queue.count == 0)
    }

    @Test func `the next deadline is that of a call that lives`() {
        var queue = DeadlineQueue()
        for (call, second) in [3, 1, 4, 2].enumerated() { queue.insert(UInt64(call), at: .seconds(second)) }
        #expect(queue.next { $0 == 0 || $0 == 2 } == .seconds(3))
        #expect(queue.next { $0 == 2 } == .seconds(4))
        #expect(queue.next { _ in false } == nil)
        #expect(queue.count == 0)
    }

    @Test func `deadlines of ended calls do not pile up`() {
        var queue = DeadlineQueue()
        for call in 0..<10_000 {
            queue.insert(UInt64(call), at: .seconds(call.isMultiple(of: 3) ? 1 : 30))
            queue.forgetDead(living: 1) { $0 == UInt64(call) }
            #expect(queue.count <= 65)
        }
    }
}
