import SkyCore
import Testing
import Transport

@Suite("Scheduler: where tasks go")
struct SchedulerPlacementTests {
    let local = SchedulerStory.local
    let east = SchedulerStory.east
    let west = SchedulerStory.west

    @Test("sends first attempts to every node with a leased slot, also the local one, and never more than leased")
    func fillsSlots() {
        var story = SchedulerStory([local: 1, east: 2, west: 1])
        let runs = story.submit(10).runs
        #expect(runs.count == 4)
        for (node, slots) in [(local, 1), (east, 2), (west, 1)] {
            #expect(runs.count { $0.node == node } == slots)
        }
    }

    @Test("sends the next task when a slot comes free, and at once when more is leased")
    func isEventDriven() {
        var story = SchedulerStory([east: 1])
        story.submit(3)
        #expect(story.handle(.succeeded(attempt(0), on: east, took: .seconds(1))).runs.map(\.attempt) == [attempt(1)])
        #expect(story.lease(east, 2).runs.map(\.attempt) == [attempt(2)])
    }

    @Test("sends nothing more when a lease shrinks below what runs")
    func respectsShrunkLease() {
        var story = SchedulerStory([east: 3])
        story.submit(6)
        story.lease(east, 1)
        #expect(story.handle(.succeeded(attempt(0), on: east, took: .seconds(1))).runs.isEmpty)
        #expect(story.handle(.succeeded(attempt(1), on: east, took: .seconds(1))).runs.isEmpty)
        #expect(story.handle(.succeeded(attempt(2), on: east, took: .seconds(1))).runs.count == 1)
    }

    @Test("ignores a lease that is older than one already seen")
    func ignoresOldLeases() {
        var story = SchedulerStory()
        story.handle(.nodeJoined(east))
        story.submit(5)
        story.handle(.leased(east, slots: 1, fencingToken: 7))
        #expect(story.handle(.leased(east, slots: 5, fencingToken: 6)).runs.isEmpty)
        #expect(story.handle(.leased(east, slots: 2, fencingToken: 8)).runs.count == 1)
    }

    @Test("no task waits for a node without slots, until it has some")
    func slotlessNode() {
        // It failed on the only node with slots, so it goes there again, and does not wait for one where it has not failed.
        func retried(areKnown: Bool) -> [NodeID] {
            var story = SchedulerStory([local: 0, east: 1, west: 0])
            for (node, token) in [(local, 100), (west, 101)] as [(NodeID, UInt64)] where areKnown {
                story.handle(.leased(node, slots: 0, fencingToken: token, hasNoSlots: true))
            }
            story.submit(1)
            story.handle(.failed(attempt(0), on: east, .fault("it fell")))
            return story.wait(.seconds(2)).runs.map(\.node)
        }
        #expect(retried(areKnown: true) == [east])
        #expect(retried(areKnown: false).isEmpty)
        // The file is not there, and no node is left that might have it.
        var story = SchedulerStory([east: 1, west: 0])
        story.submit(1)
        #expect(story.handle(.failed(attempt(0), on: east, .unavailable("no such file"))).outcome == nil)
        let last = story.handle(.leased(west, slots: 0, fencingToken: 101, hasNoSlots: true))
        #expect(last.outcome?.failed == 1)
        // It is asked for slots all the same, and used as soon as it lends some.
        story.submit(1, as: JobID(rawValue: 0xB))
        story.handle(.nodeLost(east))
        #expect(story.handle(.leased(west, slots: 1, fencingToken: 102)).runs.map(\.node) == [west])
    }

    @Test("prefers the node with the smallest share of its slots in use")
    func leastLoadedFirst() {
        var story = SchedulerStory([east: 4, west: 2])
        #expect(story.submit(6).runs.map(\.node) == [east, west, east, east, west, east])
    }

    @Test("prefers the local node among equal ones, whatever the order")
    func localFirst() {
        let before = NodeID(rawValue: 0)
        for nodes in [[before, local, east], [east, local, before], [local, east, before]] {
            var story = SchedulerStory()
            for node in nodes {
                story.handle(.nodeJoined(node))
                story.lease(node, 1)
            }
            #expect(story.submit(3).runs.map(\.node) == [local, before, east])
        }
    }

    @Test("prefers the faster of equally loaded nodes, and tries a slow one again after a while")
    func fasterFirst() {
        var policy = SchedulerPolicy()
        policy.releaseDelay = .seconds(10_000)
        var story = SchedulerStory([east: 1, west: 1], policy: policy)
        #expect(story.handle(.submitted(SchedulerStory.job, tasks: 2)).runs.map(\.node) == [east, west])
        story.now = .milliseconds(100)
        story.handle(.succeeded(attempt(1), on: west))
        story.now = .milliseconds(900)
        story.handle(.succeeded(attempt(0), on: east, took: .seconds(1)))
        #expect(story.handle(.tasksAdded(SchedulerStory.job, count: 1)).runs.map(\.node) == [west])
        story.handle(.succeeded(attempt(2), on: west))
        story.wait(.seconds(300))
        #expect(story.handle(.tasksAdded(SchedulerStory.job, count: 1)).runs.map(\.node) == [east])
    }

    @Test("lets jobs take turns")
    func roundRobin() {
        let (first, second) = (JobID(rawValue: 1), JobID(rawValue: 2))
        var story = SchedulerStory()
        story.submit(3, as: first)
        story.submit(3, as: second)
        story.handle(.nodeJoined(east))
        #expect(story.lease(east, 6).runs.map(\.attempt.job) == [first, second, first, second, first, second])
    }

    @Test("sends nothing to a draining node until it resumes")
    func drains() {
        var story = SchedulerStory([east: 2])
        story.handle(.nodeDraining(east, true))
        #expect(story.submit(2).runs.isEmpty)
        #expect(story.handle(.nodeDraining(east, false)).runs.count == 2)
    }

    @Test("takes absurd numbers for what they are")
    func toleratesAbsurdNumbers() {
        var story = SchedulerStory([east: 1])
        story.lease(east, .max)
        story.lease(east, .min)
        #expect(story.submit(.min).outcome == JobOutcome())
        let other = JobID(rawValue: 9)
        story.handle(.submitted(other, tasks: .max))
        story.handle(.tasksAdded(other, count: .max))
        story.lease(east, 1)
        for number in [Int.min, -1, 0, 2, .max] {
            for task in [Int.min, -1, 0, .max] {
                let forged = AttemptID(job: other, task: TaskID(task), number: number)
                #expect(story.handle(.succeeded(forged, on: east)).withoutDemands == [.discarded(forged)])
                #expect(story.handle(.failed(forged, on: west, .fault("x"))).withoutDemands == [])
            }
        }
        #expect(story.scheduler.progress(of: other)?.running == 1)
    }
}
