import Base
import Transport

@testable import SkyCore

/// The coordinator of a replicated journal: it begins and ends where its replicas say, and stores through them.
extension SimulatedCluster {
    mutating func open(_ term: UInt64, at host: Int) {
        // It may have been taken over since it was told to begin.
        guard let node = hosts[host].node, let head = hosts[host].disk.record.position,
            case .primary(let primary) = hosts[host].process?.replica?.core.role, primary.term == term
        else { return }
        checkDisk(of: host, "at the opening of term \(term)")
        // Another one may have published in a later term since: this one was frozen before it heard that it may begin.
        if !copies.contains(head, copies.published(upTo: term)) {
            violations.append("\(hosts[host].name) opens term \(term) without what was published")
        }
        if let position = copies.at(primary.committed, before: head) { publish(position, by: host) }
        if term > 1 { copies.seen.insert(.takenOver) }
        if hosts.contains(where: { $0.process?.core != nil && $0.name != hosts[host].name }) {
            copies.seen.insert(.coordinatorsBeside)
        }
        let isWithoutTerm = copies.flaw == .generationWithoutTerm
        let isRisky = !hosts[host].disk.isFirst
        let incarnation = hosts[host].disk.journal.beginIncarnation(term: isWithoutTerm ? 0 : term)
        let disk = hosts[host].disk
        endCoordinator(at: host)
        hosts[host].process?.replica?.term = term
        hosts[host].process?.coreStart = now
        let hostName = hosts[host].name
        hosts[host].process?.core = CoordinatorCore(
            incarnation: incarnation, secret: [1], node: node, name: hostName, ranBefore: disk.ran)
        // The others have more batches on the way, and so more that are torn when a host dies.
        if host % 2 == 1 { hosts[host].process?.core?.writeAhead.gatheringTime = Coordinator.gatheringTime }
        for id in disk.journal.order {
            guard let job = disk.journal.jobs[id] else { continue }
            if job.report == nil, term > 1 { copies.seen.insert(.jobsTakenOver) }
            let replay = disk.journal.replay(job, isRisky: isRisky)
            change(host) { $0.restore(job, replay) }
        }
        checkEnded(at: host, in: term)
        change(host) { $0.joined(node, name: hostName, isDraining: false) }
        for other in hosts.indices where linked(host, other) {
            guard let node = hosts[other].node else { continue }
            let (name, isDraining) = (hosts[other].name, hosts[other].process?.book.isDraining ?? false)
            change(host) { $0.joined(node, name: name, isDraining: isDraining) }
        }
    }

    /// The coordinator ends here. Its journal is a copy from now on, which counts as much as before.
    mutating func close(_ host: Int) {
        guard copies.flaw != .publishedAfterSuperseded else { return }
        endCoordinator(at: host)
        defer { hosts[host].disk.isOwn = false }
        guard copies.flaw == .supersededForgotten else { return }
        endReplica(at: host)
        guard hosts[host].disk.isOwn else { return }
        if let position = hosts[host].disk.record.position { copies.lostPositions.append(position) }
        hosts[host].disk.setAside()
    }

    private mutating func endCoordinator(at host: Int) {
        hosts[host].process?.core = nil
        hosts[host].process?.unanswered = []
        hosts[host].process?.hasWriter = false
        hosts[host].process?.isWriting = false
        hosts[host].process?.replica?.proposals = [:]
        hosts[host].process?.replica?.waiters = []
        inFlight[host] = nil
    }

    // MARK: - Storing

    mutating func propose(_ entries: [JournalEntry], at host: Int) {
        guard let ran = hosts[host].process?.core?.ran, let replica = hosts[host].process?.replica else { return }
        replica.lastProposal += 1
        let proposal = replica.lastProposal
        replica.proposals[proposal] = SimulatedReplica.Proposal(entries: entries)
        let content = ReplicatedEntries(entries, ran: ran, serial: copies.nextSerial())
        step(host) { $0.propose(content, proposal: proposal) }
    }

    /// The coordinator hears what became of what it wanted stored.
    ///
    /// - Parameter position: where it is committed; `nil` where it cannot be stored now.
    mutating func settle(_ proposal: UInt64, at host: Int, _ position: LogPosition?) {
        guard let state = hosts[host].process?.replica?.proposals.removeValue(forKey: proposal),
            hosts[host].process?.core != nil
        else { return }
        if let position {
            publish(position, by: host)
        } else if copies.flaw != .publishedAfterSuperseded || hosts[host].process?.replica?.core.isPrimary == true {
            failToStore("it cannot be stored", at: host)
            guard let replica = hosts[host].process?.replica else { return }
            return schedule(
                .replicated(.proposed(state.entries, host, session: replica.session, term: replica.term)),
                after: .seconds(1))
        }
        inFlight[host] = nil
        hosts[host].process?.isWriting = false
        change(host) { $0.stored(state.entries.count, in: nil) }
        releaseWaiters(at: host)
    }

    private mutating func failToStore(_ reason: String, at host: Int) {
        seen.insert(.journalFailed)
        change(host) { $0.journalFailed(reason) }
        let waiters = hosts[host].process?.replica?.waiters ?? []
        hosts[host].process?.replica?.waiters = []
        // What nobody was told of is taken back.
        for waiter in waiters where waiter.isNew { change(host) { $0.delete(waiter.job) } }
    }

    /// Notices when too few copies can be reached, while something waits for them, and when that is over.
    mutating func watchCopies(at host: Int) {
        guard hosts[host].process?.core != nil, let core = hosts[host].process?.replica?.core,
            case .primary(let primary) = core.role
        else { return }
        let isWaiting =
            primary.committed < core.record.position?.number ?? 0 && !core.record.set.isQuorum([core.own])
            && !core.hearsQuorum(primary)
        if isWaiting {
            failToStore("too few copies can be reached", at: host)
        } else {
            change(host) { $0.journalRecovered() }
        }
    }

    // MARK: - Clients

    /// Somebody asks a coordinator for something, and asks again when there is no answer.
    mutating func ask(_ request: SimulatedClient.Request, for client: Int) {
        guard !copies.clients[client].answered.contains(request) else { return }
        schedule(.replicated(.asked(client, request)), after: delay(1500...4000))
        let coordinators = hosts.indices.filter { hosts[$0].process?.core != nil && hosts[$0].frozenUntil <= now }
        guard let host = coordinators.randomElement(using: &random) else { return }
        switch request {
        case .submit: submit(for: client, at: host)
        case .cancel, .delete:
            guard let job = copies.clients[client].id else { return }
            if copies.ledger.jobs[job] == nil { return _ = copies.clients[client].answered.insert(request) }
            guard hosts[host].process?.core?.jobs[job] != nil else { return }
            change(host) { request == .cancel ? $0.cancel(job) : $0.delete(job) }
            wait(for: SimulatedReplica.Waiter(entry: 0, client: client, request: request, job: job), at: host)
        }
    }

    private mutating func submit(for client: Int, at host: Int) {
        let (request, token) = (copies.clients[client].job, copies.clients[client].token)
        if let asked = copies.clients[client].asked, asked != host { copies.seen.insert(.repeatedElsewhere) }
        copies.clients[client].asked = host
        let new = JobID(rawValue: random.next())
        var taken = Result<JobID, any Error>.success(new)
        change(host) { core in
            // Some wait for their first results to be stored with them.
            let wait: Duration? = new.rawValue.isMultiple(of: 2) ? .milliseconds(3) : nil
            taken = Result { try core.submit(request, token: token, as: new, waiting: wait) }
        }
        switch taken {
        case .failure(let refusal): violations.append("\(token) was refused: \(refusal)")
        case .success(let job):
            wait(
                for: SimulatedReplica.Waiter(entry: 0, client: client, request: .submit, job: job, isNew: job == new),
                at: host)
        }
    }

    private mutating func wait(for waiter: SimulatedReplica.Waiter, at host: Int) {
        guard let entry = hosts[host].process?.core?.writeAhead.lastEntry else { return }
        var waiter = waiter
        waiter.entry = entry
        hosts[host].process?.replica?.waiters.append(waiter)
        releaseWaiters(at: host)
    }

    private mutating func releaseWaiters(at host: Int) {
        guard let stored = hosts[host].process?.core?.writeAhead.lastStored else { return }
        let done = hosts[host].process?.replica?.waiters.filter { $0.entry <= stored } ?? []
        hosts[host].process?.replica?.waiters.removeAll { $0.entry <= stored }
        for waiter in done { answer(waiter) }
    }

    private mutating func answer(_ waiter: SimulatedReplica.Waiter) {
        let (client, job) = (waiter.client, waiter.job)
        copies.clients[client].answered.insert(waiter.request)
        switch waiter.request {
        case .submit:
            let known = copies.clients[client].id ?? job
            if known != job { violations.append("\(copies.clients[client].token) has become \(known) and \(job)") }
            copies.clients[client].id = job
            if copies.ledger.jobs[job] == nil, !copies.gone.contains(job) {
                violations.append("\(job) was said to be stored, and is not")
            }
        case .cancel:
            copies.seen.insert(.cancelled)
            copies.cancelled[job] = copies.published.term
            if copies.ledger.jobs[job].map({ $0.report == nil }) == true {
                violations.append("\(job) was said to be cancelled, and goes on")
            }
        case .delete:
            copies.seen.insert(.deleted)
            copies.deleted[job] = copies.published.term
            if copies.ledger.jobs[job] != nil { violations.append("\(job) was said to be deleted, and is there") }
        }
    }
}
