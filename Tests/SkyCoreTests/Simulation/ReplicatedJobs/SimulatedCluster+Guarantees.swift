import Transport

@testable import SkyCore

/// What a replicated journal promises, checked where it could be broken.
extension SimulatedCluster {
    /// A coordinator is about to publish everything up to a position. All that is ever published is one line, of which every
    /// entry is stored once, on two machines at least where there are two.
    mutating func publish(_ position: LogPosition, by host: Int) {
        guard copies.contains(position, copies.published) else {
            if !copies.contains(copies.published, position) {
                let (one, other) = (position, copies.published)
                violations.append(
                    "\(hosts[host].name) publishes \(one.term).\(one.number), which is not in line with \(other.term).\(other.number)"
                )
            }
            return
        }
        for batch in copies.between(copies.published, position) {
            let entries = batch.content?.entries ?? []
            for case .submitted(let job) in entries where copies.gone.contains(job.id) {
                violations.append("\(job.id) was deleted and is back")
            }
            copies.ledger.append(entries)
            for entry in entries where entry.isDeletion { copies.gone.insert(entry.job) }
        }
        violations += copies.ledger.violations
        copies.published = position
        guard copies.set(at: position, first: hosts[host].disk.id).members.count > 1 else { return }
        let places = hosts.compactMap(\.disk.record.position) + copies.lostPositions
        let count = places.count { copies.contains($0, position) }
        if count < 2 { violations.append("\(position.term).\(position.number) is published, and on \(count) disks") }
    }

    /// Nothing is shown of a job that is not in the line of what was published.
    mutating func checkPublished(by host: SimulatedHost) {
        violations += host.disk.journal.violations
        for job in host.process?.core?.jobs.all.map({ $0 }) ?? [] where !copies.gone.contains(job.id) {
            let (id, shown) = (job.id, job.published)
            let stored = copies.ledger.results[id]?.count ?? 0
            if shown.completed > stored {
                violations.append("\(host.name), \(id): published \(shown.completed), stored \(stored)")
            }
            if shown.failed > copies.ledger.failures[id]?.count ?? 0 {
                violations.append("\(host.name), \(id): published failures that are not stored")
            }
            if shown.report != nil, copies.ledger.jobs[id]?.report == nil {
                violations.append("\(host.name), \(id) was said to have ended before that was stored")
            }
        }
    }

    /// A disk holds what its position says.
    mutating func checkDisk(of host: Int, _ what: String) {
        guard let position = hosts[host].disk.record.position else { return }
        var expected = SimulatedJournal(ReplicatedDisk.coordinator)
        for batch in copies.between(.start, position) { expected.append(batch.content?.entries ?? []) }
        violations += expected.violations
        if !hosts[host].disk.journal.holdsSame(as: expected) {
            violations.append("\(what): \(hosts[host].name) does not hold what its position says")
        }
    }

    /// What somebody knows to have been ended does not come back. One that was frozen before a later term began, in which the job
    /// ended, still has it: it can publish nothing (`publish`).
    mutating func checkEnded(at host: Int, in term: UInt64) {
        guard let jobs = hosts[host].process?.core?.jobs else { return }
        for (job, ended) in copies.deleted where ended <= term && jobs[job] != nil {
            violations.append("\(job) was deleted, and \(hosts[host].name) takes it up")
        }
        for (job, ended) in copies.cancelled where ended <= term && jobs[job]?.isActive == true {
            violations.append("\(job) was cancelled, and \(hosts[host].name) goes on with it")
        }
    }

    // MARK: - Nodes

    /// A node that has worked for a term does not work for an earlier one.
    mutating func noteObeyed(_ caller: Caller, at peer: Int) {
        guard copies.areKept, let node = hosts[peer].node, let term = hosts[caller.host].process?.replica?.term else {
            return
        }
        if let known = copies.obeyed[node], known > term {
            violations.append("\(hosts[peer].name) works for term \(term) after term \(known)")
        }
        copies.obeyed[node] = max(term, copies.obeyed[node] ?? 0)
    }

    mutating func noteDelivered(_ results: [AttemptResult], at peer: Int) {
        guard copies.areKept, let node = hosts[peer].node else { return }
        for result in results {
            if result.attempt.generation >> 32 < copies.published.term { copies.seen.insert(.handedOn) }
            guard case .success = result.outcome.end else { continue }
            copies.delivered[node, default: [:]][result.sequence] = result.attempt
        }
    }

    /// What a node may forget is in the line of what was published, unless nobody needs it any more.
    mutating func noteAcknowledged(_ sequence: UInt64, by caller: Caller, at peer: Int) {
        guard copies.areKept, let node = hosts[peer].node else { return }
        for (number, attempt) in (copies.delivered[node] ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard number <= sequence else { break }
            copies.delivered[node]?[number] = nil
            let (job, task) = (attempt.job, attempt.task.index)
            guard let stored = copies.ledger.jobs[job], stored.report == nil else { continue }
            if copies.ledger.results[job]?[task] == nil, copies.ledger.failures[job]?[task] == nil {
                violations.append("\(hosts[peer].name) forgets the result of \(job)/\(task), which is stored nowhere")
            }
        }
    }

    // MARK: - The end

    /// Nothing more goes wrong but what tasks do. There is one coordinator soon, and it does everything that was asked.
    mutating func calmDown() {
        copies.mayFail = false
        copies.cuts = [:]
        for host in hosts.indices {
            (hosts[host].diskFullUntil, hosts[host].slowUntil, hosts[host].frozenUntil) = (.zero, .zero, .zero)
        }
        copies.lastDisturbance = max(copies.lastDisturbance, now + .seconds(8))
        // A node keeps the result of an attempt that was stopped too late for as long as it keeps a coordinator in mind.
        let end = now + WorkBook.retention + .seconds(60)
        while violations.isEmpty {
            run(until: now + .seconds(3))
            guard violations.isEmpty, now - copies.lastDisturbance > .seconds(12) else { continue }
            checkCoordinator()
            if isAllDone { break }
            if now > end {
                violations.append("not everything has ended: \(unended)")
            }
        }
        guard violations.isEmpty else { return }
        for client in copies.clients where !client.answered.contains(.submit) {
            violations.append("\(client.token) was never taken")
        }
        for (id, job) in copies.ledger.jobs {
            guard let report = job.report, let request = job.request.kind.rehearsal else { continue }
            if report.state == .done, report.completed + report.failed != request.tasks {
                violations.append("\(id): \(report.completed) and \(report.failed) of \(request.tasks)")
            }
        }
        checkBooks()
        for host in hosts.indices { checkDisk(of: host, "at the end") }
    }

    private mutating func checkCoordinator() {
        let working = hosts.indices.filter { host in
            guard case .primary(let primary) = hosts[host].process?.replica?.core.role else { return false }
            return primary.stage == .open && hosts[host].process?.core != nil
        }
        let cores = hosts.count { $0.process?.core != nil }
        // The mistake of a coordinator that goes on has to be found by what it publishes.
        if working.count != 1 || (cores != 1 && copies.flaw != .publishedAfterSuperseded) {
            violations.append("\(working.count) primaries and \(cores) coordinators when all is calm: \(replicas)")
        }
    }

    private var isAllDone: Bool {
        copies.clients.allSatisfy { $0.answered.contains(.submit) }
            && copies.ledger.jobs.values.allSatisfy { $0.report != nil }
            && hosts.allSatisfy { host in
                guard let process = host.process else { return false }
                return process.book.running == 0 && process.book.resultBytes == 0 && process.book.free == host.slots
                    && (process.core?.jobs.all.allSatisfy { !$0.isActive } ?? true)
            }
    }

    private var unended: String {
        let working = hosts.compactMap(\.process?.core).first
        let jobs = copies.ledger.jobs.filter { $0.value.report == nil }.map { id, _ in
            let why = working?.explain(id, now: now)
            return "\(id): \(why?.reasons ?? []) \(why?.tasks.map { "\($0.task) \($0.lastEvent)" } ?? [])"
        }
        let books = hosts.map { host in
            let book = host.process?.book
            return
                "\(host.name): \(book?.running ?? -1) run, \(book?.free ?? -1) free, \(book?.resultBytes ?? -1) bytes"
        }
        return "\(jobs) \(books) \(replicas)"
    }

    /// A line for each replica.
    var replicas: String {
        func name(_ replica: ReplicaID) -> String { hosts.first { $0.disk.id == replica }?.name ?? "gone" }
        let lines = hosts.map { host in
            let (record, core) = (host.disk.record, host.process?.replica?.core)
            let role: String =
                switch core?.role {
                case nil: host.process == nil ? "down" : host.knowsCopies ? "no replica" : "an old version"
                case .standby: "standby"
                case .candidate(let candidacy): "candidate \(candidacy.stage) \(candidacy.term)"
                case .primary(let primary): "primary \(primary.stage) \(primary.term) committed \(primary.committed)"
                }
            let position = record.position.map { "\($0.term).\($0.number)" } ?? "nothing"
            let members = record.set.members.map(name) + ["/"] + record.set.former.map(name)
            return "\n  \(host.name) \(role), promised \(record.promised), at \(position), "
                + members.joined(separator: " ") + (host.process?.core == nil ? "" : ", coordinator")
        }
        return lines.joined()
    }
}
