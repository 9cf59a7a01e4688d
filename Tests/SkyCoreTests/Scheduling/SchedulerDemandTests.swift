import SkyCore
import Testing
import Transport

@Suite("Scheduler: wishes for slots")
struct SchedulerDemandTests {
    let east = SchedulerStory.east
    let west = SchedulerStory.west

    @Test("wishes for what waits, on every node, and at most for the limit")
    func wishesForWhatWaits() {
        var story = SchedulerStory([east: 0, west: 0])
        #expect(story.submit(8).demands == [east: 8, west: 8])
        #expect(story.submit(1_000_000, as: JobID(rawValue: 7)).demands == [east: 4096, west: 4096])
    }

    @Test("says a wish only when it changes")
    func saysNothingTwice() {
        var story = SchedulerStory([east: 2])
        story.submit(100_000)
        for task in 0..<1000 {
            story.now += .milliseconds(10)
            #expect(story.tell(.succeeded(attempt(task), on: east)).demands.isEmpty)
        }
    }

    @Test("gives back what is idle, a moment after nothing waits")
    func givesBack() {
        var story = SchedulerStory([east: 0, west: 0])
        #expect(story.submit(3).demands == [east: 4, west: 4])
        story.lease(east, 2)
        #expect(story.lease(west, 4).runs.count == 1)
        #expect(story.wait(.milliseconds(50)).demands == [east: 2, west: 1])
        story.tell(.succeeded(attempt(0), on: east, took: .seconds(60)))
        #expect(story.wait(.milliseconds(50)).demands == [east: 1])
        #expect(story.scheduler.nextWake == .seconds(120) + .milliseconds(1), "two tasks that may take long")
    }

    @Test("counts tasks in back-off as waiting")
    func backOffWaits() {
        var story = SchedulerStory([east: 1, west: 1])
        story.submit(1)
        story.tell(.failed(attempt(0), on: east, .fault("x")))
        #expect(story.tell(.nodeJoined(NodeID(rawValue: 9))).demands == [NodeID(rawValue: 9): 1])
    }

    @Test("wishes again on a node that has forgotten us")
    func wishesAgain() {
        var story = SchedulerStory([east: 1])
        story.submit(4)
        let actions = story.tell(.leaseLost(east))
        #expect(actions.demands[east] ?? 0 >= 3)
        #expect(story.tell(.failed(attempt(0), on: east, .nodeLost("lease ran out"))).runs.isEmpty)
    }

    @Test("wishes on a draining node for no more than what runs there")
    func drains() {
        var story = SchedulerStory([east: 1])
        story.submit(8)
        story.tell(.nodeDraining(east, true))
        #expect(story.wait(.milliseconds(50)).demands == [east: 1])
    }
}
