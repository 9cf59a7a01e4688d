import Base
import Foundation
import Testing
import Transport

@testable import SkyCore

/// Jobs for some nodes beside jobs for all, of all sizes, priorities and people, while nodes come, go, drain and lend their slots to
/// another coordinator, and while nothing can be stored for some time. Whatever waits for a node that is full or away: a job that may
/// take an idle slot does not wait for it, and the other coordinator does not wait for slots that nobody uses.
@Suite struct MixedJobsSimulationTests {
    private static func setting(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap(UInt64.init)
    }

    /// 60 histories; others with `JOB_SIMULATION_SEEDS` and `JOB_SIMULATION_FIRST_SEED`.
    private static let seeds: Range<UInt64> = {
        let first = setting("JOB_SIMULATION_FIRST_SEED") ?? 0
        return first..<(first + (setting("JOB_SIMULATION_SEEDS") ?? 60))
    }()

    private static func history(_ seed: UInt64, flaw: MixedJobs.Flaw? = nil) -> MixedJobs {
        var history = MixedJobs(seed: seed, flaw: flaw)
        for _ in 0..<300 where history.violations.isEmpty { history.step() }
        if history.violations.isEmpty { history.settle() }
        return history
    }

    @Test func `no job waits while a slot that it may take is idle`() async {
        let seen = await withTaskGroup(of: [MixedJobs.Sight: Int].self) { group in
            let lanes: UInt64 = 4
            for lane in 0..<lanes {
                group.addTask {
                    var seen: [MixedJobs.Sight: Int] = [:]
                    for seed in Self.seeds where seed % lanes == lane {
                        let history = Self.history(seed)
                        #expect(history.violations.isEmpty, "seed \(seed)")
                        seen.merge(history.seen, uniquingKeysWith: +)
                    }
                    return seen
                }
            }
            return await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
        }
        // Histories in which nothing has to wait would prove nothing.
        for sight in MixedJobs.Sight.allCases {
            #expect(seen[sight] ?? 0 >= Self.seeds.count / 10, "\(sight): \(seen[sight] ?? 0)")
        }
    }

    @Test(arguments: MixedJobs.Flaw.allCases) func `a mistake in the demand for slots is found`(flaw: MixedJobs.Flaw) {
        let found = (0..<1000 as Range<UInt64>).first { !Self.history($0, flaw: flaw).violations.isEmpty }
        #expect(found != nil)
        if let found { print("\(flaw): seed \(found): \(Self.history(found, flaw: flaw).violations[0])") }
    }
}

/// One such history.
struct MixedJobs {
    /// A mistake that somebody might make, and once made. It is made between the scheduler and the nodes: a node hears nothing of a
    /// demand that the mistake would not have changed. Made by hand in `JobScheduler.updateDemand`, it was found among the first ten
    /// seeds, too.
    enum Flaw: CaseIterable {
        /// Nodes to which nothing happens are only looked at when the number of all waiting tasks, rounded up, has changed, whichever
        /// nodes may take them.
        case countedOverAllNodes
        /// The same, and no more than 4,096 tasks are counted, as versions until 0.2.0 did.
        case countedUpToALimit
        /// The demand stays what it is while nothing is sent out.
        case countedWhileSuspended
    }

    enum Sight: CaseIterable {
        /// A job waited that no node might take, and one that waited for a full node.
        case noNode, fullNode
        /// Another job was sent out meanwhile.
        case passed
        case came, went, drained, limited, withheld, isolated, outOfReach, lentElsewhere
        /// Nothing was sent out while the other coordinator wanted slots.
        case suspended
    }

    private struct Node {
        let id: NodeID
        let name: String
        let slots: Int
        var book: LeaseBook
        var running: [AttemptID: Duration] = [:]
        /// The demand of the other coordinator.
        var lent = 0
        /// The demand of the scheduler, and the one that the node has heard.
        var wanted = 0
        var heard = 0
        /// When all its slots were in use last.
        var full: Duration = .zero
        /// Since when slots are idle that the other coordinator wants and no job may take.
        var keptSince: Duration?
        var isDraining = false
    }

    private struct Job {
        var options: JobOptions
        var submitter: JobSubmitter
        var untried: Int
        /// The tasks that are neither done nor running, and have been tried.
        var retries: Set<Int> = []
        var tried: Set<Int> = []
        var losses: [Int: Int] = [:]
        var unreachable: [Int: Set<NodeID>] = [:]
        var isWithheld = false
        /// Whether most nodes are lost that run one of its tasks.
        var isDeadly = false
    }

    private struct Wait: Hashable {
        var job: JobID
        var node: NodeID
        var isRetry: Bool
    }

    private static let names = ["a", "b", "c", "d"]
    private static let own = CoordinatorID(rawValue: 1)
    private static let rival = CoordinatorID(rawValue: 2)
    /// How long a job may wait beside an idle slot: until a node has run out for a suspect task, which then runs alone. A task that is
    /// tried again waits for the end of its back-off before.
    private static let patience = (fresh: Duration.seconds(4), retry: Duration.seconds(15))
    /// How long slots may be kept from the other coordinator.
    private static let releaseTime = Duration.seconds(1)

    private var random: SplitMix64
    private let flaw: Flaw?
    private var scheduler: JobScheduler
    private var now: Duration = .zero
    private var nodes: [NodeID: Node] = [:]
    private var jobs: [JobID: Job] = [:]
    private var inbox: [JobScheduler.Event] = []
    private var waits: [Wait: Duration] = [:]
    private var lastNode: UInt64 = 1
    private var lastJob: UInt64 = 0
    /// For the mistakes: the number of tasks that was noticed last, and the nodes that are looked at anyway.
    private var level = 0
    private var noticed: Set<NodeID> = []
    private var isSuspended = false
    private(set) var seen: [Sight: Int] = [:]
    private(set) var violations: [String] = []
    private let people: [JobSubmitter]

    init(seed: UInt64, flaw: Flaw?) {
        random = SplitMix64(seed: seed)
        self.flaw = flaw
        scheduler = JobScheduler(localNode: NodeID(rawValue: 1), seed: seed)
        people = [
            JobSubmitter(), JobSubmitter("alice"), JobSubmitter("bob", slots: Int.random(in: 1...3, using: &random)),
            JobSubmitter("eve", slots: 1),
        ]
        for _ in 0..<Int.random(in: 1...3, using: &random) { join() }
    }

    // MARK: - What happens

    mutating func step() {
        pass(.milliseconds(Int.random(in: 1...150, using: &random)))
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<14: submit()
        case 14..<20: join()
        case 20..<24: lose()
        case 24..<28: drain()
        case 28..<34: lend()
        case 34..<37: if let job = anyJob { handle(.cancelled(job)) }
        case 37..<42: withhold()
        case 42..<45: suspend(!isSuspended)
        default: break
        }
        check()
    }

    private var anyJob: JobID? {
        mutating get { jobs.keys.sorted().randomElement(using: &random) }
    }

    private var anyNode: NodeID? {
        mutating get { nodes.keys.sorted().randomElement(using: &random) }
    }

    private mutating func see(_ sight: Sight) { seen[sight, default: 0] += 1 }

    private mutating func submit() {
        lastJob += 1
        let job = JobID(rawValue: lastJob)
        var options = JobOptions()
        options.priority = Int.random(in: 0..<4, using: &random) == 0 ? Int.random(in: -1...2, using: &random) : 0
        options.sharesInput = Int.random(in: 0..<4, using: &random) == 0
        var size = [1, 2, 5, 20, 40].randomElement(using: &random) ?? 1
        switch Int.random(in: 0..<10, using: &random) {
        case 0...1:
            options.use = ["nowhere"]
            size = [1, 3, 40, 100, 5000].randomElement(using: &random) ?? 1
        case 2...3: options.use = Set([MixedJobs.names.randomElement(using: &random) ?? "a"])
        case 4:
            options.avoid = Set(MixedJobs.names.shuffled(using: &random).prefix(Int.random(in: 1...4, using: &random)))
        default: break
        }
        let submitter = people.randomElement(using: &random) ?? JobSubmitter()
        jobs[job] = Job(options: options, submitter: submitter, untried: size)
        jobs[job]?.isDeadly = size <= 5 && Int.random(in: 0..<6, using: &random) == 0
        handle(.submitted(job, tasks: size, options, by: submitter))
        handle(.noMoreTasks(job))
    }

    private mutating func join(_ name: String? = nil, slots: Int? = nil) {
        let away = MixedJobs.names.filter { name in !nodes.values.contains { $0.name == name } }
        guard let name = name ?? away.randomElement(using: &random) else { return }
        lastNode += 1
        let id = NodeID(rawValue: lastNode)
        let slots = slots ?? Int.random(in: 1...4, using: &random)
        nodes[id] = Node(id: id, name: name, slots: slots, book: LeaseBook(slots: slots, duration: .seconds(1 << 20)))
        if lastNode > 4 { see(.came) }
        handle(.nodeJoined(id, name: name))
        applyAll()
    }

    private mutating func lose() {
        guard let node = anyNode, let lost = nodes.removeValue(forKey: node) else { return }
        see(.went)
        for attempt in lost.running.keys {
            jobs[attempt.job]?.retries.insert(attempt.task.index)
            jobs[attempt.job]?.losses[attempt.task.index, default: 0] += 1
        }
        handle(.nodeLost(node))
        applyAll()
    }

    private mutating func drain() {
        guard let node = anyNode, let isDraining = nodes[node]?.isDraining else { return }
        if !isDraining { see(.drained) }
        nodes[node]?.isDraining.toggle()
        handle(.nodeDraining(node, !isDraining))
        hear(nodes[node]?.book.setDraining(!isDraining, now: now) ?? [], from: node)
    }

    /// Another coordinator has work for a node, or has none any more.
    private mutating func lend() {
        guard let node = anyNode else { return }
        let wanted = Int.random(in: -2...6, using: &random)
        nodes[node]?.lent = wanted
        let reply = nodes[node]?.book.reserve(wanted, for: MixedJobs.rival, now: now)
        if reply?.lease.slots ?? 0 > 0 { see(.lentElsewhere) }
        hear(reply?.changed ?? [], from: node)
    }

    private mutating func withhold() {
        guard let job = anyJob, let isWithheld = jobs[job]?.isWithheld else { return }
        if !isWithheld { see(.withheld) }
        jobs[job]?.isWithheld.toggle()
        handle(.withheld(job, !isWithheld))
    }

    /// Nothing can be stored, so that nothing is sent out, or something can be stored again.
    private mutating func suspend(_ isSuspended: Bool) {
        self.isSuspended = isSuspended
        handle(.suspended(isSuspended))
    }

    /// Time passes: attempts end, and the scheduler is woken when it asks for it.
    private mutating func pass(_ duration: Duration) {
        let end = now + duration
        while true {
            let ends = nodes.values.flatMap { node in node.running.map { ($0.value, node.id, $0.key) } }
            let first = ends.min { $0 < $1 }
            let wake = scheduler.nextWake.map { max($0, now) }
            guard let next = [first?.0, wake].compactMap(\.self).min(), next <= end else { break }
            now = next
            if let first, first.0 == next { finish(first.2, on: first.1) } else { handle(.tick) }
        }
        now = end
    }

    private mutating func finish(_ attempt: AttemptID, on node: NodeID) {
        nodes[node]?.running[attempt] = nil
        hear(nodes[node]?.book.finish(attempt, now: now) ?? [], from: node)
        let task = attempt.task.index
        if jobs[attempt.job]?.isDeadly == true, Int.random(in: 0..<4, using: &random) > 0 {
            jobs[attempt.job]?.retries.insert(task)
            jobs[attempt.job]?.losses[task, default: 0] += 1
            return handle(.failed(attempt, on: node, .nodeLost("the link broke")))
        }
        switch Int.random(in: 0..<24, using: &random) {
        case 0:
            jobs[attempt.job]?.retries.insert(task)
            handle(.failed(attempt, on: node, .fault("fault")))
        case 1:
            see(.outOfReach)
            jobs[attempt.job]?.retries.insert(task)
            jobs[attempt.job]?.unreachable[task, default: []].insert(node)
            handle(.failed(attempt, on: node, .unavailable("unreadable")))
        default: handle(.succeeded(attempt, on: node, took: .milliseconds(100)))
        }
    }

    // MARK: - Between the scheduler and the nodes

    private mutating func handle(_ event: JobScheduler.Event) {
        inbox.append(event)
        while !inbox.isEmpty {
            let event = inbox.removeFirst()
            switch event {
            case .leased(let node, _, _, _), .succeeded(_, let node, _), .failed(_, let node, _): noticed.insert(node)
            default: break
            }
            for action in scheduler.handle(event, now: now) { follow(action) }
            applyIfNoticed()
        }
    }

    private mutating func follow(_ action: JobScheduler.Action) {
        switch action {
        case .reserve(let node, let wanted):
            // Demands are lowered for all nodes together, and all of them are looked at then.
            if wanted < nodes[node]?.wanted ?? 0 { noticed.formUnion(nodes.keys) }
            nodes[node]?.wanted = wanted
            if flaw == nil { apply(node) }
        case .run(let attempt, let node): run(attempt, on: node)
        case .stop(let attempt, let node):
            guard nodes[node]?.running.removeValue(forKey: attempt) != nil else { break }
            hear(nodes[node]?.book.finish(attempt, now: now) ?? [], from: node)
            inbox.append(.failed(attempt, on: node, .refused("stopped")))
        case .completed(let attempt, _): jobs[attempt.job]?.retries.remove(attempt.task.index)
        case .taskFailed(let job, let task, _): jobs[job]?.retries.remove(task.index)
        case .jobFinished(let job, _): jobs[job] = nil
        case .discarded, .retrying: break
        }
    }

    private mutating func run(_ attempt: AttemptID, on node: NodeID) {
        let (job, task) = (attempt.job, attempt.task.index)
        noticed.insert(node)
        if isSuspended { violations.append("\(attempt) is sent although nothing can be stored") }
        if scheduler.isAlone(attempt) { see(.isolated) }
        if let record = jobs[job] {
            if let own = nodes[node], !allows(record, own) { violations.append("\(job) runs on \(own.name)") }
            if jobs.contains(where: { $0.key != job && $0.value.untried > 0 && noNode($0.value) }) { see(.passed) }
        }
        if jobs[job]?.tried.insert(task).inserted == true { jobs[job]?.untried -= 1 }
        jobs[job]?.retries.remove(task)
        guard nodes[node] != nil, nodes[node]?.book.start(attempt, for: MixedJobs.own, now: now) == nil else {
            jobs[job]?.retries.insert(task)
            return inbox.append(.failed(attempt, on: node, .refused("no slot")))
        }
        nodes[node]?.running[attempt] = now + .milliseconds(Int.random(in: 1...400, using: &random))
        for isRetry in [false, true] { waits[Wait(job: job, node: node, isRetry: isRetry)] = nil }
        if let record = nodes[node], idleSlots(record) <= 0 { nodes[node]?.full = now }
    }

    private mutating func hear(_ leases: [Lease], from node: NodeID) {
        for lease in leases where lease.coordinator == MixedJobs.own {
            handle(.leased(node, slots: lease.slots, fencingToken: lease.fencingToken))
        }
    }

    private mutating func apply(_ node: NodeID) {
        if flaw == .countedWhileSuspended, isSuspended { return }
        guard let wanted = nodes[node]?.wanted, wanted != nodes[node]?.heard,
            let reply = nodes[node]?.book.reserve(wanted, for: MixedJobs.own, now: now)
        else { return }
        nodes[node]?.heard = wanted
        inbox.append(.leased(node, slots: reply.lease.slots, fencingToken: reply.lease.fencingToken))
    }

    private mutating func applyAll() {
        for node in nodes.keys.sorted() { apply(node) }
        handle(.tick)
    }

    /// With a mistake, most nodes hear of demands only when the number of all tasks has changed enough.
    private mutating func applyIfNoticed() {
        guard let flaw else { return }
        if flaw == .countedWhileSuspended { noticed.formUnion(nodes.keys) }
        var waiting = jobs.values.reduce(0) { $0 + $1.untried + $1.retries.count }
        if flaw == .countedUpToALimit { waiting = min(waiting, 4096) }
        let before = level
        level = WaitingTasks.roundedUp(waiting)
        if level != before { noticed.formUnion(nodes.keys) }
        for node in noticed.sorted() { apply(node) }
        noticed = []
    }

    // MARK: - What must hold

    private func allows(_ job: Job, _ node: Node) -> Bool {
        !job.options.avoid.contains(node.name) && (job.options.use.isEmpty || job.options.use.contains(node.name))
    }

    private func noNode(_ job: Job) -> Bool { !nodes.values.contains { allows(job, $0) } }

    private func held(by person: JobSubmitter) -> Int {
        nodes.values.reduce(0) { sum, node in
            sum + node.running.keys.count { jobs[$0.job]?.submitter.name == person.name }
        }
    }

    /// Slots that are idle and that nobody else has.
    private func idleSlots(_ node: Node) -> Int {
        guard !node.isDraining else { return 0 }
        return node.book.free + (node.book.lease(of: MixedJobs.own)?.slots ?? 0) - node.running.count
    }

    private mutating func check() {
        var still: [Wait: Duration] = [:]
        let idle = nodes.values.filter { idleSlots($0) > 0 }.sorted { $0.id < $1.id }
        let suspects = Set(jobs.values.filter { $0.losses.values.contains { $0 > 2 } }.map(\.submitter.name))
        for (id, job) in jobs.sorted(by: { $0.key < $1.key }) {
            if job.untried > 0, noNode(job) { see(.noNode) }
            if job.untried > 0, job.options.namesNodes, !noNode(job), !idle.contains(where: { allows(job, $0) }) {
                see(.fullNode)
            }
            if job.isWithheld || isSuspended { continue }
            if let limit = job.submitter.slots,
                held(by: job.submitter) >= limit || suspects.contains(job.submitter.name)
            {
                see(.limited)
                continue
            }
            for node in idle where allows(job, node) {
                if job.untried > 0 { notice(Wait(job: id, node: node.id, isRetry: false), in: &still) }
                let mayRetry = job.retries.contains { task in
                    job.losses[task] ?? 0 < 3 && job.unreachable[task]?.contains(node.id) != true
                }
                if mayRetry { notice(Wait(job: id, node: node.id, isRetry: true), in: &still) }
            }
        }
        waits = still
        for node in nodes.keys.sorted() { checkGivenBack(node) }
    }

    /// The other coordinator gets the slots of a node that no job uses or may use.
    private mutating func checkGivenBack(_ id: NodeID) {
        guard let node = nodes[id], let rival = node.book.lease(of: MixedJobs.rival), idleSlots(node) > 0,
            node.lent > rival.slots, isSuspended || !jobs.values.contains(where: { mayUse($0, node) })
        else {
            nodes[id]?.keptSince = nil
            return
        }
        if isSuspended { see(.suspended) }
        let since = node.keptSince ?? now
        nodes[id]?.keptSince = since
        guard now - since > MixedJobs.releaseTime else { return }
        violations.append(
            "\(node.name) has \(idleSlots(node)) idle slots since \(since) that the other coordinator wants at \(now)")
    }

    /// Whether a job has tasks that wait for a node, now or after a pause.
    private func mayUse(_ job: Job, _ node: Node) -> Bool {
        allows(job, node) && !job.isWithheld && job.untried + job.retries.count > 0
    }

    private mutating func notice(_ wait: Wait, in still: inout [Wait: Duration]) {
        guard let node = nodes[wait.node] else { return }
        // The histories are looked at now and then: a slot may have been used in between.
        let since = max(waits[wait] ?? now, node.full)
        still[wait] = since
        let patience = wait.isRetry ? MixedJobs.patience.retry : MixedJobs.patience.fresh
        guard now - since > patience else { return }
        violations.append(
            "\(wait.job) waits since \(since), and \(node.name) has \(idleSlots(node)) idle slots at \(now)")
    }

    /// Nothing more happens, and every job has a node at last.
    mutating func settle() {
        suspend(false)
        for (id, job) in jobs.sorted(by: { $0.key < $1.key }) {
            // Those are only there to be waited for.
            if job.untried > 200 { handle(.cancelled(id)) }
            if job.isWithheld { handle(.withheld(id, false)) }
            jobs[id]?.isWithheld = false
            jobs[id]?.isDeadly = false
        }
        for node in nodes.keys.sorted() where nodes[node]?.isDraining == true {
            nodes[node]?.isDraining = false
            handle(.nodeDraining(node, false))
            hear(nodes[node]?.book.setDraining(false, now: now) ?? [], from: node)
        }
        for node in nodes.keys.sorted() {
            let reply = nodes[node]?.book.reserve(0, for: MixedJobs.rival, now: now)
            hear(reply?.changed ?? [], from: node)
        }
        for _ in 0..<300 where !jobs.isEmpty && violations.isEmpty {
            pass(.milliseconds(100))
            check()
        }
        for name in MixedJobs.names + ["nowhere"] where !nodes.values.contains(where: { $0.name == name }) {
            join(name, slots: 16)
        }
        for _ in 0..<3000 where !jobs.isEmpty && violations.isEmpty {
            pass(.milliseconds(100))
            check()
        }
        if !jobs.isEmpty, violations.isEmpty { violations.append("\(jobs.count) jobs do not end") }
    }
}
