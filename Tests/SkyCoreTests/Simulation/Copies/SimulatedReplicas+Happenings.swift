import Transport

@testable import SkyCore

extension SimulatedReplicas {
    mutating func perform(_ happening: Happening) {
        if let host = host(at: happening), hosts[host].frozenUntil > now {
            // What is for a frozen process waits for it, in order.
            return schedule(happening, after: hosts[host].frozenUntil - now)
        }
        switch happening {
        case .ticked(let host, let process):
            guard isAlive(host, process) else { return }
            tick(host)
            schedule(.ticked(host, process: process), after: hosts[host].process?.core.tickPause ?? .zero)
        case .arrived(let request, let from, let call, let process, let replica):
            guard let host = host(of: replica), hosts[host].process != nil else { return }
            let (request, early) = flawed(request, at: host)
            if let early {
                schedule(.answered(early, by: replica, call: call, to: from, process: process), after: delay(0...20))
            }
            hosts[host].process?.lastTicket += 1
            let ticket = hosts[host].process?.lastTicket ?? 0
            hosts[host].process?.tickets[ticket] = (from, process, call)
            step(host) { $0.receive(request, ticket: ticket) }
        case .answered(let reply, let replica, let call, let host, let process):
            guard isAlive(host, process) else { return }
            step(host) { $0.replied(reply, from: replica, call: call) }
        case .timedOut(let call, let replica, let host, let process):
            guard isAlive(host, process) else { return }
            step(host) { $0.failed(to: replica, call: call) }
        case .wrote(let write, let host, let process, let isStored):
            guard isAlive(host, process) else { return }
            if isStored { hosts[host].disk.perform(write) } else { seen.insert(.refusedAsFull) }
            hosts[host].process?.write = nil
            if case .finish = write, isStored {
                seen.insert(.copied)
                check(host, "a new copy")
            }
            step(host) { $0.wrote(isStored) }
        case .pageRead(let replica, let cursor, let host, let process):
            guard isAlive(host, process) else { return }
            let (page, next) = hosts[host].disk.rows.page(from: cursor)
            step(host) { $0.pageRead(page, next: next, for: replica) }
        case .proposed: propose()
        case .backedUp:
            for host in hosts.indices { hosts[host].backups.append((now, hosts[host].disk)) }
            schedule(.backedUp, after: delay(5000...15_000))
        case .started(let host): start(host)
        case .doubted(let host, let process, let replica):
            if isAlive(host, process) { step(host) { $0.doubted(replica) } }
        case .trusted(let host, let process, let replica):
            if isAlive(host, process) { step(host) { $0.trusted(replica) } }
        case .leaving(let host, let process, let end, let time):
            if isAlive(host, process) { leave(host, until: end, thenFor: time) }
        case .outOfRoom(let host): hosts[host].isShort = true
        case .damaged(let host): damageCopy(host)
        case .fault(let fault): perform(fault)
        }
    }

    private func host(at happening: Happening) -> Int? {
        switch happening {
        case .ticked(let host, _), .answered(_, _, _, let host, _), .timedOut(_, _, let host, _),
            .wrote(_, let host, _, _), .pageRead(_, _, let host, _), .leaving(let host, _, _, _),
            .doubted(let host, _, _), .trusted(let host, _, _):
            host
        case .arrived(_, _, _, _, let replica): host(of: replica)
        case .proposed, .backedUp, .started, .outOfRoom, .damaged, .fault: nil
        }
    }

    func isAlive(_ host: Int, _ process: Int) -> Bool { hosts[host].process?.number == process }

    func isLinked(_ host: Int, _ other: Int) -> Bool {
        host != other && hosts[other].process != nil && arrives(from: host, to: other)
            && arrives(from: other, to: host)
    }

    /// The replicas that may keep a copy and can be reached.
    func reachable(from host: Int) -> [ReplicaID] {
        hosts.indices.filter { isLinked(host, $0) && hosts[$0].process?.isLeaving == false }.map { hosts[$0].disk.id }
    }

    // MARK: - Processes

    mutating func start(_ host: Int) {
        guard hosts[host].process == nil else { return }
        lastProcess += 1
        let (disk, clock) = (hosts[host].disk, delay(0...3_600_000))
        let core: Core =
            disk.record.position == .start
            ? .first(disk.id, policy: policy, seed: random.next(), now: clock)
            : Core(
                disk.id, record: disk.record, recent: disk.recent, policy: policy, seed: random.next(), now: clock)
        if case .primary(let primary) = core.role {
            seen.insert(.returned)
            if primaries[primary.term] ?? disk.id != disk.id {
                violations.append("host \(host) begins as the primary of term \(primary.term), which is another's")
            }
        }
        hosts[host].process = Process(core: core, number: lastProcess, start: now, clock: clock)
        check(host, "at a start")
        step(host) { $0.begin() }
        schedule(.ticked(host, process: lastProcess), after: delay(0...100))
        beginLeaving(host)
    }

    mutating func step(_ host: Int, _ event: (inout Core) -> Void) {
        // A second reference to what the process keeps would have it copied at each step.
        guard let (number, time) = hosts[host].process.map({ ($0.number, $0.clock + (now - $0.start)) }) else { return }
        for output in hosts[host].process?.core.at(time, event) ?? [] { carryOut(output, at: host, number) }
    }

    private mutating func carryOut(_ output: Core.Output, at host: Int, _ process: Int) {
        switch output {
        case .write(let write):
            if case .append(let made, _, let primary) = write, primary == hosts[host].disk.id { note(made, primary) }
            if case .promise(let term, hosts[host].disk.id) = write { hosts[host].stoodFor = term }
            hosts[host].process?.write = write
            let isSlow = hosts[host].slowUntil > now
            let isFull = hosts[host].fullUntil > now || isRefused(write, at: host)
            schedule(
                .wrote(write, host, process: process, isStored: !isFull),
                after: isSlow ? delay(100...4000) : delay(1...10))
        case .send(let request, let replica, let call):
            schedule(.timedOut(call: call, of: replica, at: host, process: process), after: .seconds(2))
            guard let target = self.host(of: replica), arrives(from: host, to: target), !chance(1) else { return }
            schedule(
                .arrived(request, from: host, call: call, process: process, to: replica),
                after: chance(2) ? delay(0...4000) : delay(0...20))
        case .answer(let reply, let ticket):
            crashAtWorst(reply, host)
            guard let caller = hosts[host].process?.tickets.removeValue(forKey: ticket),
                arrives(from: host, to: caller.host), !chance(1)
            else { return }
            schedule(
                .answered(
                    reply, by: hosts[host].disk.id, call: caller.call, to: caller.host, process: caller.process),
                after: chance(2) ? delay(0...4000) : delay(0...20))
        case .read(let replica, let cursor):
            schedule(.pageRead(for: replica, from: cursor, host, process: process), after: delay(0...20))
        case .open(let term):
            hosts[host].process?.isOpen = true
            if term > 1 { seen.insert(.takenOver) }
            if term > 1, mayFail { failAtOpening(host) }
            check(host, "at the opening of term \(term)")
            guard let position = hosts[host].disk.record.position else { return }
            if !contains(position, published) {
                violations.append("host \(host) opens term \(term) without what was published")
            }
        case .committed(let number):
            guard let position = position(number, at: host) else { return }
            publish(position, by: host)
        case .stored, .refused: break
        case .close(let closure):
            hosts[host].process?.isOpen = false
            switch closure {
            case .superseded: seen.insert(.superseded)
            case .handedOver: seen.insert(.handedOver)
            case .rolledBack: seen.insert(.rolledBack)
            case .ended: break
            case .unneeded: dropCopy(host)
            }
        }
    }

    /// A copy is found to be damaged. What was promised is elsewhere.
    private mutating func damageCopy(_ host: Int) {
        guard hosts[host].process?.write == nil else { return schedule(.damaged(host), after: delay(1...20)) }
        guard mayFail, hosts[host].disk.record.position != nil, hosts[host].process?.core.isPrimary != true,
            mayLose(host)
        else { return }
        seen.insert(.copyDamaged)
        hosts[host].disk.perform(.discard)
        step(host) { $0.copyLost() }
    }

    /// The primary has no use for a copy.
    private mutating func dropCopy(_ host: Int) {
        seen.insert(.copyDropped)
        hosts[host].disk.perform(.discard)
        hosts[host].process = nil
        schedule(.started(host), after: .zero)
    }

    /// Whether a standby has no room for what it is to store. Its own coordinator's journal has the room that its own jobs make.
    private func isRefused(_ write: ReplicaWrite<SimulatedContent>, at host: Int) -> Bool {
        guard hosts[host].isShort else { return false }
        if case .append(_, _, hosts[host].disk.id) = write { return false }
        if flaw == .termRefusedForRoom, case .append = write { return true }
        if hosts[host].process?.core.isOpening == true { return false }
        return write.needsRoom(hasCopy: hosts[host].disk.record.position != nil) && !write.makesRoom
    }

    private func position(_ number: UInt64, at host: Int) -> LogPosition? {
        var position = hosts[host].disk.record.position
        while let found = position, found.number > number { position = batches[found.hash]?.previous }
        return position
    }

    /// Notes the batches that a primary makes: a term has one primary.
    private mutating func note(_ made: [Batch], _ primary: ReplicaID) {
        for batch in made {
            batches[batch.position.hash] = batch
            if let set = batch.set {
                if set.former.isEmpty { seen.insert(.membersChanged) }
                if set.members.count < set.former.count { seen.insert(.votesGivenBack) }
                if !set.members.contains(primary) { seen.insert(.passedOn) }
            }
            let other = primaries.updateValue(primary, forKey: batch.position.term) ?? primary
            if other != primary { violations.append("term \(batch.position.term) has two primaries") }
        }
    }

    private mutating func propose() {
        guard !isIdle else { return }
        // Now and then nothing happens for a while, and the calls come more seldom.
        // Once nothing fails any more, there is only to be seen that somebody stores.
        let pause = mayFail ? delay(chance(1) ? 12_000...30_000 : 10...400) : delay(100...2000)
        schedule(.proposed, after: pause)
        for host in hosts.indices where hosts[host].process?.isOpen == true {
            lastValue += 1
            let jobs = hosts[host].disk.rows.jobs
            var entries: [SimulatedContent.Entry] = []
            // A coordinator keeps within what those have room for that keep copies, and goes on deleting.
            let isShort = hosts[host].disk.record.set.everyone.contains { replica in
                self.host(of: replica).map { hosts[$0].isShort } ?? false
            }
            if isShort {
                entries = [.deleted(job: jobs.keys.min() ?? 0)]
                seen.insert(.deletedWithoutRoom)
            } else if let job = jobs.keys.sorted().randomElement(using: &random), !chance(20) {
                entries = [.result(job: job, task: UInt64.random(in: 0..<8, using: &random), value: lastValue)]
                if chance(10) { entries.append(.deleted(job: job)) }
            } else {
                entries = [.submitted(job: UInt64.random(in: 1...20, using: &random) << 20 | lastValue)]
            }
            let content = SimulatedContent(entries)
            let proposal = lastValue
            step(host) { $0.propose(content, proposal: proposal) }
        }
    }

    // MARK: - Faults

    /// Misfortunes come at the worst moment now and then: after a promise, and where an election was lost.
    private mutating func crashAtWorst(_ reply: ReplicaReply, _ host: Int) {
        guard mayFail, reply.isGranted else { return }
        let hasLost =
            reply.position?.term == hosts[host].stoodFor && hosts[host].process?.core.isPrimary == false
        if hasLost { hosts[host].stoodFor = 0 }
        guard hasLost && chance(50) || reply.promised > published.term && chance(25) else { return }
        schedule(.fault(.crash(host, for: delay(10...300))), after: delay(0...20))
        if chance(50) { cuts = cuts.filter { $0.key.contains(host) == false } }
    }

    /// A new primary is lost at once. That is worst where the former one, which has gone on alone meanwhile, is back now.
    private mutating func failAtOpening(_ host: Int) {
        if chance(10) {
            schedule(.fault(.crash(host, for: delay(100...20_000))), after: delay(0...50))
        } else if cuts.values.contains(where: { $0 > now }), chance(30) {
            cuts = [:]
            schedule(.fault(.crash(host, for: delay(5000...20_000))), after: delay(0...500))
        }
    }

    mutating func crash(_ host: Int) {
        guard let process = hosts[host].process else { return }
        // The last write may have reached the disk although nobody heard of it.
        if let write = process.write, hosts[host].fullUntil <= now, chance(50) { hosts[host].disk.perform(write) }
        hosts[host].process = nil
        (hosts[host].frozenUntil, hosts[host].goodbye) = (.zero, nil)
        doubt(host, after: 0...100)
    }

    /// The others notice that the link to a host is in doubt.
    private mutating func doubt(_ host: Int, after time: ClosedRange<Int>, by others: [Int]? = nil) {
        for other in others ?? Array(hosts.indices) where other != host {
            guard let process = hosts[other].process else { continue }
            schedule(.doubted(other, process: process.number, hosts[host].disk.id), after: delay(time))
        }
    }

    /// The others notice that the link to a host is well again, some time after it is.
    private mutating func trust(_ host: Int, after time: Duration, by others: [Int]? = nil) {
        for other in others ?? Array(hosts.indices) where other != host && chance(70) {
            guard let process = hosts[other].process else { continue }
            schedule(.trusted(other, process: process.number, hosts[host].disk.id), after: time + delay(0...1000))
        }
    }

    private mutating func perform(_ fault: SimulatedFault) {
        switch fault {
        case .crash(let host, let time):
            crash(host)
            schedule(.started(host), after: time)
        case .wipe(let host, let time):
            guard mayLose(host) else { return }
            seen.insert(.diskLost)
            crash(host)
            hosts[host].disk = SimulatedDisk(ReplicaID(rawValue: random.next()))
            hosts[host].disk.forgetsPromises = flaw == .promiseNotDurable
            hosts[host].backups = []
            schedule(.started(host), after: time)
        case .rollBack(let host, let time):
            // One that has forgotten a promise that nothing follows from so far, or that there are copies, cannot be recognised
            // at once.
            let isDecided = hosts[host].disk.record.promised <= published.term
            let backups = hosts[host].backups.filter {
                $0.disk.id == hosts[host].disk.id && $0.disk.record.set.members.count > 1
            }
            // The members that the backup names decide when it is back.
            guard isDecided, let backup = backups.randomElement(using: &random),
                mayLose(host, isForgetting: true, alsoOf: [backup.disk.record.set])
            else { return }
            seen.insert(.diskPutBack)
            crash(host)
            hosts[host].disk = backup.disk
            hosts[host].disk.wasPutBack = true
            schedule(.started(host), after: time)
        case .freeze(let host, let time):
            hosts[host].frozenUntil = max(hosts[host].frozenUntil, now + time)
            if time > .seconds(1) {
                doubt(host, after: 1000...3000)
                trust(host, after: time)
            }
        case .full(let host, let time): hosts[host].fullUntil = now + time
        case .slow(let host, let time): hosts[host].slowUntil = now + time
        case .cut(let from, let to, let time):
            cuts[[from, to]] = now + time
            doubt(from, after: 500...3000, by: [to])
            doubt(to, after: 500...3000, by: [from])
            trust(from, after: time, by: [to])
            trust(to, after: time, by: [from])
        case .split(let place, let time):
            for left in 0..<place {
                for right in place..<hosts.count {
                    cuts[[left, right]] = now + time
                    cuts[[right, left]] = now + time
                    doubt(left, after: 500...3000, by: [right])
                    doubt(right, after: 500...3000, by: [left])
                    trust(left, after: time, by: [right])
                    trust(right, after: time, by: [left])
                }
            }
        case .powerCut(let time):
            for host in hosts.indices {
                crash(host)
                schedule(.started(host), after: time + delay(0...3000))
            }
        case .goodbye(let host, let time): sayGoodbye(host, thenFor: time)
        case .handOver:
            guard let host = hosts.indices.first(where: { hosts[$0].process?.isOpen == true }) else { return }
            step(host) { $0.handOver(to: $0.record.set.members) }
        }
    }

    /// Whether this disk may be lost: one is survived while a majority of the members is left, and one of these has what was
    /// published.
    ///
    /// - Parameter isForgetting: whether the disk is to come back as it was earlier. What it has acknowledged counts as published then:
    ///   a primary that was frozen meanwhile finds that answer, and nobody is left who knows that it holds no more.
    private func mayLose(_ host: Int, isForgetting: Bool = false, alsoOf others: [ReplicaSet] = []) -> Bool {
        var published = published
        if isForgetting, hosts[host].process?.core.isPrimary != true, let position = hosts[host].disk.record.position,
            contains(position, published)
        {
            published = position
        }
        let sets =
            hosts.compactMap { $0.disk.record.position == nil ? nil : $0.disk.record.set } + [publishedSet]
            + hosts.flatMap { $0.process?.core.setsUnderWay ?? [] } + others
        return sets.allSatisfy { set in
            set.survives(
                losing: hosts[host].disk.id, isForgetting: isForgetting,
                isWhole: { replica in
                    guard let other = self.host(of: replica) else { return false }
                    return hosts[other].disk.record.position != nil && !hosts[other].disk.wasPutBack
                },
                hasPublished: { replica in
                    guard let other = self.host(of: replica), let position = hosts[other].disk.record.position else {
                        return false
                    }
                    return contains(position, published)
                })
        }
    }

    /// The members as what was published says.
    private var publishedSet: ReplicaSet {
        var position = published
        while let batch = batches[position.hash] {
            if let set = batch.set { return set }
            position = batch.previous
        }
        return ReplicaSet(members: hosts.first.map { [$0.disk.id] } ?? [])
    }
}

extension ReplicaCore {
    /// The members that are about to be stored. The loss of an only one is as bad then as when they are.
    fileprivate var setsUnderWay: [ReplicaSet] {
        (jobs + [underWay].compactMap(\.self)).compactMap { job in
            if case .propose(_, let set, _) = job { set } else { nil }
        }
    }
}
