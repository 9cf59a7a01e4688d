import Base
import Testing
import Transport

@testable import SkyCore

/// People share the slots of a scheduler, and nobody's jobs hold more than their limit.
@Suite struct SchedulerPeopleTests {
    private let east = SchedulerStory.east
    private let west = SchedulerStory.west

    private func id(_ number: UInt64) -> JobID { JobID(rawValue: number) }

    /// Submits sealed jobs of so many tasks each.
    private func submit(
        _ jobs: [UInt64], _ tasks: Int, by submitter: JobSubmitter, priority: Int = 0, to story: inout SchedulerStory
    ) {
        var options = JobOptions()
        options.priority = priority
        for job in jobs {
            story.handle(.submitted(id(job), tasks: tasks, options, by: submitter))
            story.handle(.noMoreTasks(id(job)))
        }
    }

    /// Runs `count` tasks to their ends, the oldest first, and counts those of each job.
    ///
    /// - Parameter isLong: whether tasks of a job take four times as long.
    private func shares(
        of count: Int, in story: inout SchedulerStory, _ runs: [(attempt: AttemptID, node: NodeID)],
        isLong: (JobID) -> Bool = { _ in false }
    ) -> [JobID: Int] {
        var (running, shares) = (runs.map { ($0, 0) }, [JobID: Int]())
        var time = 0
        while shares.values.reduce(0, +) < count, !running.isEmpty {
            guard let place = running.firstIndex(where: { time - $0.1 >= (isLong($0.0.attempt.job) ? 4 : 1) }) else {
                time += 1
                continue
            }
            let ((attempt, node), _) = running.remove(at: place)
            shares[attempt.job, default: 0] += 1
            running += story.handle(.succeeded(attempt, on: node, took: .seconds(1))).runs.map { ($0, time) }
        }
        return shares
    }

    @Test(arguments: [1, 2, 3, 4, 7, 16])
    func `two people with one and ten jobs get the same number of slots, whatever that is`(slots: Int) {
        var story = SchedulerStory()
        submit([1], 10_000, by: JobSubmitter("alice"), to: &story)
        submit(Array(11...20), 1000, by: JobSubmitter("bob"), to: &story)
        story.handle(.nodeJoined(east))
        let runs = story.lease(east, slots).runs
        let (first, second) = (runs.count { $0.attempt.job == id(1) }, runs.count { $0.attempt.job != id(1) })
        #expect(abs(first - second) <= 1 && first + second == slots)
        let shares = shares(of: 4000, in: &story, runs)
        let own = shares[id(1)] ?? 0
        #expect((1900...2100).contains(own), "\(shares)")
        let others = (11...20).map { shares[id($0)] ?? 0 }
        #expect((others.max() ?? 0) - (others.min() ?? 0) <= 4, "the jobs of one person share, too: \(others)")
    }

    @Test func `the shares are of slots, not of tasks`() {
        var story = SchedulerStory()
        submit([1], 10_000, by: JobSubmitter("alice"), to: &story)
        submit([2, 3, 4], 10_000, by: JobSubmitter("bob"), to: &story)
        story.handle(.nodeJoined(east))
        let runs = story.lease(east, 8).runs
        let shares = shares(of: 3000, in: &story, runs, isLong: { $0 == id(1) })
        let (long, short) = (shares[id(1)] ?? 0, 3000 - (shares[id(1)] ?? 0))
        #expect((3.2...4.8).contains(Double(short) / Double(long)), "\(shares)")
    }

    @Test func `whoever has the cluster key is one person more, and a higher priority goes first`() {
        var story = SchedulerStory()
        submit([1, 2, 3], 100, by: JobSubmitter(), to: &story)
        submit([4], 100, by: JobSubmitter("alice"), to: &story)
        story.handle(.nodeJoined(east))
        var runs = story.lease(east, 8).runs
        #expect(runs.count { $0.attempt.job == id(4) } == 4)
        submit([5], 3, by: JobSubmitter("alice"), priority: 1, to: &story)
        runs = story.lease(east, 11).runs
        #expect(runs.map(\.attempt.job) == [id(5), id(5), id(5)])
    }

    @Test func `jobs of one person run in the same order as jobs without one`() {
        var histories: [[JobScheduler.Action]] = []
        for name in [nil, "alice"] as [String?] {
            var story = SchedulerStory([east: 3, west: 2])
            var actions: [JobScheduler.Action] = []
            for job in 1...5 as ClosedRange<UInt64> {
                var options = JobOptions()
                options.priority = job == 4 ? 1 : 0
                options.sharesInput = job == 2
                actions += story.handle(.submitted(id(job), tasks: 6, options, by: JobSubmitter(name)))
                actions += story.handle(.noMoreTasks(id(job)))
            }
            var running = actions.runs
            var random = SplitMix64(seed: 5)
            while let place = running.indices.randomElement(using: &random) {
                let (attempt, node) = running.remove(at: place)
                story.now += .milliseconds(10)
                let next =
                    Int.random(in: 0..<5, using: &random) == 0
                    ? story.handle(.failed(attempt, on: node, .fault("x")))
                    : story.handle(.succeeded(attempt, on: node, took: .seconds(1)))
                let later = running.isEmpty ? story.wait(.seconds(1)) : []
                actions += next + later
                running += next.runs + later.runs
            }
            histories.append(actions)
        }
        #expect(histories[0] == histories[1] && histories[0].count > 60)
    }

    // MARK: - Limits

    @Test func `a person's jobs together hold no more slots than their limit, and leave the others to others`() {
        var story = SchedulerStory([east: 6, west: 6])
        let demands = story.handle(.submitted(id(1), tasks: 100, by: JobSubmitter("alice", slots: 4))).demands
        #expect(demands.values.reduce(0, +) == 4, "what cannot be used is not demanded: \(demands)")
        submit([2, 3], 100, by: JobSubmitter("alice", slots: 4), to: &story)
        #expect(story.scheduler.jobs.people.held(by: 0) == 4 && story.scheduler.jobs.ready == 0)
        let waiting = story.scheduler.waiting(of: id(1), now: story.now, limit: 5)
        #expect(waiting?.quota?.held == 4 && waiting?.quota?.limit == 4 && (waiting?.ready ?? 0) > 90)
        #expect(story.wait(.seconds(1)).demands.isEmpty)
        submit([4], 100, by: JobSubmitter("bob"), to: &story)
        story.lease(east, 6)
        story.lease(west, 6)
        #expect(story.scheduler.running(on: east) + story.scheduler.running(on: west) == 12)
        #expect(story.scheduler.jobs.people.held(by: 0) == 4)
        #expect(story.scheduler.waiting(of: id(4), now: story.now, limit: 5)?.quota == nil)
    }

    @Test func `the slot of a task that ends goes to the next one of the person`() {
        var story = SchedulerStory([east: 4])
        submit([1], 50, by: JobSubmitter("alice", slots: 2), to: &story)
        let jobs = shares(of: 50, in: &story, [(attempt(0, of: id(1)), east), (attempt(1, of: id(1)), east)])
        #expect(jobs[id(1)] == 50)
        #expect(story.scheduler.jobs.people.count == 0, "nobody is remembered")
    }

    @Test func `a stopped attempt holds its slot until its node reports it`() {
        var story = SchedulerStory([east: 4])
        submit([1, 2], 4, by: JobSubmitter("alice", slots: 2), to: &story)
        #expect(story.handle(.cancelled(id(1))).runs.isEmpty)
        #expect(story.handle(.failed(attempt(0, of: id(1)), on: east, .refused("stopped"))).runs.count == 1)
    }

    @Test func `a speculative attempt counts, too`() {
        for (limit, attempts) in [(1, 0), (2, 1)] {
            var story = SchedulerStory([east: 1, west: 2])
            submit([1], 1, by: JobSubmitter("alice", slots: limit), to: &story)
            #expect(story.wait(.seconds(300)).runs.count == attempts, "limit \(limit)")
        }
    }

    @Test func `a suspect task is tried alone also where its person may hold one slot only`() {
        var story = SchedulerStory()
        for node in [SchedulerStory.local, east] { story.handle(.nodeJoined(node)) }
        for node in [SchedulerStory.local, east] { story.lease(node, 2) }
        let risks = (10...12).map { TaskRisk(task: 0, node: NodeID(rawValue: $0), isAlone: false) }
        var running = story.handle(
            .restored(
                id(1), tasks: 5, completed: FinishedTasks(sorted: []), failed: FinishedTasks(sorted: []), risks: risks,
                isSealed: true, JobOptions(), by: JobSubmitter("alice", slots: 1))
        ).runs
        running += story.wait(.seconds(1)).runs
        var tasks: Set<Int> = []
        while let (attempt, node) = running.popLast() {
            #expect(running.isEmpty)
            tasks.insert(attempt.task.index)
            running += story.handle(.succeeded(attempt, on: node, took: .seconds(1))).runs
            if running.isEmpty { running += story.wait(.seconds(1)).runs }
        }
        #expect(tasks == Set(0..<5))
    }

    @Test func `a job that is withheld gets nothing until it is not any more`() {
        var story = SchedulerStory([east: 2])
        submit([1], 5, by: JobSubmitter("alice"), to: &story)
        story.handle(.withheld(id(1), true))
        #expect(story.handle(.succeeded(attempt(0, of: id(1)), on: east, took: .seconds(1))).runs.isEmpty)
        #expect(story.scheduler.jobs.ready == 0 && story.scheduler.jobs.waiting == 0)
        #expect(story.handle(.withheld(id(1), true)).runs.isEmpty, "twice is once")
        #expect(story.handle(.withheld(id(1), false)).runs.count == 1)
        #expect(story.scheduler.jobs.ready == 2)
    }

    // MARK: - Histories

    @Test(arguments: 0..<8)
    func `no history brings anybody above the limit, and all tasks are done in the end`(batch: UInt64) {
        for seed in batch * 25..<batch * 25 + 25 {
            var history = PeopleHistory(seed: seed)
            for _ in 0..<300 { history.step() }
            history.settle()
            #expect(history.violations.isEmpty, "seed \(seed)")
        }
    }
}

/// People who submit jobs to a scheduler whose nodes come, go, fail, and report when they like.
private struct PeopleHistory {
    private var story = SchedulerStory()
    private var random: SplitMix64
    private var nodes: Set<NodeID> = []
    private var nextNode: UInt64 = 2
    private var submitters: [JobID: JobSubmitter] = [:]
    /// What was sent and has not been reported, as the scheduler has to know it.
    private var sent: [AttemptID: NodeID] = [:]
    private var jobs: UInt64 = 0
    private var ended: Set<JobID> = []
    var violations: [String] = []

    private let people: [JobSubmitter]

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        people = [
            JobSubmitter(), JobSubmitter("alice", slots: Int.random(in: 1...4, using: &random)), JobSubmitter("bob"),
            JobSubmitter("eve", slots: 1), JobSubmitter("eve", slots: 3),
        ]
    }

    mutating func step() {
        story.now += .milliseconds(Int.random(in: 0...200, using: &random))
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<8: submit()
        case 8..<14: join()
        case 14..<17: lose()
        case 17..<25:
            if let node = nodes.sorted().randomElement(using: &random) {
                follow(story.lease(node, Int.random(in: 0...6, using: &random)))
            }
        case 25..<75: report()
        case 75..<78: if let job = open.randomElement(using: &random) { follow(story.handle(.cancelled(job))) }
        case 78..<84:
            if let job = open.randomElement(using: &random) {
                follow(story.handle(.withheld(job, Bool.random(using: &random))))
            }
        default: follow(story.wait(.milliseconds(Int.random(in: 0...500, using: &random))))
        }
    }

    private var open: [JobID] { submitters.keys.filter { !ended.contains($0) }.sorted() }

    private mutating func submit() {
        jobs += 1
        let job = JobID(rawValue: jobs)
        let submitter = people[Int.random(in: 0..<people.count, using: &random)]
        submitters[job] = submitter
        var options = JobOptions()
        options.priority = Int.random(in: 0...1, using: &random)
        options.sharesInput = Bool.random(using: &random)
        follow(story.handle(.submitted(job, tasks: Int.random(in: 1...30, using: &random), options, by: submitter)))
        follow(story.handle(.noMoreTasks(job)))
    }

    private mutating func join() {
        guard nodes.count < 5 else { return }
        let node = NodeID(rawValue: nextNode)
        nextNode += 1
        nodes.insert(node)
        follow(story.handle(.nodeJoined(node)))
        follow(story.lease(node, Int.random(in: 1...6, using: &random)))
    }

    private mutating func lose() {
        guard let node = nodes.sorted().randomElement(using: &random) else { return }
        nodes.remove(node)
        sent = sent.filter { $0.value != node }
        follow(story.handle(.nodeLost(node)))
    }

    private mutating func report() {
        guard let (attempt, node) = sent.sorted(by: { $0.key < $1.key }).randomElement(using: &random) else { return }
        sent[attempt] = nil
        let event: JobScheduler.Event =
            switch Int.random(in: 0..<20, using: &random) {
            case 0: .failed(attempt, on: node, .fault("fault"))
            case 1: .failed(attempt, on: node, .refused("refused"))
            default: .succeeded(attempt, on: node, took: .milliseconds(Int.random(in: 1...400, using: &random)))
            }
        follow(story.handle(event))
    }

    private func held(by name: String?) -> Int { sent.keys.count { submitters[$0.job]?.name == name } }

    private mutating func follow(_ actions: [JobScheduler.Action]) {
        for action in actions {
            switch action {
            case .run(let attempt, let node):
                sent[attempt] = node
                guard let submitter = submitters[attempt.job] else { continue }
                // Her other credential allows more, and a suspect task may have been promised its slot before.
                let limit = submitter.name == "eve" ? 3 : submitter.slots
                if let limit, held(by: submitter.name) > limit {
                    violations.append("\(submitter) holds \(held(by: submitter.name)) at \(story.now)")
                }
            case .jobFinished(let job, _): ended.insert(job)
            default: break
            }
        }
        let jobs = story.scheduler.jobs
        if jobs.ready < 0 || jobs.waiting < jobs.ready { violations.append("\(jobs.ready) of \(jobs.waiting) ready") }
    }

    /// All nodes answer from now on, and nothing is withheld.
    mutating func settle() {
        for job in open { follow(story.handle(.withheld(job, false))) }
        while nodes.count < 2 { join() }
        for _ in 0..<20_000 where !open.isEmpty {
            story.now += .milliseconds(20)
            if let (attempt, node) = sent.min(by: { $0.key < $1.key }) {
                sent[attempt] = nil
                follow(story.handle(.succeeded(attempt, on: node, took: .milliseconds(10))))
            } else {
                for node in nodes.sorted() { follow(story.lease(node, 4)) }
                follow(story.wait(.seconds(2)))
            }
        }
        if !open.isEmpty { violations.append("\(open.count) jobs do not end") }
        // Late attempts of jobs that have ended.
        for (attempt, node) in sent.sorted(by: { $0.key < $1.key }) {
            follow(story.handle(.failed(attempt, on: node, .refused("stopped"))))
        }
        let jobs = story.scheduler.jobs
        if jobs.people.count != 0 { violations.append("\(jobs.people.count) people are remembered") }
        if jobs.ready != 0 || jobs.waiting != 0 { violations.append("\(jobs.waiting) tasks are left over") }
    }
}
