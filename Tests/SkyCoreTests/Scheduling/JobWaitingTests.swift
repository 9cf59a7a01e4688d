import Testing
import Transport

@testable import SkyCore

@Suite("Scheduler: what a job waits for") struct JobWaitingTests {
    let east = SchedulerStory.east
    let west = SchedulerStory.west
    let job = SchedulerStory.job

    private func met(_ story: SchedulerStory, _ kind: JobWaiting.Requirement.Kind) -> Int? {
        story.scheduler.waiting(of: job, now: story.now, limit: 5)?.requirements.first { $0.kind == kind }?.met
    }

    @Test func `each requirement counts the nodes that meet it and all earlier ones`() {
        var story = SchedulerStory()
        story.submit(3)
        #expect(met(story, .present) == 0)
        story.handle(.nodeJoined(east, name: "east"))
        story.handle(.nodeJoined(west, name: "west"))
        #expect(met(story, .present) == 2 && met(story, .notDraining) == 2 && met(story, .lendsSlots) == 0)
        #expect(met(story, .allowed) == nil, "this job may use all")
        story.handle(.nodeDraining(west, true))
        #expect(met(story, .notDraining) == 1)
        story.lease(east, 2)
        #expect(met(story, .lendsSlots) == 1 && met(story, .hasRoom) == 0, "both slots are in use")
        #expect(story.scheduler.waiting(of: job, now: story.now, limit: 5)?.ready == 1)
        #expect(story.scheduler.waiting(of: JobID(rawValue: 99), now: .zero, limit: 5) == nil)
    }

    @Test func `where no node has slots, that is what is missing`() {
        var story = SchedulerStory([east: 0])
        story.submit(1)
        #expect(met(story, .hasSlots) == nil && met(story, .lendsSlots) == 0)
        story.handle(.leased(east, slots: 0, fencingToken: 9, hasNoSlots: true))
        #expect(met(story, .present) == 1 && met(story, .hasSlots) == 0)
    }

    @Test func `a job that may use none of the present nodes says so`() {
        var story = SchedulerStory()
        story.handle(.nodeJoined(east, name: "east"))
        var options = JobOptions()
        options.use = ["north"]
        story.handle(.submitted(job, tasks: 1, options))
        #expect(met(story, .present) == 1 && met(story, .allowed) == 0)
    }

    @Test func `a job says which nodes it waits for, and which are here`() throws {
        func words(use: Set<String>, avoid: Set<String>) throws -> (paused: String?, why: String?) {
            var story = CoordinatorStory()
            var request = CoordinatorStory.simulation(3)
            (request.options.use, request.options.avoid) = (use, avoid)
            let id = try story.submit(request)
            let job = try #require(story.core.jobs[id])
            return (story.core.pauseReason(of: job), story.core.explain(id, now: .zero)?.reasons.first)
        }
        let here = CoordinatorStory().core.dispatch.scheduler.roster.order.map {
            CoordinatorStory().core.dispatch.name(of: $0)
        }
        let list = here.sorted().joined(separator: ", ")
        let typing = try words(use: ["nowhere"], avoid: [])
        #expect(typing.paused == "no node is called nowhere; the job waits until one joins")
        #expect(typing.why == "no node that is here may take its tasks: --use-node nowhere; nodes here: \(list)")
        let two = try words(use: ["b\n", "a"], avoid: ["c"])
        #expect(two.paused?.hasPrefix("no node is called a or b") == true && two.paused?.contains("\n") == false)
        let none = try words(use: [], avoid: Set(here))
        #expect(
            none.paused
                == "no node that is here may take its tasks (--avoid-node \(list)); the job waits until another joins")
        let many = try words(use: Set((100..<1100).map { "n\($0)" + String(repeating: "x", count: 200) }), avoid: [])
        #expect(many.paused?.contains(" or 995 others; ") == true && (many.paused?.count ?? 0) < 500)
        #expect(try words(use: [here[0]], avoid: []).paused == nil)
        #expect(try words(use: [], avoid: []).paused == nil)
    }

    @Test func `a job whose nodes are drained or have no slots is paused and says so, until one takes its tasks`()
        throws
    {
        var story = CoordinatorStory()
        func words(_ job: JobID) throws -> (paused: String?, why: [String]) {
            let known = try #require(story.core.jobs[job])
            return (story.core.pauseReason(of: known), try #require(story.core.explain(job, now: .zero)).reasons)
        }
        func slots(_ hasSlots: Bool, _ token: UInt64) {
            var lease = Lease(coordinator: CoordinatorID(rawValue: 5), fencingToken: token, slots: 0)
            lease.hasNoSlots = hasSlots ? nil : true
            story.change { [lease, node = story.other] in $0.reserved(lease, on: node) }
        }
        var request = CoordinatorStory.simulation(3)
        request.options.use = ["other"]
        request.options.priority = 5
        let bound = try story.submit(request, as: 1)
        let free = try story.submit(CoordinatorStory.simulation(3), as: 2)
        #expect(try words(bound).paused == nil && words(free).paused == nil)
        #expect(try words(free).why.contains("1 job of higher priority goes first"))

        slots(false, 1)
        #expect(
            try words(bound).paused
                == "no node takes its tasks: other was given no slots (slots: 0); the job waits until one does")
        #expect(try words(bound).why.count == 1, "nothing else is in its way")
        #expect(try words(free).paused == nil && words(free).why.count == 1, "the other job is not in its way")

        story.change { [own = story.own] in $0.draining(own, true) }
        let both = "no node takes its tasks: other was given no slots (slots: 0), own is drained"
        #expect(try words(free).paused == both + "; the job waits until one does")
        #expect(try words(free).why.first?.hasSuffix("are drained or were given no slots (slots: 0)") == true)

        slots(true, 2)
        #expect(try words(bound).paused == nil && words(free).paused == nil)
        story.change { [other = story.other] in $0.draining(other, true) }
        #expect(try words(bound).paused == "no node takes its tasks: other is drained; the job waits until one does")
        #expect(
            try words(free).paused == "no node takes its tasks: other and own are drained; the job waits until one does"
        )
    }

    @Test func `a job whose input is not on the nodes that take its tasks names the others`() throws {
        var story = CoordinatorStory()
        let job = try story.submit(CoordinatorStory.simulation(1))
        story.lease(1, on: story.other)
        let sent = try #require(story.assigned.first)
        story.change { [own = story.own] in $0.draining(own, true) }
        story.deliver(
            sent.request.attempt, .unavailable("no such file"), from: story.other, receipt: sent.request.receipt)
        let known = try #require(story.core.jobs[job])
        #expect(
            story.core.pauseReason(of: known)
                == "no node takes its tasks: other cannot reach its input, own is drained; the job waits until one does"
        )
        #expect(
            try #require(story.core.explain(job, now: .zero)).reasons
                == ["1 task waits for a node that takes new work: all that may have its input are drained"])
    }

    @Test func `a job goes on while something of it runs on a node that is drained`() throws {
        var story = CoordinatorStory()
        let job = try story.submit(CoordinatorStory.simulation(3))
        story.lease(1, on: story.other)
        story.change { [nodes = [story.own, story.other]] core in for node in nodes { core.draining(node, true) } }
        #expect(story.core.pauseReason(of: try #require(story.core.jobs[job])) == nil)
    }

    @Test func `waiting tasks are listed with node, start time and last failure`() throws {
        var story = SchedulerStory([east: 2])
        story.submit(2)
        story.wait(.seconds(5))
        story.handle(.failed(AttemptID(job: job, task: 0, number: 1), on: east, .fault("disk full")))
        var waiting = try #require(story.scheduler.waiting(of: job, now: story.now, limit: 5))
        #expect(waiting.backingOff == 1 && waiting.running == 1)
        #expect(waiting.open.map(\.task) == [1, 0], "what runs comes first")
        #expect(waiting.open.map(\.state) == [.running(on: east, since: .seconds(5)), .backingOff])
        #expect(waiting.open[1].lastReason == "disk full" && waiting.open[1].attempts == 1)
        story.wait(.seconds(1))
        waiting = try #require(story.scheduler.waiting(of: job, now: story.now, limit: 1))
        #expect(waiting.open.count == 1 && waiting.open[0].state == .running(on: east, since: .seconds(6)))
    }

    @Test func `other jobs with a higher or the same priority are counted`() throws {
        var story = SchedulerStory([east: 1])
        story.submit(2)
        story.submit(2, as: JobID(rawValue: 7))
        var options = JobOptions()
        options.priority = 3
        story.handle(.submitted(JobID(rawValue: 8), tasks: 2, options))
        let waiting = try #require(story.scheduler.waiting(of: job, now: story.now, limit: 5))
        #expect(waiting.jobsAhead == 1 && waiting.jobsBeside == 1)
    }
}
