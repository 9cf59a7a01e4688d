import SkyCore
import Testing
import Transport

@Suite("Scheduler: when something fails")
struct SchedulerRetryTests {
    let local = SchedulerStory.local
    let east = SchedulerStory.east
    let west = SchedulerStory.west
    let job = SchedulerStory.job

    @Test("retries a fault on another node after a back-off that doubles, jitters, and has an end")
    func backsOff() {
        var policy = SchedulerPolicy()
        policy.maximumFaults = 20
        var story = SchedulerStory([east: 1, west: 1], policy: policy)
        var runs = story.submit(1).runs
        for number in 1...10 {
            guard let run = runs.first else { Issue.record("attempt \(number) was not made"); return }
            let actions = story.handle(.failed(run.attempt, on: run.node, .fault("x")))
            let expected = min(5, 0.1 * Double(1 << (number - 1)))
            let delay = (actions.delays.first ?? .zero) / .seconds(1)
            #expect(delay >= expected * 0.799 && delay <= expected * 1.201)
            #expect(story.scheduler.nextWake ?? .zero <= story.now + .seconds(delay + 0.001))
            runs = story.wait(.seconds(10)).runs
            #expect(runs.first?.attempt.number == number + 1)
            if number == 1 { #expect(runs.first?.node != run.node) }
        }
    }

    @Test("fails a task after its faults are used up, with the last reason and where it was")
    func exhaustsFaults() {
        var story = SchedulerStory([east: 1])
        story.submit(1)
        for number in 1...3 {
            #expect(story.handle(.failed(attempt(0, number), on: east, .fault("x"))).failures.isEmpty)
            #expect(story.wait(.seconds(3)).runs.count == 1)
        }
        let actions = story.handle(.failed(attempt(0, 4), on: east, .fault("disk full")))
        #expect(actions.failures == ["failed 4 times on node \(east): disk full"])
        #expect(actions.outcome == JobOutcome(completed: 0, failed: 1, cancelled: 0, retries: 3))
    }

    @Test("gives up a task that killed two processes if the job says so, whatever its other failures")
    func crashes() {
        var options = JobOptions()
        options.crashes = 1
        var story = SchedulerStory([east: 1])
        story.submit(1, options: options)
        #expect(story.handle(.failed(attempt(0, 1), on: east, .crash("signal 11"))).failures.isEmpty)
        #expect(story.wait(.seconds(3)).runs.count == 1)
        #expect(story.handle(.failed(attempt(0, 2), on: east, .fault("x"))).failures.isEmpty)
        #expect(story.wait(.seconds(3)).runs.count == 1)
        let actions = story.handle(.failed(attempt(0, 3), on: east, .crash("signal 11")))
        #expect(actions.failures == ["failed 3 times on node \(east): signal 11"])
    }

    @Test("never retries bad input")
    func permanent() {
        var story = SchedulerStory([east: 1])
        story.submit(1)
        let actions = story.handle(.failed(attempt(0), on: east, .permanent("not a FITS file")))
        #expect(actions.failures == ["not a FITS file"])
        #expect(actions.outcome?.failed == 1)
    }

    @Test("retries on the local node only when no other live node is left")
    func localLast() {
        var story = SchedulerStory([local: 4, east: 0, west: 0])
        story.lease(east, 1)
        story.submit(1)
        // The local node is less loaded, so it ran first; now it has failed there.
        story.handle(.failed(attempt(0), on: local, .fault("x")))
        #expect(story.wait(.seconds(1)).runs.map(\.node) == [east])
        story.handle(.failed(attempt(0, 2), on: east, .fault("x")))
        // West has no slot, but it lives: the task waits for it.
        #expect(story.wait(.seconds(1)).runs.isEmpty)
        #expect(story.lease(west, 1).runs.map(\.node) == [west])
        story.handle(.failed(attempt(0, 3), on: west, .fault("x")))
        #expect(story.wait(.seconds(3)).runs.count == 1)
    }

    @Test("prefers the local node to one where the task has failed")
    func localBeforeFailed() {
        var story = SchedulerStory([east: 1])
        story.submit(1)
        story.handle(.nodeJoined(local))
        story.lease(local, 1)
        story.handle(.failed(attempt(0), on: east, .fault("x")))
        #expect(story.wait(.seconds(1)).runs.map(\.node) == [local])
    }

    @Test("stops waiting for a better node when none lends a slot in time")
    func relaxes() {
        var story = SchedulerStory([east: 1, west: 0])
        story.submit(1)
        story.handle(.failed(attempt(0), on: east, .fault("x")))
        #expect(story.wait(.seconds(2)).runs.isEmpty)
        #expect(story.wait(.milliseconds(200)).runs.map(\.node) == [east])
    }

    @Test("a task that waits for its node does not hold up others")
    func waitingHoldsUpNobody() {
        var story = SchedulerStory([east: 1, west: 0])
        story.submit(3)
        #expect(story.handle(.failed(attempt(0), on: east, .fault("x"))).runs.map(\.attempt) == [attempt(1)])
        story.wait(.seconds(1))
        #expect(story.handle(.succeeded(attempt(1), on: east)).runs.map(\.attempt) == [attempt(2)])
        #expect(story.lease(west, 1).runs.map(\.attempt) == [attempt(0, 2)])
    }

    @Test("a node that cannot reach the input is not charged and not asked again; the task fails when none is left")
    func unavailable() {
        var story = SchedulerStory([local: 1, east: 1, west: 1])
        var runs = story.submit(1).runs
        var asked: [NodeID] = []
        for _ in 0..<2 {
            guard let run = runs.first else { break }
            asked.append(run.node)
            let actions = story.handle(.failed(run.attempt, on: run.node, .unavailable("no such file")))
            #expect(actions.delays == [.zero])
            runs = actions.runs
        }
        guard let last = runs.first else { Issue.record("the third node was not asked"); return }
        #expect(Set(asked + [last.node]) == [local, east, west])
        let actions = story.handle(.failed(last.attempt, on: last.node, .unavailable("no such file")))
        #expect(actions.failures == ["no node can reach its input: no such file"])
    }

    @Test("a task waiting for the last node that may reach its input fails when that node is lost")
    func stranded() {
        var story = SchedulerStory([east: 1, west: 0])
        story.submit(1)
        #expect(story.handle(.failed(attempt(0), on: east, .unavailable("no such file"))).runs.isEmpty)
        story.wait(.seconds(5))
        #expect(story.handle(.nodeLost(west)).failures.count == 1)
    }

    private var sending: JobOptions {
        var options = JobOptions()
        options.sendsInput = true
        return options
    }

    /// A job's only task was tried on one node, which does not have its input; the other node has no free slot at first.
    private func missing(_ options: JobOptions, draining: Bool = false) -> (SchedulerStory, [SchedulerStory.Action]) {
        var story = SchedulerStory([east: 1, west: 0])
        if draining { story.handle(.nodeDraining(west, true)) }
        story.submit(1, options: options)
        let actions = story.handle(.failed(attempt(0), on: east, .unavailable("no such file")))
        return (story, actions)
    }

    @Test func `an input that can be sent is not waited for on a node that is drained or has no slots`() {
        #expect(
            missing(sending, draining: true).1.failures == ["no node that is free can reach its input: no such file"])
        #expect(missing(JobOptions(), draining: true).1.failures.isEmpty)
        for event in [
            SchedulerStory.Event.nodeDraining(west, true), .leased(west, slots: 0, fencingToken: 9, hasNoSlots: true),
        ] {
            var (story, actions) = missing(sending)
            #expect(actions.failures.isEmpty)
            actions = story.handle(event)
            #expect(actions.failures.count == 1 && story.wait(.seconds(60)).failures.isEmpty, "\(event)")
        }
    }

    @Test func `an input that can be sent is waited for on a busy node for some seconds only`() {
        var (story, actions) = missing(sending)
        #expect(actions.failures.isEmpty && story.wait(.seconds(1)).failures.isEmpty)
        #expect(story.wait(.seconds(2)).failures == ["no node that is free can reach its input: no such file"])
        (story, actions) = missing(JobOptions())
        #expect(story.wait(.seconds(600)).failures.isEmpty)
        #expect(story.lease(west, 1).runs.map(\.node) == [west])
        (story, actions) = missing(sending)
        #expect(story.lease(west, 1).runs.map(\.node) == [west] && story.wait(.seconds(60)).failures.isEmpty)
    }

    @Test func `an input that can be sent is waited for while its job gets no slots at all`() {
        var (story, _) = missing(sending)
        story.handle(.suspended(true))
        story.lease(west, 1)
        #expect(story.wait(.seconds(20)).failures.isEmpty)
        let runs = story.handle(.suspended(false)).runs + story.lease(west, 1).runs
        #expect(runs.map(\.node) == [west])
    }

    @Test func `where other nodes may not be used, the reason says so`() {
        var options = JobOptions()
        options.use = [east.description]
        #expect(missing(options).1.failures == ["no node that the job may use can reach its input: no such file"])
    }

    @Test("losing a node retries elsewhere at once and uses up no faults")
    func losesNode() {
        var story = SchedulerStory([east: 1])
        story.submit(1)
        story.handle(.nodeJoined(west))
        story.lease(west, 1)
        let actions = story.handle(.nodeLost(east))
        #expect(
            actions.withoutDemands == [
                .retrying(job, 0, failedOn: east, reason: "node \(east) was lost", delay: .zero, attempt: 2),
                .run(attempt(0, 2), on: west),
            ])
        for number in 2...4 {
            #expect(story.handle(.failed(attempt(0, number), on: west, .fault("x"))).failures.isEmpty)
            #expect(story.wait(.seconds(3)).runs.count == 1)
        }
        #expect(story.handle(.failed(attempt(0, 5), on: west, .fault("x"))).failures.count == 1)
    }

    @Test("a task that kills node after node is named as poison, with the nodes")
    func poison() {
        var story = SchedulerStory()
        story.submit(1)
        var actions: [JobScheduler.Action] = []
        for number in 1...5 {
            let node = NodeID(rawValue: UInt64(100 + number))
            story.handle(.nodeJoined(node))
            #expect(story.lease(node, 1).runs.map(\.attempt) == [attempt(0, number)])
            actions = story.handle(.nodeLost(node))
        }
        let reason = actions.failures.first ?? ""
        #expect(reason.hasPrefix("poison: 5 nodes died"))
        for number in 1...5 { #expect(reason.contains(NodeID(rawValue: UInt64(100 + number)).description)) }
    }

    @Test("counts a loss once, whether the call or the membership reports it first")
    func chargesLossOnce() {
        var story = SchedulerStory([east: 1])
        story.submit(1)
        story.handle(.failed(attempt(0), on: east, .nodeLost("connection lost")))
        #expect(story.handle(.nodeLost(east)).delays.isEmpty)
        #expect(story.handle(.failed(attempt(0), on: east, .nodeLost("connection lost"))).withoutDemands.isEmpty)
        #expect(story.scheduler.progress(of: job)?.retried == 1)
    }

    @Test("a failing connection does not use up all attempts at once")
    func restsUnreachableNode() {
        var story = SchedulerStory([east: 1])
        story.submit(1)
        #expect(story.handle(.failed(attempt(0), on: east, .nodeLost("connection lost"))).runs.isEmpty)
        #expect(story.wait(.milliseconds(900)).runs.isEmpty)
        #expect(story.wait(.milliseconds(200)).runs.map(\.node) == [east])
    }

    @Test("a refusal costs the task nothing and pauses the node until it has a new lease")
    func refused() {
        var story = SchedulerStory([east: 2])
        story.submit(3)
        #expect(story.handle(.failed(attempt(0), on: east, .refused("no lease"))).withoutDemands.isEmpty)
        #expect(story.scheduler.progress(of: job)?.retried == 0)
        #expect(story.lease(east, 2).runs.map(\.attempt) == [attempt(2)])
        story.handle(.failed(attempt(2), on: east, .refused("no lease")))
        #expect(story.wait(.milliseconds(130)).runs.map(\.attempt.number) == [2])
    }

    @Test("a node that refuses for ever cannot keep a job from ending")
    func refusedForEver() {
        var story = SchedulerStory([east: 1])
        var runs = story.submit(1).runs
        var actions: [JobScheduler.Action] = []
        for _ in 0..<100 {
            guard let run = runs.first else { break }
            actions = story.handle(.failed(run.attempt, on: east, .refused("draining")))
            runs = story.wait(.seconds(1)).runs
        }
        #expect(actions.outcome?.failed == 1)
    }
}
