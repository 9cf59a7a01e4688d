import SkyCore
import Transport

extension SimulatedCluster {
    mutating func perform(_ happening: Happening) {
        switch happening {
        case .told(let coordinator, let event, let link):
            if isDelivered(event, by: link) { tell(coordinator, event) }
        case .woken(let coordinator):
            coordinators[coordinator]?.wake = nil
            tell(coordinator, .tick)
        case .reserved(let wanted, let link):
            guard isUp(link) else { return }
            guard let reply = nodes[link.node]?.book.reserve(wanted, for: link.coordinator, now: now) else { return }
            push([reply.lease] + reply.changed, from: link.node)
        case .started(let attempt, let link):
            start(attempt, by: link)
        case .stopped(let attempt, let node):
            guard nodes[node]?.attempts[attempt] != nil else { return }
            // It may have been about to finish.
            let failure = chance(40) ? nil : AttemptFailure.refused("stopped")
            schedule(.ended(attempt, node: node, failure), after: delay(1...500))
        case .ended(let attempt, let node, let failure):
            end(attempt, on: node, failure)
        case .renewed(let link):
            renew(by: link)
        case .expiryChecked(let node):
            nodes[node]?.expiryCheck = nil
            guard let expired = nodes[node]?.book.expire(now: now) else { return }
            for attempt in expired.stop { perform(.stopped(attempt, node: node)) }
            push(expired.changed, from: node)
        case .crashed(let node):
            crash(node)
        case .joined(let slots):
            join(NodeID(rawValue: random.next()), slots: slots)
        case .linkBroken(let coordinator, let node):
            if let link = coordinators[coordinator]?.links[node] { breakLink(link) }
        case .linkMade(let coordinator, let node):
            connect(coordinator, node)
        case .coordinatorForgotten(let coordinator, let node):
            guard coordinators[coordinator]?.links[node] == nil else { return }
            guard let lost = nodes[node]?.book.coordinatorLost(coordinator, now: now) else { return }
            for attempt in lost.stop { perform(.stopped(attempt, node: node)) }
            push(lost.changed, from: node)
        case .coordinatorCrashed(let coordinator):
            guard coordinators.removeValue(forKey: coordinator) != nil else { return }
            for node in nodes.keys.sorted() {
                schedule(.coordinatorForgotten(coordinator, node: node), after: delay(0...3000))
            }
        }
    }

    /// A new node that everybody gets to know.
    mutating func join(_ id: NodeID, slots: Int) {
        nodes[id] = SimulatedNode(id: id, slots: slots)
        for coordinator in coordinators.keys.sorted() {
            schedule(.linkMade(coordinator: coordinator, node: id), after: delay(0...50))
        }
    }

    private func isUp(_ link: SimulatedLink) -> Bool {
        coordinators[link.coordinator]?.links[link.node] == link && nodes[link.node] != nil
    }

    /// What a broken link carried is lost, but for results: nodes keep those and hand them over later.
    private func isDelivered(_ event: JobScheduler.Event, by link: SimulatedLink?) -> Bool {
        if case .succeeded = event { return true }
        return link.map(isUp) ?? true
    }

    private mutating func connect(_ coordinator: NodeID, _ node: NodeID) {
        guard nodes[node] != nil, coordinators[coordinator] != nil, coordinators[coordinator]?.links[node] == nil
        else { return }
        lastLink += 1
        coordinators[coordinator]?.links[node] = SimulatedLink(coordinator: coordinator, node: node, number: lastLink)
        tell(coordinator, .nodeJoined(node))
    }

    private mutating func breakLink(_ link: SimulatedLink) {
        guard isUp(link), link.node != link.coordinator else { return }
        lose(link)
        schedule(.coordinatorForgotten(link.coordinator, node: link.node), after: delay(0...200))
        schedule(.linkMade(coordinator: link.coordinator, node: link.node), after: delay(300...4000))
    }

    private mutating func lose(_ link: SimulatedLink) {
        coordinators[link.coordinator]?.links[link.node] = nil
        coordinators[link.coordinator]?.wanted[link.node] = nil
        tell(link.coordinator, .nodeLost(link.node))
    }

    /// A node dies with all it runs. Another takes its place under a new id.
    private mutating func crash(_ node: NodeID) {
        guard coordinators[node] == nil, let slots = nodes.removeValue(forKey: node)?.slots else { return }
        for coordinator in coordinators.values.sorted(by: { $0.id < $1.id }) {
            if let link = coordinator.links[node] { lose(link) }
        }
        schedule(.joined(slots: slots), after: delay(100...5000))
    }

    private mutating func start(_ attempt: AttemptID, by link: SimulatedLink) {
        guard isUp(link) else { return }
        if let refusal = nodes[link.node]?.book.start(attempt, for: link.coordinator, now: now) {
            let failure = AttemptFailure.refused(refusal.description)
            let report = JobScheduler.Event.failed(attempt, on: link.node, failure)
            return schedule(.told(coordinator: link.coordinator, report, by: link), after: delay(1...5))
        }
        nodes[link.node]?.attempts[attempt] = link
        let fate = fate(of: attempt, on: link.node)
        if case .crash = fate, coordinators[link.node] == nil {
            return schedule(.crashed(node: link.node), after: delay(1...50))
        }
        schedule(.ended(attempt, node: link.node, fate.failure), after: chance(5) ? delay(1...9000) : delay(1...400))
    }

    private mutating func end(_ attempt: AttemptID, on node: NodeID, _ failure: AttemptFailure?) {
        guard let link = nodes[node]?.attempts.removeValue(forKey: attempt) else { return }
        let changed = nodes[node]?.book.finish(attempt, now: now) ?? []
        push(changed, from: node)
        let event = failure.map { JobScheduler.Event.failed(attempt, on: node, $0) } ?? .succeeded(attempt, on: node)
        // Nodes keep results for a coordinator they cannot reach and hand them over when they can.
        let isLate = !isUp(link)
        schedule(.told(coordinator: link.coordinator, event, by: link), after: isLate ? delay(1...4000) : delay(1...5))
    }

    private mutating func renew(by link: SimulatedLink) {
        coordinators[link.coordinator]?.renewing.remove(link)
        guard isUp(link), coordinators[link.coordinator]?.wanted[link.node] ?? 0 > 0 else { return }
        if let lease = nodes[link.node]?.book.renew(for: link.coordinator, now: now) {
            push([lease], from: link.node)
        } else {
            coordinators[link.coordinator]?.wanted[link.node] = nil
            tell(link.coordinator, .leaseLost(link.node))
        }
        keepRenewing(link)
    }

    private mutating func keepRenewing(_ link: SimulatedLink) {
        guard coordinators[link.coordinator]?.renewing.insert(link).inserted == true else { return }
        // Now and then somebody is paused for longer than a lease lasts.
        schedule(.renewed(by: link), after: chance(10) ? delay(1100...2000) : delay(200...400))
    }

    /// Tells coordinators their leases, and keeps the look at expiry in the queue.
    private mutating func push(_ leases: [Lease], from node: NodeID) {
        for lease in leases {
            guard let link = coordinators[lease.coordinator]?.links[node] else { continue }
            let event = JobScheduler.Event.leased(node, slots: lease.slots, epoch: lease.epoch)
            schedule(.told(coordinator: lease.coordinator, event, by: link), after: delay(1...20))
        }
        guard let expiry = nodes[node]?.book.nextExpiry, nodes[node]?.expiryCheck == nil else { return }
        nodes[node]?.expiryCheck = expiry
        schedule(.expiryChecked(node: node), after: max(.zero, expiry - now))
    }

    /// Hands an event to a scheduler and sends off what it answers.
    mutating func tell(_ id: NodeID, _ event: JobScheduler.Event) {
        guard let actions = coordinators[id]?.handle(event, now: now) else { return }
        violations += coordinators[id]?.violations ?? []
        for action in actions {
            switch action {
            case .reserve(let node, let wanted):
                guard let link = coordinators[id]?.links[node] else { continue }
                schedule(.reserved(wanted, by: link), after: delay(1...3))
                keepRenewing(link)
            case .run(let attempt, let node):
                guard let link = coordinators[id]?.links[node] else { continue }
                schedule(.started(attempt, by: link), after: delay(1...5))
            case .stop(let attempt, let node):
                schedule(.stopped(attempt, node: node), after: delay(1...5))
            case .completed, .discarded, .retrying, .taskFailed, .jobFinished:
                break
            }
        }
        guard let due = coordinators[id]?.scheduler.nextWake else { return }
        if let wake = coordinators[id]?.wake, wake <= due, wake > now { return }
        coordinators[id]?.wake = due
        schedule(.woken(coordinator: id), after: max(.zero, due - now))
    }
}
