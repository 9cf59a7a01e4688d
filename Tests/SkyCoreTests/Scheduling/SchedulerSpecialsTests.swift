import Testing
import Transport

@testable import SkyCore

@Suite("Scheduler: turns, speculative attempts and suspects")
struct SchedulerSpecialsTests {
    let local = SchedulerStory.local
    let east = SchedulerStory.east
    let west = SchedulerStory.west

    private func attempt(_ job: JobID, _ task: Int, _ number: Int = 1) -> AttemptID {
        AttemptID(job: job, task: TaskID(task), number: number)
    }

    private func options(_ change: (inout JobOptions) -> Void) -> JobOptions {
        var options = JobOptions()
        change(&options)
        return options
    }

    @Test func `a higher priority goes first, and equal priorities get equal numbers of slots`() {
        var story = SchedulerStory()
        let (low, high, other) = (JobID(rawValue: 1), JobID(rawValue: 2), JobID(rawValue: 3))
        story.handle(.submitted(low, tasks: 100))
        story.handle(.submitted(high, tasks: 3, options { $0.priority = 1 }))
        story.handle(.submitted(other, tasks: 100))
        story.handle(.nodeJoined(east))
        let runs = story.lease(east, 9).runs.map(\.attempt.job)
        #expect(runs.prefix(3) == [high, high, high])
        #expect(runs.count { $0 == low } == 3 && runs.count { $0 == other } == 3)
        // One job's tasks are long, the other's short: each keeps its three slots.
        for task in 0..<50 { story.handle(.succeeded(attempt(other, task), on: east, took: .seconds(1))) }
        #expect(story.scheduler.progress(of: low)?.running == 3)
    }

    @Test func `only the nodes that a job names get its tasks, and the job waits for them`() {
        var story = SchedulerStory()
        story.handle(.nodeJoined(east, name: "east"))
        story.lease(east, 2)
        let used = story.handle(.submitted(SchedulerStory.job, tasks: 4, options { $0.use = ["west"] }))
        #expect(used.runs.isEmpty && used.demands.isEmpty)
        story.handle(.nodeJoined(west, name: "west"))
        #expect(story.lease(west, 1).runs.map(\.node) == [west])
        // A retry does not go elsewhere either, nor does it fail while nobody is there.
        story.handle(.failed(attempt(SchedulerStory.job, 0), on: west, .fault("x")))
        #expect(story.handle(.nodeLost(west)).failures.isEmpty)
        #expect(story.wait(.seconds(10)).runs.isEmpty)
        story.handle(.nodeJoined(west, name: "west"))
        #expect(story.lease(west, 4).runs.count == 4)
    }

    @Test func `tasks queue on a node only if they are short`() {
        var story = SchedulerStory([east: 2])
        story.submit(1000)
        #expect(story.scheduler.running(on: east) == 2, "nothing is known of them yet")
        for task in 0..<2 {
            story.handle(.succeeded(attempt(SchedulerStory.job, task), on: east, took: .milliseconds(1)))
        }
        #expect(story.scheduler.running(on: east) == 40, "20 ms of work for each slot")
        story = SchedulerStory([east: 2])
        story.submit(1000)
        story.handle(.succeeded(attempt(SchedulerStory.job, 0), on: east, took: .seconds(1)))
        #expect(story.scheduler.running(on: east) == 2)
    }

    @Test func `the last task of a slow node is tried on an idle one, and the first result counts`() {
        var story = SchedulerStory([east: 1, west: 1])
        story.submit(3)
        story.now = .seconds(1)
        story.handle(.succeeded(attempt(SchedulerStory.job, 0), on: east, took: .seconds(1)))
        story.now = .seconds(2)
        #expect(story.handle(.succeeded(attempt(SchedulerStory.job, 2), on: east, took: .seconds(1))).runs.isEmpty)
        // Its slots have been given back by then, and are demanded again.
        #expect(story.wait(.milliseconds(100)).demands[east] == 1)
        let speculative = (story.lease(east, 1) + story.wait(.milliseconds(50))).runs
        #expect(speculative.map(\.attempt) == [attempt(SchedulerStory.job, 1, 2)] && speculative.map(\.node) == [east])
        let end = story.handle(.succeeded(attempt(SchedulerStory.job, 1, 2), on: east, took: .seconds(1)))
        #expect(end.contains(.stop(attempt(SchedulerStory.job, 1), on: west)))
        #expect(end.outcome == JobOutcome(completed: 3, failed: 0, cancelled: 0, retries: 0))
        let late = story.handle(.succeeded(attempt(SchedulerStory.job, 1), on: west, took: .seconds(3)))
        #expect(late.contains(.discarded(attempt(SchedulerStory.job, 1))))
    }

    @Test func `a node that takes all tasks and never reports anything does not block their job`() {
        var story = SchedulerStory([SchedulerStory.east: 2])
        #expect(story.submit(2).runs.map(\.node) == [SchedulerStory.east, SchedulerStory.east])
        story.handle(.nodeJoined(SchedulerStory.west))
        #expect(story.lease(SchedulerStory.west, 2).runs.isEmpty)
        #expect(story.wait(.seconds(59)).runs.isEmpty, "they may take that long")
        let speculative = (story.wait(.seconds(2)) + story.lease(SchedulerStory.west, 2)).runs
        #expect(speculative.map(\.node) == [SchedulerStory.west, SchedulerStory.west])
    }

    @Test func `a failed speculative attempt leaves the other attempt alone`() {
        var story = SchedulerStory([east: 1, west: 1])
        story.submit(3)
        story.now = .seconds(2)
        story.handle(.succeeded(attempt(SchedulerStory.job, 0), on: east, took: .seconds(1)))
        story.handle(.succeeded(attempt(SchedulerStory.job, 2), on: east, took: .seconds(1)))
        #expect((story.wait(.milliseconds(100)) + story.lease(east, 1)).runs.count == 1)
        let failed = story.handle(.failed(attempt(SchedulerStory.job, 1, 2), on: east, .fault("x")))
        #expect(failed.delays.isEmpty && failed.failures.isEmpty)
        #expect(story.handle(.succeeded(attempt(SchedulerStory.job, 1), on: west)).outcome?.completed == 3)
    }

    @Test func `a task that kills its nodes is identified, and its neighbours are not blamed`() {
        var story = SchedulerStory()
        let poison = 2
        story.submit(8)
        var lost: [String] = []
        var completed: Set<Int> = []
        var next: UInt64 = 100
        var actions: [JobScheduler.Action] = []
        for _ in 0..<40 where actions.outcome == nil {
            let node = NodeID(rawValue: next)
            next += 1
            story.now += .seconds(3)
            actions = story.handle(.nodeJoined(node)) + story.lease(node, 4)
            var queue = actions.runs.map(\.attempt)
            // Everything well ends before the poison takes effect, but what stands beside it never does.
            while let attempt = queue.first(where: { $0.task.index != poison }),
                !queue.contains(where: { $0.task.index == poison })
            {
                queue.removeAll { $0 == attempt }
                completed.insert(attempt.task.index)
                let more = story.handle(.succeeded(attempt, on: node, took: .seconds(1)))
                queue += more.runs.map(\.attempt)
                actions += more
            }
            let end = story.handle(.nodeLost(node))
            lost += end.failures
            actions += end
        }
        #expect(lost.count == 1 && lost[0].hasPrefix("poison: 5 nodes died"), "\(lost)")
        #expect(completed == Set(0..<8).subtracting([poison]), "\(completed)")
        #expect(
            actions.outcome == JobOutcome(completed: 7, failed: 1, cancelled: 0, retries: actions.outcome?.retries ?? 0)
        )
    }

    /// Found by the simulation: it waited for the other node for ever.
    @Test func `a suspect task runs alone on the local node if its job may use no other`() {
        var story = SchedulerStory()
        story.handle(.nodeJoined(local, name: "local"))
        story.handle(.nodeJoined(east, name: "east"))
        story.lease(local, 2)
        story.lease(east, 2)
        let risks = (10...12).map { TaskRisk(task: 0, node: NodeID(rawValue: $0), isAlone: false) }
        let runs = story.handle(
            .restored(
                SchedulerStory.job, tasks: 1, completed: FinishedTasks(sorted: []), failed: FinishedTasks(sorted: []),
                risks: risks, isSealed: true, options { $0.avoid = ["east"] })
        ).runs
        #expect((runs + story.wait(.seconds(1)).runs).map(\.node) == [local])
    }

    /// Found by the simulation of copies (seed 865522): it waited for ever.
    @Test func `a suspect task ends where no node that is left can reach its input`() {
        var story = SchedulerStory()
        for node in [local, east, west] { story.handle(.nodeJoined(node)) }
        let risks = (10...11).map { TaskRisk(task: 0, node: NodeID(rawValue: $0), isAlone: false) }
        story.handle(
            .restored(
                SchedulerStory.job, tasks: 1, completed: FinishedTasks(sorted: []), failed: FinishedTasks(sorted: []),
                risks: risks, isSealed: true, options { _ in }))
        for node in [east, local] {
            let runs = story.lease(node, 1).runs + story.wait(.seconds(60)).runs
            #expect(runs.map(\.node) == [node])
            for run in runs {
                let actions = story.handle(.failed(run.attempt, on: node, .unavailable("no such file")))
                #expect(actions.outcome == nil, "there is a third node")
            }
        }
        #expect((story.lease(west, 1).runs + story.wait(.seconds(60)).runs).map(\.node) == [west])
        let actions = story.handle(.nodeLost(west))
        #expect(
            actions.failures.count == 1 && actions.failures[0].hasPrefix("no node can reach its input: "),
            "\(actions.failures)")
        #expect(actions.outcome?.failed == 1)
    }

    @Test func `a job of an earlier incarnation goes on with its missing tasks`() {
        var scheduler = JobScheduler(localNode: local, generation: 2, seed: 1)
        _ = scheduler.handle(.nodeJoined(east), now: .zero)
        _ = scheduler.handle(.leased(east, slots: 2, fencingToken: 1), now: .zero)
        let job = SchedulerStory.job
        let runs = scheduler.handle(
            .restored(
                job, tasks: 10, completed: FinishedTasks(sorted: [0, 1, 2, 5]), failed: FinishedTasks(sorted: [3]),
                isSealed: true, JobOptions()), now: .zero
        ).runs
        #expect(runs.map(\.attempt.task.index) == [4, 6] && runs.allSatisfy { $0.attempt.generation == 2 })
        // A result of an attempt of the earlier incarnation counts; a copy of it does not.
        let old = AttemptID(job: job, task: 7, number: 1, generation: 1)
        #expect(scheduler.handle(.succeeded(old, on: west), now: .zero).contains(.completed(old, on: west)))
        #expect(scheduler.handle(.succeeded(old, on: west), now: .zero).contains(.discarded(old)))
        // An attempt that still runs counts too: that task gets no other attempt meanwhile.
        _ = scheduler.handle(.nodeJoined(west), now: .zero)
        let running = AttemptID(job: job, task: 8, number: 1, generation: 1)
        _ = scheduler.handle(.adopted(running, on: west), now: .zero)
        let next = scheduler.handle(.succeeded(runs[0].attempt, on: east, took: .seconds(9)), now: .zero).runs
        #expect(next.map(\.attempt.task.index) == [9])
        let done = AttemptID(job: job, task: 0, number: 1, generation: 1)
        #expect(scheduler.handle(.adopted(done, on: west), now: .zero).contains(.stop(done, on: west)))
    }
}
