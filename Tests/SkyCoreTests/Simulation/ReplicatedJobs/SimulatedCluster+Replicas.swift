import Transport

@testable import SkyCore

extension SimulatedCluster {
    mutating func perform(_ happening: ReplicatedHappening) {
        switch happening {
        case .ticked(let host, let session):
            guard isAlive(host, session) else { return }
            let (available, away) = (available(to: host), away(from: host))
            step(host) { $0.tick(available: available, away: away) }
            if chance(20) { watchCopies(at: host) }
            // No more often than this, so that a history takes less time.
            let pause = max(hosts[host].process?.replica?.core.tickPause ?? .zero, .milliseconds(200))
            schedule(.replicated(.ticked(host, session: session)), after: pause)
        case .arrived(let request, let from, let call, let session, let replica):
            arrive(request, from, call, session, at: replica)
        case .replied(let reply, let replica, let call, let host, let session):
            guard isAlive(host, session) else { return }
            step(host) { $0.replied(reply, from: replica, call: call) }
        case .unanswered(let call, let replica, let host, let session):
            guard isAlive(host, session) else { return }
            step(host) { $0.failed(to: replica, call: call) }
        case .wrote(let write, let host, let session, let isStored):
            guard isAlive(host, session) else { return }
            if isStored { hosts[host].disk.perform(write) } else { copies.seen.insert(.storedNothing) }
            hosts[host].process?.replica?.write = nil
            touched.insert(host)
            if case .finish = write, isStored {
                copies.seen.insert(.copied)
                checkDisk(of: host, "a new copy")
            }
            step(host) { $0.wrote(isStored) }
        case .pageRead(let replica, let cursor, let host, let session):
            guard isAlive(host, session) else { return }
            let (entries, next) = hosts[host].disk.journal.page(from: cursor)
            let page = ReplicatedEntries(entries, ran: hosts[host].disk.ran, serial: copies.nextSerial())
            step(host) { $0.pageRead(page, next: next, for: replica) }
        case .opened(let host, let session, let term): if isAlive(host, session) { open(term, at: host) }
        case .closed(let host, let session): if isAlive(host, session) { close(host) }
        case .settled(let proposal, let host, let session, let position):
            if isAlive(host, session) { settle(proposal, at: host, position) }
        case .proposed(let entries, let host, let session, let term):
            guard isAlive(host, session), hosts[host].process?.replica?.term == term else { return }
            if hosts[host].process?.core != nil { propose(entries, at: host) }
        case .asked(let client, let request): ask(request, for: client)
        case .backedUp:
            for host in hosts.indices { hosts[host].backups.append(hosts[host].disk) }
            schedule(.replicated(.backedUp), after: delay(3000...9000))
        case .left(let host, let time):
            copies.seen.insert(.leftInOrder)
            crash(host, for: time)
        case .fault(let fault): if copies.mayFail { perform(fault) }
        }
    }

    /// The replicas that have said goodbye to a machine and are not back.
    private mutating func away(from host: Int) -> [ReplicaID: Duration] {
        var away: [ReplicaID: Duration] = [:]
        for other in hosts.indices {
            guard let (replica, time) = copies.goodbyes[[host, other]] else { continue }
            if hosts[other].process?.replica?.core.isLeaving != true, linked(host, other) {
                copies.goodbyes[[host, other]] = nil
            } else {
                away[replica] = now - time
            }
        }
        return away
    }

    func isAlive(_ host: Int, _ session: Int) -> Bool { hosts[host].process?.replica?.session == session }

    /// Until when the process that something happens to is frozen: what is for it waits, in order.
    func thaw(of happening: Happening) -> Duration? {
        let host: Int? =
            switch happening {
            case .woken(let host, _, _), .called(_, let host, _, _), .collectionTimedOut(let host, _, _, _),
                .ended(_, let host, _, _, _), .expiryChecked(let host, _), .linkHeard(let host, _, _, _):
                host
            case .arrived(_, _, let target): self.host(of: target)
            case .answered(_, let caller, _): caller.host
            case .replicated(.arrived(_, _, _, _, let replica)): self.host(with: replica)
            case .replicated(let happening): happening.host
            default: nil
            }
        return host.flatMap { hosts[$0].frozenUntil > now ? hosts[$0].frozenUntil : nil }
    }

    func host(with replica: ReplicaID) -> Int? {
        hosts.indices.first { hosts[$0].disk.id == replica && hosts[$0].knowsCopies }
    }

    /// Whether a message from one machine reaches the other.
    func arrives(from: Int, to: Int) -> Bool {
        linked(from, to) && copies.arrives(from: from, to: to, now: now)
    }

    /// The replicas that may keep a copy and can be reached.
    private func available(to host: Int) -> [ReplicaID] {
        hosts.indices.filter {
            $0 != host && hosts[$0].knowsCopies && linked(host, $0)
                && hosts[$0].process?.replica?.core.isLeaving != true
        }.map { hosts[$0].disk.id }
    }

    // MARK: - Processes

    mutating func startReplicated(_ host: Int, as node: NodeID) {
        hosts[host].node = node
        hosts[host].process = SimulatedHost.Process(
            book: WorkBook(slots: hosts[host].slots, leaseDuration: SimulatedCluster.leaseDuration))
        hosts[host].frozenUntil = .zero
        let disk = hosts[host].disk
        if hosts[host].knowsCopies, disk.isOwn || disk.record.position != nil { beginReplica(at: host) }
        linkToOthers(host)
    }

    private mutating func beginReplica(at host: Int) {
        copies.lastSession += 1
        if hosts[host].disk.isOwn, hosts[host].disk.record.position == nil {
            hosts[host].disk.record.set = ReplicaSet(members: [hosts[host].disk.id])
        }
        let (disk, clock, session) = (hosts[host].disk, delay(0...3_600_000), copies.lastSession)
        let core: SimulatedReplica.Core =
            disk.isOwn && disk.record.position == nil
            ? .first(disk.id, policy: copies.policy, seed: random.next(), now: clock)
            : SimulatedReplica.Core(
                disk.id, record: disk.record, recent: disk.recent, policy: copies.policy, seed: random.next(),
                now: clock)
        if case .primary(let primary) = core.role {
            copies.seen.insert(.returned)
            if copies.primaries[primary.term] ?? disk.id != disk.id {
                violations.append(
                    "\(hosts[host].name) begins as the primary of term \(primary.term), which is another's")
            }
        }
        hosts[host].process?.replica = SimulatedReplica(core: core, session: session, start: now, clock: clock)
        checkDisk(of: host, "at a start")
        step(host) { $0.begin() }
        schedule(.replicated(.ticked(host, session: session)), after: delay(0...200))
    }

    /// The last write may have reached the disk, or some of its batches, although nobody heard of it.
    mutating func tearWrite(at host: Int) {
        copies.lastDisturbance = now
        guard let replica = hosts[host].process?.replica else { return }
        if let write = replica.write, hosts[host].diskFullUntil <= now, chance(50) {
            var count = Int.max
            if case .append(let batches, _, _) = write, batches.count > 1 {
                copies.seen.insert(.tornWrite)
                count = Int.random(in: 0...batches.count, using: &random)
            }
            hosts[host].disk.perform(write, upTo: count)
        }
        for (_, caller) in replica.tickets.sorted(by: { $0.key < $1.key }) {
            lose(caller.call, of: hosts[host].disk.id, at: caller.host, caller.session)
        }
    }

    // MARK: - What a replica says

    mutating func step(_ host: Int, _ event: (inout SimulatedReplica.Core) -> Void) {
        guard let replica = hosts[host].process?.replica else { return }
        let time = replica.clock + (now - replica.start)
        for output in hosts[host].process?.replica?.core.at(time, event) ?? [] {
            carryOut(output, at: host, replica.session)
        }
    }

    private mutating func carryOut(_ output: SimulatedReplica.Core.Output, at host: Int, _ session: Int) {
        guard isAlive(host, session) else { return }
        switch output {
        case .write(let write):
            if case .append(let made, _, let primary) = write, primary == hosts[host].disk.id {
                note(made, by: primary)
            }
            if case .promise(let term, hosts[host].disk.id) = write { copies.stoodFor[host] = term }
            hosts[host].process?.replica?.write = write
            let isStored = hosts[host].diskFullUntil <= now
            schedule(
                .replicated(.wrote(write, host, session: session, isStored: isStored)),
                after: hosts[host].slowUntil > now ? delay(100...2000) : delay(1...8))
            if case .append(let batches, _, _) = write, batches.count > 1 { crashInWrite(at: host) }
        case .send(let request, let replica, let call): send(request, from: host, session, to: replica, call)
        case .answer(let reply, let ticket):
            crashAtWorst(reply, host)
            guard let caller = hosts[host].process?.replica?.tickets.removeValue(forKey: ticket) else { return }
            answer(reply, by: host, to: caller.host, caller.session, caller.call)
        case .read(let replica, let cursor):
            schedule(
                .replicated(.pageRead(for: replica, from: cursor, host, session: session)), after: delay(0...20))
        case .open(let term):
            tellNode(.opened(host, session: session, term: term), after: chance(5) ? delay(100...1500) : delay(0...30))
            guard term > 1, copies.mayFail, copies.losesNext || chance(8) else { return }
            if copies.losesNext { copies.seen.insert(.lostInTurn) }
            copies.losesNext = false
            schedule(.replicated(.fault(.ofReplicas(.crash(host, for: delay(100...9000))))), after: delay(0...60))
        case .close(let closure):
            switch closure {
            case .superseded: copies.seen.insert(.superseded)
            case .handedOver: copies.seen.insert(.handedOver)
            case .rolledBack: copies.seen.insert(.rolledBack)
            case .unneeded: return
            case .ended: break
            }
            tellNode(.closed(host, session: session), after: delay(0...30))
        case .committed(let number): committed(number, at: host)
        case .stored(let proposal, let number):
            hosts[host].process?.replica?.proposals[proposal]?.number = number
            if copies.flaw == .publishedBeforeCopied { committed(number, at: host) }
        case .refused(let proposal):
            schedule(.replicated(.settled(proposal, host, session: session, at: nil)), after: delay(0...2))
        }
    }

    /// The node does one after the other what its replica says.
    private mutating func tellNode(_ happening: ReplicatedHappening, after pause: Duration) {
        guard let host = happening.host, let replica = hosts[host].process?.replica else { return }
        let due = max(now + pause, replica.nodeDone)
        hosts[host].process?.replica?.nodeDone = due
        schedule(.replicated(happening), after: due - now)
    }

    private mutating func committed(_ number: UInt64, at host: Int) {
        guard let replica = hosts[host].process?.replica, let head = hosts[host].disk.record.position else { return }
        for (proposal, state) in replica.proposals.sorted(by: { $0.key < $1.key }) {
            guard let stored = state.number, stored <= number, !state.isSettling else { continue }
            hosts[host].process?.replica?.proposals[proposal]?.isSettling = true
            schedule(
                .replicated(
                    .settled(proposal, host, session: replica.session, at: copies.at(stored, before: head))),
                after: delay(0...2))
        }
    }

    /// Notes the batches that a primary makes: a term has one primary.
    private mutating func note(_ made: [SimulatedCopies.Batch], by primary: ReplicaID) {
        for batch in made {
            copies.batches[batch.position.hash] = batch
            if let set = batch.set, set.former.isEmpty {
                copies.seen.insert(.membersChanged)
                if batch.position.term > 1 { copies.seen.insert(.changedAfterLoss) }
            }
            let other = copies.primaries.updateValue(primary, forKey: batch.position.term) ?? primary
            if other != primary { violations.append("term \(batch.position.term) has two primaries") }
        }
    }

    // MARK: - Calls among replicas

    private mutating func send(
        _ request: ReplicaRequest<ReplicatedEntries>, from host: Int, _ session: Int, to replica: ReplicaID,
        _ call: UInt64
    ) {
        guard let peer = self.host(with: replica), linked(host, peer) else {
            return schedule(
                .replicated(.unanswered(call: call, of: replica, at: host, session: session)), after: .milliseconds(200)
            )
        }
        guard copies.arrives(from: host, to: peer, now: now) else { return lose(call, of: replica, at: host, session) }
        schedule(
            .replicated(.arrived(request, from: host, call: call, session: session, to: replica)),
            after: chance(2) ? delay(0...2000) : delay(0...10))
    }

    private mutating func lose(_ call: UInt64, of replica: ReplicaID, at host: Int, _ session: Int) {
        schedule(
            .replicated(.unanswered(call: call, of: replica, at: host, session: session)), after: delay(200...2000))
    }

    private mutating func answer(_ reply: ReplicaReply, by host: Int, to caller: Int, _ session: Int, _ call: UInt64) {
        let replica = hosts[host].disk.id
        guard arrives(from: host, to: caller) else { return lose(call, of: replica, at: caller, session) }
        schedule(
            .replicated(.replied(reply, by: replica, call: call, to: caller, session: session)),
            after: chance(2) ? delay(0...2000) : delay(0...10))
    }

    private mutating func arrive(
        _ request: ReplicaRequest<ReplicatedEntries>, _ from: Int, _ call: UInt64, _ session: Int, at replica: ReplicaID
    ) {
        guard let host = self.host(with: replica), hosts[host].process != nil, arrives(from: from, to: host) else {
            return lose(call, of: replica, at: from, session)
        }
        if hosts[host].process?.replica == nil {
            switch request {
            case .append, .snapshot: beginReplica(at: host)
            case .promise, .takeOver:
                let nothing = ReplicaReply(promised: 0, position: nil, isGranted: false)
                return answer(nothing, by: host, to: from, session, call)
            }
        }
        hosts[host].process?.replica?.lastTicket += 1
        let ticket = hosts[host].process?.replica?.lastTicket ?? 0
        hosts[host].process?.replica?.tickets[ticket] = (from, session, call)
        step(host) { $0.receive(request, ticket: ticket) }
    }

    /// Nothing is carried out any more. Those who wait for an answer get one.
    mutating func endReplica(at host: Int) {
        guard let replica = hosts[host].process?.replica else { return }
        if let write = replica.write, chance(50) { hosts[host].disk.perform(write) }
        hosts[host].process?.replica = nil
        let refusal = ReplicaReply(promised: replica.core.record.promised, position: nil, isGranted: false)
        for (_, caller) in replica.tickets.sorted(by: { $0.key < $1.key }) {
            answer(refusal, by: host, to: caller.host, caller.session, caller.call)
        }
    }
}
