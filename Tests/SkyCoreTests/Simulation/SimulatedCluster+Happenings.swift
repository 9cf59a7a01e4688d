import Base
import NIOCore
import Transport

@testable import Sky
@testable import SkyCore

extension SimulatedCluster {
    mutating func perform(_ happening: Happening) {
        if copies.areKept, let end = thaw(of: happening) { return schedule(happening, after: end - now) }
        switch happening {
        case .woken(let host, let node, let due):
            if isAlive(host, node) { change(host) { $0.wake(due) } }
        case .called(let kind, let host, let node, let target):
            if isAlive(host, node) { call(kind, from: host, to: target) }
        case .arrived(let call, let caller, let target):
            arrive(call, caller, at: target)
        case .answered(let answer, let caller, let target):
            guard isAlive(caller.host, caller.node),
                hosts[caller.host].process?.unanswered.remove(caller.number) != nil
            else { return }
            hear(answer, at: caller.host, from: target)
        case .collectionTimedOut(let host, let node, let request, let caller):
            guard isAlive(host, node), hosts[host].process?.collectors[request.incarnation.coordinator] == caller.number
            else {
                return
            }
            hosts[host].process?.collectors[request.incarnation.coordinator] = nil
            collect(request, at: host, for: caller, mayWait: false)
        case .ended(let attempt, let host, let node, let outcome, let duration):
            guard isAlive(host, node), hosts[host].process?.running.remove(attempt) != nil else { return }
            if let update = hosts[host].process?.book.recordEnd(of: attempt, outcome.end, duration, now: now) {
                follow(update, at: host)
            }
        case .expiryChecked(let host, let node):
            guard isAlive(host, node) else { return }
            hosts[host].process?.expiryCheck = nil
            if let update = hosts[host].process?.book.expire(now: now) {
                if !update.stop.isEmpty { seen.insert(.leaseLost) }
                follow(update, at: host)
            }
        case .wrote(let entries, let host, let node):
            if isAlive(host, node) { wrote(entries, at: host) }
        case .crashed(let host): crash(host)
        case .started(let host): start(host)
        case .linkBroken(let left, let right): breakLink(left, right)
        case .linkMade(let left, let right): makeLink(left, right)
        case .linkHeard(let host, let node, let other, let isUp):
            if isAlive(host, node) { hearLink(host, of: other, isUp: isUp) }
        case .submitted(let request, let id, let token, let host):
            submit(request, id, token, at: host)
        case .cancelled(let job, let host):
            if hosts[host].process?.core?.jobs[job]?.isActive == true { seen.insert(.cancelled) }
            change(host) { $0.cancel(job) }
        case .drained(let isDraining, let host):
            guard let update = hosts[host].process?.book.setDraining(isDraining, now: now) else { return }
            seen.insert(.drained)
            follow(update, at: host)
            let node = hosts[host].node
            for other in hosts.indices where linked(host, other) {
                if let node { change(other) { $0.draining(node, isDraining) } }
            }
        case .diskFull(let host, let time):
            hosts[host].diskFullUntil = now + time
        case .replicated(let happening): perform(happening)
        }
    }

    // MARK: - Machines

    func isAlive(_ host: Int, _ node: NodeID) -> Bool { hosts[host].node == node }

    func host(of node: NodeID) -> Int? { hosts.indices.first { hosts[$0].node == node } }

    func linked(_ left: Int, _ right: Int) -> Bool { links.contains([min(left, right), max(left, right)]) }

    mutating func start(_ host: Int) {
        guard hosts[host].process == nil else { return }
        let node = NodeID(rawValue: random.next())
        guard !copies.areKept else { return startReplicated(host, as: node) }
        let incarnation = hosts[host].journal.beginIncarnation()
        hosts[host].node = node
        hosts[host].process = SimulatedHost.Process(
            book: WorkBook(slots: hosts[host].slots, leaseDuration: SimulatedCluster.leaseDuration),
            core: CoordinatorCore(
                incarnation: incarnation, secret: [UInt8(truncatingIfNeeded: host)], node: node, name: hosts[host].name)
        )
        // Some let results gather before they store them.
        if host % 2 == 1 { hosts[host].process?.core?.writeAhead.gatheringTime = Coordinator.gatheringTime }
        for id in hosts[host].journal.order {
            guard let job = hosts[host].journal.jobs[id] else { continue }
            if job.report == nil { seen.insert(.jobResumed) }
            let replay = hosts[host].journal.replay(job)
            change(host) { $0.restore(job, replay) }
        }
        let name = hosts[host].name
        change(host) { $0.joined(node, name: name, isDraining: false) }
        linkToOthers(host)
    }

    mutating func linkToOthers(_ host: Int) {
        for other in hosts.indices where other != host && hosts[other].process != nil {
            schedule(.linkMade(min(host, other), max(host, other)), after: delay(1...80))
        }
    }

    /// - Parameter pause: when the machine starts again; `nil` for any time in the next seconds.
    mutating func crash(_ host: Int, for pause: Duration? = nil) {
        guard hosts[host].process != nil else { return }
        seen.insert(.hostCrashed)
        // The last write may have been done although nobody heard of it.
        if copies.areKept {
            tearWrite(at: host)
        } else if hosts[host].process?.isWriting == true, chance(50), hosts[host].diskFullUntil <= now {
            hosts[host].journal.append(inFlight[host] ?? [])
        }
        inFlight[host] = nil
        for other in hosts.indices where linked(host, other) {
            breakLink(min(host, other), max(host, other), relink: false)
        }
        hosts[host].process = nil
        hosts[host].node = nil
        schedule(.started(host: host), after: pause ?? delay(10...4000))
    }

    mutating func makeLink(_ left: Int, _ right: Int) {
        guard let one = hosts[left].node, let other = hosts[right].node else { return }
        if copies.areKept, let end = obstacleEnd(between: left, right), end > now {
            return schedule(.linkMade(left, right), after: end - now)
        }
        if let heard = unheardBreaks[[one, other]], heard > now {
            return schedule(.linkMade(left, right), after: heard - now)
        }
        guard links.insert([left, right]).inserted else { return }
        schedule(.linkHeard(host: left, one, of: other, isUp: true), after: delay(0...5))
        schedule(.linkHeard(host: right, other, of: one, isUp: true), after: delay(0...5))
    }

    mutating func breakLink(_ left: Int, _ right: Int, relink: Bool = true) {
        guard links.remove([left, right]) != nil else { return }
        if let one = hosts[left].node, let other = hosts[right].node {
            unheardBreaks[[one, other]] = now + .milliseconds(1501)
        }
        for (host, peer) in [(left, right), (right, left)] {
            guard let node = hosts[host].node, let gone = hosts[peer].node else { continue }
            schedule(.linkHeard(host: host, node, of: gone, isUp: false), after: delay(0...1500))
        }
        if relink { schedule(.linkMade(left, right), after: delay(1600...6000)) }
    }

    private mutating func hearLink(_ host: Int, of node: NodeID, isUp: Bool) {
        if isUp {
            guard let peer = self.host(of: node) else { return }
            let (name, isDraining) = (hosts[peer].name, hosts[peer].process?.book.isDraining ?? false)
            change(host) { $0.joined(node, name: name, isDraining: isDraining) }
        } else {
            change(host) { $0.lost(node) }
            if let update = hosts[host].process?.book.linkLost(node, now: now) { follow(update, at: host) }
        }
    }

    // MARK: - A node

    /// Does what a work book says.
    mutating func follow(_ update: WorkBook.Update, at host: Int) {
        touched.insert(host)
        guard let node = hosts[host].node else { return }
        for attempt in update.stop where hosts[host].process?.running.contains(attempt) == true {
            // It may have been about to finish.
            let outcome = chance(40) ? AttemptOutcome.done(ByteBuffer()) : .refused("stopped")
            schedule(.ended(attempt, host: host, node, outcome, .zero), after: delay(1...500))
        }
        for request in update.start { run(request, at: host, node) }
        for coordinator in update.wake { wake(coordinator, at: host) }
        guard let expiry = hosts[host].process?.book.nextExpiry else { return }
        if let next = hosts[host].process?.expiryCheck, next <= expiry { return }
        hosts[host].process?.expiryCheck = expiry
        schedule(.expiryChecked(host: host, node), after: max(.milliseconds(1), expiry - now))
    }

    private mutating func run(_ request: RunRequest, at host: Int, _ node: NodeID) {
        hosts[host].process?.running.insert(request.attempt)
        var duration = chance(5) ? delay(1...5000) : delay(1...300)
        if request.attempt.task.index % 3 == 0 { duration = delay(0...3) }
        duration = duration * hosts[host].slowness
        switch fate(of: request.attempt, on: hosts[host].name) {
        case .crash where hosts[host].killsNodes: schedule(.crashed(host: host), after: delay(1...50))
        case .crash:
            schedule(.ended(request.attempt, host: host, node, .fault("the worker died"), duration), after: duration)
        case .outcome(let outcome):
            schedule(.ended(request.attempt, host: host, node, outcome, duration), after: duration)
        }
    }

    private mutating func wake(_ coordinator: CoordinatorID, at host: Int) {
        guard hosts[host].process?.collectors.removeValue(forKey: coordinator) != nil,
            let (request, caller) = waitingCollections.removeValue(forKey: [UInt64(host), coordinator.rawValue])
        else { return }
        collect(request, at: host, for: caller, mayWait: false)
    }

    // MARK: - Calls

    func isReachable(_ host: Int, _ target: NodeID) -> Bool {
        guard let peer = self.host(of: target) else { return false }
        return peer == host || linked(host, peer)
    }

    private mutating func call(_ kind: NodeCalls.Kind, from host: Int, to target: NodeID) {
        guard let node = hosts[host].node else { return }
        let call: Call
        switch kind {
        case .reserve:
            guard let request = hosts[host].process?.core?.nextReservation(for: target) else { return }
            call = .reserve(request)
        case .assign:
            guard let assignment = hosts[host].process?.core?.nextAssignment(for: target) else { return }
            for request in assignment.attempts { note(request.attempt, at: host) }
            call = .assign(assignment)
        case .collect:
            guard let request = hosts[host].process?.core?.nextCollection(from: target) else { return }
            call = .collect(request)
        }
        lastCall += 1
        let caller = Caller(host: host, node: node, number: lastCall)
        hosts[host].process?.unanswered.insert(lastCall)
        guard isReachable(host, target) else {
            return answer(.failed(call, mayHaveRun: false), to: caller, from: target, after: .milliseconds(100))
        }
        if host != self.host(of: target), chance(2) {
            seen.insert(.callLost)
            // Lost on the way there or back: the caller hears only that it is.
            if chance(50) { schedule(.arrived(call, caller, at: target), after: delay(1...50)) }
            hosts[host].process?.unanswered.remove(lastCall)
            lastCall += 1
            hosts[host].process?.unanswered.insert(lastCall)
            let lost = Caller(host: host, node: node, number: lastCall)
            return answer(.failed(call, mayHaveRun: true), to: lost, from: target, after: delay(60...400))
        }
        schedule(.arrived(call, caller, at: target), after: chance(5) ? delay(1...200) : delay(0...3))
    }

    private mutating func arrive(_ call: Call, _ caller: Caller, at target: NodeID) {
        guard let peer = self.host(of: target), isAlive(caller.host, caller.node),
            peer == caller.host || linked(caller.host, peer)
        else { return answer(.failed(call, mayHaveRun: true), to: caller, from: target, after: delay(1...1500)) }
        do throws(WorkBook.Rejection) {
            switch call {
            case .reserve(let request):
                guard
                    let (lease, update) = try hosts[peer].process?.book.reserve(
                        request.wanted, people: request.people ?? 1, by: request.incarnation, from: caller.node,
                        now: now)
                else { return }
                follow(update, at: peer)
                answer(.lease(lease), to: caller, from: target)
            case .assign(let assignment):
                guard let update = try hosts[peer].process?.book.assign(assignment, from: caller.node, now: now) else {
                    return
                }
                follow(update, at: peer)
                noteAcknowledged(assignment.acknowledged, by: caller, at: peer)
                noteObeyed(caller, at: peer)
                answer(.assigned, to: caller, from: target)
                // A hostile peer may deliver the same call twice.
                if peer != caller.host, chance(1) { schedule(.arrived(call, caller, at: target), after: delay(1...30)) }
            case .collect(let request):
                collect(request, at: peer, for: caller, mayWait: true)
            }
        } catch {
            seen.insert(.superseded)
            answer(.failed(call, mayHaveRun: false), to: caller, from: target)
        }
    }

    private mutating func answer(_ answer: Answer, to caller: Caller, from target: NodeID, after pause: Duration? = nil)
    {
        schedule(.answered(answer, caller, from: target), after: pause ?? (chance(5) ? delay(1...200) : delay(0...3)))
    }

    private mutating func collect(_ request: CollectRequest, at peer: Int, for caller: Caller, mayWait: Bool) {
        guard let target = hosts[peer].node else { return }
        do throws(WorkBook.Rejection) {
            guard
                let (reply, update) = try hosts[peer].process?.book.collect(
                    request, from: caller.node, limit: 1000, now: now)
            else { return }
            follow(update, at: peer)
            noteAcknowledged(request.acknowledged, by: caller, at: peer)
            noteDelivered(reply.results, at: peer)
            guard mayWait, !request.isFirst, reply.results.isEmpty, reply.lease?.fencingToken == request.fencingToken
            else {
                if caller.host != peer, !linked(caller.host, peer) {
                    let lost = Answer.failed(.collect(request), mayHaveRun: true)
                    return answer(lost, to: caller, from: target, after: delay(1...1500))
                }
                if let first = reply.results.first, first.attempt.generation < request.incarnation.generation {
                    seen.insert(.resultHandedOver)
                }
                return answer(.collected(reply, request), to: caller, from: target)
            }
            let coordinator = request.incarnation.coordinator
            wake(coordinator, at: peer)
            hosts[peer].process?.collectors[coordinator] = caller.number
            waitingCollections[[UInt64(peer), coordinator.rawValue]] = (request, caller)
            schedule(.collectionTimedOut(host: peer, target, request, caller), after: .milliseconds(700))
        } catch {
            seen.insert(.superseded)
            answer(.failed(.collect(request), mayHaveRun: false), to: caller, from: target)
        }
    }

    /// What the coordinator on a host hears of its call.
    private mutating func hear(_ answer: Answer, at host: Int, from target: NodeID) {
        let kind: NodeCalls.Kind
        var pause = Duration.zero
        switch answer {
        case .lease(let lease):
            kind = .reserve
            change(host) { $0.reserved(lease, on: target) }
        case .assigned: kind = .assign
        case .collected(let reply, let request):
            kind = .collect
            change(host) { $0.collected(reply, request, from: target) }
            if reply.attempts?.isEmpty == false { seen.insert(.adopted) }
        case .failed(.reserve, _):
            kind = .reserve
            change(host) { $0.reservationFailed(on: target, nil) }
            pause = .milliseconds(100)
        case .failed(.collect, _):
            kind = .collect
            pause = .milliseconds(100)
        case .failed(.assign(let assignment), let mayHaveRun):
            kind = .assign
            let failure = mayHaveRun ? AttemptFailure.nodeLost("the call was lost") : .refused("no link to the node")
            change(host) { $0.assignmentFailed(assignment.attempts.map(\.attempt), on: target, failure, nil) }
        }
        guard let node = hosts[host].node else { return }
        schedule(.called(kind, from: host, node, to: target), after: pause)
    }

    // MARK: - A coordinator

    /// Changes a coordinator and does what it says.
    mutating func change(_ host: Int, _ body: (inout CoordinatorCore) -> Void) {
        touched.insert(host)
        guard let node = hosts[host].node else { return }
        let time = now - (hosts[host].process?.coreStart ?? .zero)
        let wall = UInt64((now + hosts[host].clockError) / .milliseconds(1))
        let outputs = hosts[host].process?.core?.at(time, wall: wall, body) ?? []
        for case .effect(let effect) in outputs {
            switch effect {
            case .call(let call): schedule(.called(call.kind, from: host, node, to: call.node), after: .zero)
            case .write: hosts[host].process?.hasWriter = true
            case .wake(let due, let pause): schedule(.woken(host: host, node, at: due), after: pause)
            case .lookUp: break
            }
        }
        write(at: host)
    }

    private mutating func write(at host: Int) {
        guard let node = hosts[host].node, hosts[host].process?.hasWriter == true,
            hosts[host].process?.isWriting == false
        else { return }
        guard let entries = hosts[host].process?.core?.nextEntries(looksAtDisk: true) else {
            hosts[host].process?.hasWriter = false
            return
        }
        hosts[host].process?.isWriting = true
        inFlight[host] = entries
        for entry in entries { note(entry) }
        guard !copies.areKept else { return propose(entries, at: host) }
        schedule(.wrote(entries, host: host, node), after: delay(0...8))
    }

    private mutating func wrote(_ entries: [JournalEntry], at host: Int) {
        guard let node = hosts[host].node else { return }
        guard hosts[host].diskFullUntil <= now else {
            seen.insert(.journalFailed)
            change(host) { $0.journalFailed("the disk is full") }
            return schedule(.wrote(entries, host: host, node), after: .milliseconds(300))
        }
        hosts[host].journal.append(entries)
        inFlight[host] = nil
        hosts[host].process?.isWriting = false
        for case .submitted(let job) in entries { promised[job.id] = host }
        change(host) { $0.stored(entries.count, in: nil) }
    }

    private mutating func submit(_ request: JobRequest, _ id: JobID, _ token: String, at host: Int) {
        guard hosts[host].process != nil else {
            // The submitter tries until somebody is there.
            return schedule(.submitted(request, id, token: token, host: host), after: .milliseconds(500))
        }
        var refusal: (any Error)?
        change(host) { core in
            do {
                // Some wait for their first results to be stored with them.
                let wait: Duration? = id.rawValue.isMultiple(of: 2) ? .milliseconds(3) : nil
                _ = try core.submit(request, token: token, as: id, waiting: wait)
            } catch {
                refusal = error
            }
        }
        if let refusal { violations.append("\(token) was refused: \(refusal)") }
    }

    /// Looks at what is sent out.
    private mutating func note(_ attempt: AttemptID, at host: Int) {
        if attempt.number > 1 { seen.insert(.retried) }
        let scheduler = hosts[host].process?.core?.dispatch.scheduler
        let single = scheduler?.runningByNode(attempt.job).values.reduce(0, +) ?? 0
        if single > scheduler?.progress(of: attempt.job)?.running ?? 0 { seen.insert(.speculative) }
    }

    /// Looks at what is to be stored.
    private mutating func note(_ entry: JournalEntry) {
        guard case .failed(_, let failure) = entry else { return }
        if failure.reason.hasPrefix("poison") { seen.insert(.poison) }
        if failure.reason.hasPrefix("failed 4 times") { seen.insert(.faultsUsedUp) }
        if failure.reason.contains("can reach its input") { seen.insert(.inputOutOfReach) }
    }
}
