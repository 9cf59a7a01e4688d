import Transport

@testable import SkyCore

// Hosts that go in order: they say goodbye, wait until the others can do without them, and come back later.

extension SimulatedReplicas {
    /// - Parameter limit: how long it waits at most. A copy that another host has not begun yet takes its time.
    mutating func sayGoodbye(_ host: Int, atMost limit: Duration = .seconds(10), thenFor time: Duration?) {
        guard let process = hosts[host].process, !process.isLeaving else { return }
        seen.insert(.saidGoodbye)
        hosts[host].goodbye = (now + limit, time)
        beginLeaving(host)
    }

    /// Also where a replica begins anew at a host that is about to go.
    mutating func beginLeaving(_ host: Int) {
        guard let (end, time) = hosts[host].goodbye else { return }
        hosts[host].process?.isLeaving = true
        leave(host, until: end, thenFor: time)
    }

    /// What `Copies.leave` does, once.
    mutating func leave(_ host: Int, until end: Duration, thenFor time: Duration?) {
        for other in hosts.indices where isLinked(host, other) {
            guard hosts[other].process?.goodbyes[host] == nil else { continue }
            hosts[other].process?.goodbyes[host] = now
            if flaw == .goodbyeWithoutConsent, hosts[other].process?.isOpen == true {
                step(other) { $0.continueWithoutStandbys() }
            }
        }
        // Nobody has to go on with a journal without jobs.
        let hasJobs = hosts[host].process?.isOpen != true || !hosts[host].disk.rows.jobs.isEmpty
        step(host) {
            $0.isLeaving = hasJobs
            $0.stir()
        }
        tick(host)
        let own = hosts[host].disk.id
        for other in hosts.indices where isLinked(host, other) {
            step(other) { $0.stir() }
            tick(other)
        }
        var isNeeded = hosts.indices.contains {
            isLinked(host, $0) && hosts[$0].process?.core.needs(own) == true
        }
        if flaw == .goodbyeBeforeCopies, deleted != nil { isNeeded = false }
        let available = reachable(from: host)
        let linked = hosts.indices.filter { isLinked(host, $0) }.map { hosts[$0].disk.id }
        let isBusy = hosts[host].process.map { process in
            process.core.needsSuccessor && !available.isEmpty || process.core.isSettling
                || process.core.isAwaited(by: linked)
                || !process.core.isLeaving && flaw != .goodbyeBeforeCopies && process.core.isAhead(of: linked)
        }
        if isNeeded || isBusy == true, now < end, flaw != .goodbyeKeepsVote {
            seen.insert(.heldBack)
            let process = hosts[host].process?.number ?? 0
            return schedule(.leaving(host, process: process, until: end, thenFor: time), after: .milliseconds(100))
        }
        checkCopies(asGoes: host)
        if hosts[host].process?.isOpen == true { isWithoutJobs = !hasJobs }
        crash(host)
        if let time { schedule(.started(host), after: time) }
    }

    /// Whether those copies know that all jobs were deleted which are not told any more: that of a host that goes, and where the primary
    /// goes, those of the hosts that it can reach.
    private mutating func checkCopies(asGoes host: Int) {
        guard let deleted else { return }
        let isPrimary = hosts[host].process?.isOpen == true
        for other in hosts.indices where other == host || isPrimary && isLinked(host, other) {
            guard let position = hosts[other].disk.record.position, !contains(position, deleted) else { continue }
            violations.append("host \(host) goes, and host \(other) has jobs that were deleted: \(summary)")
        }
    }

    mutating func tick(_ host: Int) {
        let available = reachable(from: host)
        for other in hosts.indices where isLinked(host, other) && hosts[other].process?.isLeaving == false {
            if flaw != .goodbyeOutlivesReturn { hosts[host].process?.goodbyes[other] = nil }
        }
        var away: [ReplicaID: Duration] = [:]
        for (other, time) in hosts[host].process?.goodbyes ?? [:] { away[hosts[other].disk.id] = now - time }
        if flaw == .goodbyeKeepsVote { away = [:] }
        step(host) { $0.tick(available: available, away: away) }
    }

    // MARK: - At the end

    /// All hosts but one are switched off in order, in any order and at any distance. The last one goes on with the journal, unless that
    /// had no jobs when its primary went. When all are back, there are as many copies as before.
    mutating func spendNight() {
        guard violations.isEmpty else { return }
        makeRoom()
        run(until: now + .seconds(60))
        isWithoutJobs = false
        let order = hosts.indices.shuffled(using: &random)
        let gap = [0...50, 100...3000, 2000...20_000][Int.random(in: 0..<3, using: &random)]
        for host in order.dropLast() {
            sayGoodbye(host, atMost: .seconds(60), thenFor: nil)
            run(until: now + delay(gap))
        }
        run(until: now + .seconds(80))
        publishedAtEnd = 0
        run(until: now + .seconds(5))
        guard violations.isEmpty else { return }
        let last = order[order.count - 1]
        if hosts[last].process?.isOpen != true || publishedAtEnd == 0, !isWithoutJobs {
            violations.append("host \(last) is the last one and does not go on, after \(order): \(summary)")
        }
        guard violations.isEmpty else { return }
        for host in order.dropLast().shuffled(using: &random) {
            start(host)
            run(until: now + delay(gap))
        }
        run(until: now + .seconds(60))
        guard violations.isEmpty, let open = hosts.indices.first(where: { hosts[$0].process?.isOpen == true }) else {
            return violations.append("there is no primary in the morning: \(summary)")
        }
        let members = hosts[open].process?.core.record.set.members.count ?? 0
        let wanted = min(policy.copies, hosts.count - 1) / 2 * 2 + 1
        if members != wanted { violations.append("\(members) members in the morning, of \(wanted): \(summary)") }
    }

    /// All jobs are deleted. As soon as that is published, the primary goes in order, another host, or both.
    mutating func deleteAll() {
        guard violations.isEmpty, let open = hosts.indices.first(where: { hosts[$0].process?.isOpen == true }) else {
            return
        }
        isIdle = true
        run(until: now + .seconds(10))
        let jobs = hosts[open].disk.rows.jobs.keys.sorted()
        lastValue += 1
        let proposal = lastValue
        step(open) { $0.propose(SimulatedContent(jobs.map { .deleted(job: $0) }), proposal: proposal) }
        let end = now + .seconds(10)
        while now < end, violations.isEmpty,
            published != hosts[open].disk.record.position
                || !hosts[open].disk.rows.jobs.isEmpty
        {
            pass(.milliseconds(5))
        }
        deleted = published
        let other = (open + Int.random(in: 1..<hosts.count, using: &random)) % hosts.count
        let going = [[open], [other], [open, other], [other, open]][Int.random(in: 0..<4, using: &random)]
        for host in going {
            sayGoodbye(host, atMost: .seconds(60), thenFor: nil)
            if chance(50) { pass(delay(0...300)) }
        }
        run(until: now + .seconds(30))
        deleted = nil
    }

    private mutating func pass(_ time: Duration) {
        let end = now + time
        run(until: end)
        now = max(now, end)
    }
}
