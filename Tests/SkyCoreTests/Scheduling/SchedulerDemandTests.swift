import SkyCore
import Testing
import Transport

@Suite("Scheduler: demands for slots")
struct SchedulerDemandTests {
    let east = SchedulerStory.east
    let west = SchedulerStory.west

    @Test("demands slots for waiting tasks on every node, up to the limit")
    func demandsForWaitingTasks() {
        var story = SchedulerStory([east: 0, west: 0])
        #expect(story.submit(8).demands == [east: 8, west: 8])
        #expect(story.submit(1_000_000, as: JobID(rawValue: 7)).demands == [east: 4096, west: 4096])
    }

    @Test("sends a demand only when it changes")
    func saysNothingTwice() {
        var story = SchedulerStory([east: 2])
        story.submit(100_000)
        for task in 0..<1000 {
            story.now += .milliseconds(10)
            #expect(story.handle(.succeeded(attempt(task), on: east)).demands.isEmpty)
        }
    }

    @Test("gives back idle slots a moment after the last task has started")
    func givesBack() {
        var story = SchedulerStory([east: 0, west: 0])
        #expect(story.submit(3).demands == [east: 4, west: 4])
        story.lease(east, 2)
        #expect(story.lease(west, 4).runs.count == 1)
        #expect(story.wait(.milliseconds(50)).demands == [east: 2, west: 1])
        story.handle(.succeeded(attempt(0), on: east, took: .seconds(60)))
        #expect(story.wait(.milliseconds(50)).demands == [east: 1])
        #expect(story.scheduler.nextWake == .seconds(120) + .milliseconds(1), "two tasks that may take long")
    }

    @Test("counts tasks in back-off as waiting")
    func backOffWaits() {
        var story = SchedulerStory([east: 1, west: 1])
        story.submit(1)
        story.handle(.failed(attempt(0), on: east, .fault("x")))
        #expect(story.handle(.nodeJoined(NodeID(rawValue: 9))).demands == [NodeID(rawValue: 9): 1])
    }

    @Test("sends the demand again to a node that has lost the lease")
    func demandsAgain() {
        var story = SchedulerStory([east: 1])
        story.submit(4)
        let actions = story.handle(.leaseLost(east))
        #expect(actions.demands[east] ?? 0 >= 3)
        #expect(story.handle(.failed(attempt(0), on: east, .nodeLost("lease ran out"))).runs.isEmpty)
    }

    @Test("demands from a draining node only the slots in use there")
    func drains() {
        var story = SchedulerStory([east: 1])
        story.submit(8)
        story.handle(.nodeDraining(east, true))
        #expect(story.wait(.milliseconds(50)).demands == [east: 1])
    }
}
