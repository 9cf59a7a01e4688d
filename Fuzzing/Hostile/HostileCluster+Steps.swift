import Base
import NIOCore

@testable import Sky
@testable import SkyCore
@testable import SkyJobs
@testable import Transport

extension HostileCluster {
    static let workStep: UInt8 = 1
    static let lookStep: UInt8 = 17

    /// Lets one thing happen.
    mutating func step() {
        switch input.byte() % 26 {
        case 0: submit()
        case 1, 2: work(rounds: 1)
        case 3: work(rounds: 12)
        case 4, 5, 6: deliver()
        case 7: fail()
        case 8: store(Int(input.byte()))
        case 9: change { $0.journalFailed("the disk is full") }
        case 10: searched(isHonest: false)
        case 11: tick()
        case 12: lease()
        case 13: members()
        case 14:
            let job = job()
            change { $0.cancel(job) }
        case 15:
            let job = job()
            change { $0.delete(job) }
            journal.forget(job)
        case 16: restart()
        case 17: look()
        case 18: fetchResults()
        case 19: undeliverable()
        case 20: claim()
        case 21: room()
        case 22:
            var retention = JobRetention()
            (retention.count, retention.age) = (Int(input.byte()), .seconds(Int64(input.byte())))
            change { $0.setLimits(retention, bytes: nil) }
        case 23:
            let job = job()
            change { $0.use(job) }
        case 24:
            let job = job()
            change { $0.giveUp(job, SkyError(.failed, "a part of it cannot be stored")) }
        default: deliverStranger()
        }
    }

    // MARK: - Jobs

    private mutating func submit() {
        guard let request = input.hostile(HonestRequests.job(&input)) else { return }
        let submission = Submission(request, token: input.bool() ? input.hostileText() : nil)
        guard (try? submission.validate()) != nil else { return }
        submitted += 1
        let id = JobID(rawValue: UInt64(submitted))
        change { _ = try? $0.submit(request, token: submission.token, as: id) }
    }

    /// Does some rounds of work, with nodes that are mostly honest, an honest disk and an empty cache.
    mutating func work(rounds: Int) {
        for _ in 0..<rounds {
            while !searches.isEmpty { searched(isHonest: true) }
            store(.max)
            let taken = running
            running = []
            guard !taken.isEmpty else { continue }
            let (richness, damaged) = (input.byte(), Int(input.byte() & 31))
            for (place, attempt) in taken.enumerated() {
                let (request, node) = attempt
                let honest = result(of: request, richness: richness)
                // One of them is damaged now and then, so that every step of a job meets hostile values.
                let given = place == damaged ? input.hostile(honest) : honest
                guard let given, let payload = try? WireCoder.encode(given) else {
                    running.append(attempt)
                    continue
                }
                answer([.init(request, .done(payload), .milliseconds(20), sequence: next(node))], from: node)
            }
            now += .milliseconds(30)
            change { $0.tick() }
        }
    }

    private mutating func next(_ node: NodeID) -> UInt64 {
        sequences[node, default: 0] += 1
        return sequences[node] ?? 0
    }

    /// What an honest node makes of a task.
    private func result(of request: RunRequest, richness: UInt8) -> TaskResult {
        let plan = core.jobs[request.attempt.job]?.plan as? SkyPlan
        return HonestResults.result(of: request.task.work, in: plan?.phases.info, richness: richness)
    }

    // MARK: - What nodes say

    /// A node answers one of its tasks, honestly except for what is damaged.
    private mutating func deliver() {
        guard !running.isEmpty else { return work(rounds: 1) }
        let place = Int(input.byte()) % running.count
        let (request, node) = running[place]
        if input.byte() & 7 != 7 { running.remove(at: place) }
        let honest = result(of: request, richness: input.byte())
        guard let result = input.hostile(honest), let payload = try? WireCoder.encode(result) else { return }
        let outcome = input.byte() & 15 == 15 ? .done(ByteBuffer(bytes: input.take(20))) : AttemptOutcome.done(payload)
        var ended = AttemptResult(request, outcome, .milliseconds(20), sequence: next(node))
        if input.byte() & 7 == 7 { ended.duration = input.hostileDuration() }
        if input.byte() & 7 == 7 {
            ended.stages = StageTimes([input.hostileText(): input.hostileDuration(), "read": .milliseconds(5)])
        }
        answer([ended], from: node)
    }

    /// An attempt ends without a result.
    private mutating func fail() {
        guard !running.isEmpty else { return }
        let (request, node) = running.remove(at: Int(input.byte()) % running.count)
        let reason = input.hostileText()
        let outcome: AttemptOutcome =
            switch input.byte() % 5 {
            case 0: .fault(reason)
            case 1: .crash(reason)
            case 2: .badInput(reason)
            case 3: .unavailable(reason)
            default: .refused(reason)
            }
        answer([.init(request, outcome, .milliseconds(3), sequence: next(node))], from: node)
    }

    /// A node has a result that nobody asked it for.
    private mutating func deliverStranger() {
        let attempt = AttemptID(
            job: job(), task: TaskID(Int(input.hostileInteger())), number: Int(input.hostileInteger()),
            generation: input.bool() ? core.dispatch.incarnation.generation : input.hostileUnsigned())
        let payload = honest { try WireCoder.encode(TaskResult.simulated) }
        let result = AttemptResult(
            sequence: input.hostileUnsigned(), attempt: attempt, outcome: .done(payload),
            duration: input.hostileDuration(),
            receipt: input.bool() ? nil : input.hostileUnsigned())
        answer([result], from: node())
    }

    /// A node reports what runs on it, and a lease.
    private mutating func claim() {
        let node = node()
        var attempts = running.filter { $0.node == node }.map(\.request)
        if input.bool(), let first = running.first { attempts.append(first.request) }
        let reply = CollectReply(
            results: [], lease: Lease(coordinator: HostileCluster.coordinator, fencingToken: 2, slots: 2),
            attempts: attempts.map(\.attempt), receipts: attempts.map { $0.receipt ?? 0 })
        guard let reply = input.hostile(reply) else { return }
        take(reply, isFirst: true, from: node)
    }

    private mutating func answer(_ results: [AttemptResult], from node: NodeID) {
        let lease = Lease(coordinator: HostileCluster.coordinator, fencingToken: 1, slots: 3)
        take(CollectReply(results: results, lease: lease), isFirst: false, from: node)
    }

    /// Takes a reply as `Coordinator` does.
    private mutating func take(_ reply: CollectReply, isFirst: Bool, from node: NodeID) {
        guard core.dispatch.isPresent(node) else { return }
        guard (try? reply.validate()) != nil else {
            return change { $0.collectionFailed(from: node, .invalidReply("damaged")) }
        }
        let asked =
            core.nextCollection(from: node)
            ?? CollectRequest(
                incarnation: core.dispatch.incarnation, received: 0, acknowledged: 0, fencingToken: 0, isFirst: isFirst)
        require((try? asked.validate()) != nil, "what a node is asked may be asked")
        change { $0.collected(reply, asked, from: node) }
    }

    private mutating func lease() {
        let node = node()
        let sample = Lease(
            coordinator: HostileCluster.coordinator, fencingToken: UInt64(input.byte()), slots: Int(input.byte() & 7))
        guard let lease = input.hostile(sample), (try? lease.validate()) != nil else { return }
        change { $0.reserved(lease, on: node) }
    }

    private mutating func members() {
        let node = node()
        let choice = input.byte()
        switch choice & 7 {
        case 0, 1, 2:
            let name = choice & 8 == 0 ? input.choice(of: HostileCluster.names) : "x\(choice)"
            let arithmetic = choice & 16 == 0 ? JobKinds.arithmetic : Arithmetic(input.hostileText())
            change { $0.joined(node, name: name, arithmetic: arithmetic, isDraining: choice & 32 == 32) }
        case 3, 4:
            change { $0.lost(node) }
        case 5: change { $0.draining(node, choice & 32 == 32) }
        case 6:
            let fault = choice & 32 == 32 ? nil : NodeFault.refuses("another node speaks for this coordinator")
            change { $0.collectionFailed(from: node, fault) }
        default:
            for lost in core.dispatch.unheard([node]) { change { $0.lost(lost) } }
        }
    }

    private mutating func undeliverable() {
        guard !running.isEmpty else { return }
        let (request, node) = running.remove(at: Int(input.byte()) % running.count)
        let failure: AttemptFailure =
            switch input.byte() & 3 {
            case 0: .refused("no link to the node")
            case 1: .permanent("its input is too large")
            case 2: .unavailable("the node does not know this work")
            default: .nodeLost(FailureReason(input.hostileText()))
            }
        change { $0.assignmentFailed([request.attempt], on: node, failure, nil) }
    }

    // MARK: - Time, disk, cache

    private mutating func tick() {
        let choice = input.byte()
        switch choice & 7 {
        case 0: now += .milliseconds(Int64(choice))
        case 1: now += .seconds(Int64(choice))
        case 2: now += .seconds(86_400 * Int64(choice))
        default: now = max(now, core.nextWake ?? now)
        }
        if choice & 128 == 128 { wall = input.hostileUnsigned() }
        change { $0.tick() }
    }

    /// The journal has stored some of what it was given.
    mutating func store(_ limit: Int) {
        let entries = core.writeAhead.takeAll()
        let count = min(limit, entries.count)
        guard count > 0 else { return }
        core.writeAhead.giveBack(Array(entries[count...]))
        for entry in entries.prefix(count) { journal.append(entry) }
        change { $0.stored(count, in: nil) }
    }

    private mutating func room() {
        // The sizes are such as statvfs and SQLite count: no disk has an exabyte.
        func size() -> Int { Int(truncatingIfNeeded: input.hostileUnsigned() & (1 << 60 - 1)) }
        let (held, limit, disk) = (size(), size(), (size(), size()))
        let choice = input.byte()
        if choice & 1 == 0 {
            change { $0.stored(0, in: JournalRoom(held: held, limit: limit, disk: choice & 2 == 0 ? disk : nil)) }
        } else {
            change { $0.setLimits($0.room.retention, bytes: limit) }
        }
    }

    /// Delivers what was found among earlier results.
    mutating func searched(isHonest: Bool) {
        guard !searches.isEmpty else { return }
        let (job, tasks, plan) = searches.removeFirst()
        for start in stride(from: tasks.lowerBound, to: tasks.upperBound, by: CoordinatorEffects.lookUpLimit) {
            let part = start..<min(start + CoordinatorEffects.lookUpLimit, tasks.upperBound)
            var found: [TaskID: ByteBuffer] = [:]
            for task in part {
                guard plan.cacheKey(task) != nil, !isHonest, input.bool(), let work = plan.task(task)?.work,
                    let result = input.hostile(
                        HonestResults.result(of: work, in: (plan as? SkyPlan)?.phases.info, richness: input.byte()))
                else { continue }
                found[TaskID(task)] = try? WireCoder.encode(result)
            }
            change { $0.lookedUp(job, part, found) }
        }
    }
}

extension AttemptResult {
    /// The end of an attempt that was asked for.
    init(_ request: RunRequest, _ outcome: AttemptOutcome, _ duration: Duration, sequence: UInt64) {
        self.init(
            sequence: sequence, attempt: request.attempt, outcome: outcome, duration: duration, receipt: request.receipt
        )
    }
}
