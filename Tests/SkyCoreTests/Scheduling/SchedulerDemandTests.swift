import Testing
import Transport

@testable import SkyCore

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

    @Test func `while nothing can be stored, slots that are not used are given back, and wanted again at once`() {
        var story = SchedulerStory([east: 2, west: 2])
        story.submit(100)
        #expect(story.handle(.suspended(true)).demands.isEmpty, "a lower demand waits a moment")
        #expect(story.wait(.milliseconds(50)).demands == [east: 2, west: 2])
        story.handle(.succeeded(attempt(0), on: east))
        #expect(story.wait(.milliseconds(50)).demands == [east: 1])
        #expect(story.submit(1000, as: JobID(rawValue: 7)).demands.isEmpty)
        #expect(story.handle(.nodeJoined(NodeID(rawValue: 9))).demands.isEmpty)
        let again = story.handle(.suspended(false)).demands
        #expect(Set(again.keys) == [east, west, NodeID(rawValue: 9)] && again.values.allSatisfy { $0 > 1000 })
    }

    @Test func `of a node that is emptied for one task, the slots of the others are given back`() {
        var story = SchedulerStory()
        story.submit(1)
        for suspect in 0..<3 as Range<UInt64> {
            let node = NodeID(rawValue: 100 + suspect)
            story.handle(.nodeJoined(node))
            story.lease(node, 1)
            story.handle(.nodeLost(node))
        }
        story.handle(.nodeJoined(east))
        story.submit(50, as: JobID(rawValue: 7))
        story.lease(east, 4)
        let demands = story.wait(.milliseconds(50)).demands
        #expect(demands == [east: story.scheduler.running(on: east)])
    }

    // MARK: - Jobs for some nodes

    private func options(use: Set<String> = [], avoid: Set<String> = [], priority: Int = 0) -> JobOptions {
        var options = JobOptions()
        (options.use, options.avoid, options.priority) = (use, avoid, priority)
        return options
    }

    /// Nodes with names and no slots.
    private func named(_ nodes: [NodeID: String]) -> SchedulerStory {
        var story = SchedulerStory()
        for (node, name) in nodes.sorted(by: { $0.key < $1.key }) { story.handle(.nodeJoined(node, name: name)) }
        return story
    }

    /// Numbers of tasks that wait for a node that is not there, and of tasks for any node. Rounded up together they often are the same
    /// as the first alone.
    private static let shapes = [(3, 1), (40, 20), (40, 30), (100, 20), (5000, 20), (4096, 1), (1_000_000, 1)]

    @Test(arguments: shapes) func `tasks that no node may take do not hide others`(shape: (Int, Int)) {
        for restricted in [
            options(use: ["nowhere"]), options(avoid: ["east", "west"]), options(use: ["x"], priority: 9),
        ] {
            var story = named([east: "east", west: "west"])
            #expect(story.submit(shape.0, as: JobID(rawValue: 1), options: restricted).demands.isEmpty)
            let free = story.submit(shape.1).demands
            #expect(free[east] ?? 0 >= shape.1 && free[west] ?? 0 >= shape.1, "\(shape)")
            #expect(free[east] ?? 0 < 2 * shape.1)
            #expect(story.lease(east, 1).runs.map(\.attempt.job) == [SchedulerStory.job])
        }
    }

    @Test(arguments: shapes) func `tasks for a full node do not hide others, and are demanded there only`(
        shape: (Int, Int)
    ) {
        var story = named([east: "east", west: "west"])
        let demands = story.submit(shape.0, as: JobID(rawValue: 1), options: options(use: ["east"])).demands
        #expect(demands[east] ?? 0 >= min(shape.0, 4096) && demands[west] == nil)
        let free = story.submit(shape.1).demands
        #expect(free[west] ?? 0 >= shape.1 && free[west] ?? 0 < 2 * shape.1)
        #expect(story.lease(west, 1).runs.map(\.attempt.job) == [SchedulerStory.job])
    }

    @Test func `a job that waited for a node is demanded there when it joins, and not when it has left`() {
        var story = named([east: "east"])
        story.submit(40, as: JobID(rawValue: 1), options: options(use: ["west"]))
        story.submit(20)
        #expect(story.handle(.nodeJoined(west, name: "west")).demands == [west: 64 + 32])
        #expect(story.lease(west, 1).runs.count == 1)
        story.handle(.nodeLost(west))
        #expect(story.submit(1, as: JobID(rawValue: 2)).demands[east] == nil, "it is counted in powers of two")
        #expect(story.submit(40, as: JobID(rawValue: 3)).demands == [east: 64])
        let again = NodeID(rawValue: 77)
        #expect(story.handle(.nodeJoined(again, name: "west")).demands[again] ?? 0 >= 40 + 61)
    }

    @Test func `a person at their limit demands no more, for whichever nodes their jobs are`() {
        var story = named([east: "east", west: "west"])
        let alice = JobSubmitter("alice", slots: 2)
        story.handle(.submitted(JobID(rawValue: 1), tasks: 1000, options(use: ["east"]), by: alice))
        story.handle(.submitted(JobID(rawValue: 2), tasks: 1000, options(use: ["east"], priority: 1), by: alice))
        story.handle(.submitted(JobID(rawValue: 3), tasks: 1000, options(), by: alice))
        #expect(story.scheduler.jobs.waiting(for: east) == 2 && story.scheduler.jobs.waiting(for: west) == 2)
        story.lease(east, 2)
        #expect(story.scheduler.jobs.waiting(for: west) == 0)
        #expect(story.submit(1).demands[west] == nil, "two are held by now, and one waits")
        #expect(story.lease(west, 2).runs.map(\.attempt.job) == [SchedulerStory.job])
    }

    @Test func `a task that waits for a node of its own does not keep others from one`() {
        var story = SchedulerStory()
        var suspects: [NodeID] = []
        func lose(_ job: UInt64, named name: String) {
            story.handle(.submitted(JobID(rawValue: job), tasks: 1, options(use: [name])))
            story.handle(.noMoreTasks(JobID(rawValue: job)))
            for _ in 0..<3 {
                let node = NodeID(rawValue: UInt64(100 + suspects.count))
                suspects.append(node)
                story.handle(.nodeJoined(node, name: name))
                story.lease(node, 1)
                story.handle(.nodeLost(node))
            }
        }
        lose(1, named: "gone")
        lose(2, named: "back")
        let back = NodeID(rawValue: 9)
        story.handle(.nodeJoined(back, name: "back"))
        #expect(story.lease(back, 1).runs.map(\.attempt.job) == [JobID(rawValue: 2)])
    }

    @Test func `the last tasks get speculative attempts although others wait for a node that is not there`() {
        var story = named([east: "east", west: "west"])
        story.submit(10, as: JobID(rawValue: 1), options: options(use: ["nowhere"]))
        story.submit(2)
        story.lease(east, 2)
        story.handle(.succeeded(attempt(0), on: east, took: .milliseconds(100)))
        story.now += .seconds(5)
        story.wait(.seconds(1))
        #expect(story.lease(west, 1).runs.map(\.attempt) == [attempt(1, 2)])
    }

    @Test func `thousands of jobs for a node that is not there cost the others nothing`() {
        var story = named([east: "east"])
        for job in 0..<5000 as Range<UInt64> {
            story.submit(1, as: JobID(rawValue: 1000 + job), options: options(use: ["nowhere\(job % 700)"]))
        }
        story.submit(2000)
        story.lease(east, 2)
        let scheduler = story.scheduler
        #expect(scheduler.jobs.selections.active.count == 1 && scheduler.jobs.selections.rotating == 1)
        story.handle(.nodeJoined(west, name: "nowhere7"))
        #expect(story.scheduler.jobs.selections.rotating == 9, "5000 jobs in 700 kinds")
    }
}
