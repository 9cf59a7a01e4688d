import Testing

@testable import SkyCore

@Suite struct EventLogTests {
    @Test func `events are numbered and returned from the requested position`() {
        var log = EventLog()
        for number in 0..<10 { log.append(.failed(task: "\(number)", reason: ""), time: .zero) }
        #expect(log.events(from: 7, count: 100).map(\.number) == [7, 8, 9])
        #expect(log.events(from: 2, count: 3).map(\.number) == [2, 3, 4])
        #expect(log.events(from: 10, count: 5).isEmpty)
    }

    @Test func `absurd positions give nothing or everything, and never trap`() {
        var log = EventLog()
        log.append(.failed(task: "", reason: ""), time: .zero)
        #expect(log.events(from: .min, count: .max).count <= 1)
        #expect(log.events(from: .max, count: 1).isEmpty)
        #expect(log.events(from: 0, count: .min).isEmpty)
    }

    @Test func `a long history is cut at its old end, and the numbers go on`() {
        var log = EventLog()
        for _ in 0..<100_000 { log.append(.failed(task: "", reason: ""), time: .zero) }
        let kept = log.events(from: 0, count: 100_000)
        #expect(kept.count <= 2 * EventLog.limit && kept.count >= EventLog.limit)
        #expect(kept.last?.number == 99_999)
        #expect(log.nextNumber == 100_000)
    }

    @Test func `every n-th simulated task fails its first attempt`() {
        var request = SimulateRequest(tasks: 20, duration: .seconds(1))
        request.failEvery = 10
        let plan = SimulatePlan(request: request)
        let failing = (0..<20).filter { plan.task($0)?.rehearsal.failsFirstAttempt == true }
        #expect(failing == [9, 19])
        #expect(plan.task(20) == nil && plan.task(-1) == nil)
    }
}
