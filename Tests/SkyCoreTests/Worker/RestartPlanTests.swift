import Testing

@testable import SkyCore

@Suite struct RestartPlanTests {
    @Test func `the pause doubles with each failure up to ten seconds, and a success resets it`() {
        var plan = RestartPlan()
        var now = ContinuousClock.now
        #expect(plan.pause(at: now) == nil)
        var pauses: [Duration] = []
        for _ in 1...9 {
            plan.failed(at: now)
            let pause = plan.pause(at: now) ?? .zero
            pauses.append(pause)
            now += pause
            #expect(plan.pause(at: now) == nil)
        }
        #expect(pauses.prefix(4) == [.milliseconds(100), .milliseconds(200), .milliseconds(400), .milliseconds(800)])
        #expect(pauses.suffix(2) == [.seconds(10), .seconds(10)])
        plan.succeeded()
        plan.failed(at: now)
        #expect(plan.pause(at: now) == .milliseconds(100))
    }

    @Test func `failures at the same moment count once`() {
        var plan = RestartPlan()
        let now = ContinuousClock.now
        for _ in 1...4 { plan.failed(at: now) }
        #expect(plan.pause(at: now) == .milliseconds(100))
    }

    @Test func `a worker gets a share of the memory, two gigabytes at least`() {
        #expect(MachineMemory.total >= 256 << 20)
        #expect(MachineMemory.shareOfWorker(among: 1) == max(2 << 30, MachineMemory.total))
        #expect(MachineMemory.shareOfWorker(among: 1_000_000) == 2 << 30)
    }
}
