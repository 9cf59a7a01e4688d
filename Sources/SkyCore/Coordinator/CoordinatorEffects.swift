import Distributed
import Transport

/// Carries out the effects of the coordinator outside the actor. Each effect runs in its own task, which ends with the
/// coordinator's `run()`.
struct CoordinatorEffects: Sendable {
    let coordinator: Coordinator
    let system: ClusterSystem
    let store: EntryStore
    /// That this coordinator speaks from this node.
    let proof: IdentityProof?

    /// Pause before a failed call is made again.
    static let retryPause = Duration.milliseconds(100)
    /// The number of immediate, empty answers in a row after which there is a pause. A lease that changes hands causes some of
    /// these.
    static let emptyLimit = 5
    /// The number of tasks that are looked up among earlier results at a time.
    static let lookUpLimit = 32
    /// Pause before the journal is tried again.
    static let journalPause = Duration.seconds(1)

    /// Where this node has one event loop, it works on it, like the coordinator (`ClusterActor.worksOnLoop`).
    func run(_ effects: AsyncStream<CoordinatorEffect>) async {
        await withTaskExecutorPreference(system.loopExecutor) { await carryOut(effects) }
    }

    private func carryOut(_ effects: AsyncStream<CoordinatorEffect>) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await watchMembership() }
            group.addTask { await coordinator.whenLocal { _ = await $0.keepToLimit() } }
            if let replica = store.replica { group.addTask { await watch(replica) } }
            // They begin in this task, which spares each of them a way through the threads.
            for await effect in effects { group.addImmediateTask { await carryOut(effect) } }
            group.cancelAll()
        }
    }

    private func watchMembership() async {
        while !Task.isCancelled {
            let events = system.membershipEvents()
            let members = Set(system.members.map(\.node))
            await coordinator.whenLocal { $0.membershipBegins(with: members) }
            for await event in events {
                await coordinator.whenLocal { $0.membershipChanged(event) }
            }
            // The sequence has ended, either at shutdown or because this listener was far behind. The next sequence has events only
            // in the second case. Yielding keeps this loop from spinning at shutdown.
            await Task.yield()
        }
    }

    /// Notices when too few copies can be reached, while something waits for them, and when that is over: what has waited may be a
    /// change of the members, after which the coordinator itself has nothing to store.
    private func watch(_ replica: Replica) async {
        let copies = await coordinator.whenLocal { $0.copies } ?? nil
        var seen = 0
        while !Task.isCancelled {
            // An idle node is woken as seldom as its copies are looked at. Where much happens, once in a while is enough.
            let began = ContinuousClock.now
            seen = await replica.reports(after: seen)
            let error = copies?.waiting(of: replica)
            await coordinator.whenLocal { coordinator in
                await coordinator.lookAtShare()
                if let error {
                    coordinator.journalFailed(error)
                } else if coordinator.core.writeAhead.failure != nil {
                    coordinator.journalRecovered()
                }
            }
            let waited = ContinuousClock.now - began
            if waited < CoordinatorEffects.journalPause {
                try? await Task.sleep(for: CoordinatorEffects.journalPause - waited)
            }
        }
    }

    private func carryOut(_ effect: CoordinatorEffect) async {
        switch effect {
        case .call(let call):
            switch call.kind {
            case .reserve: await reserve(call.node)
            case .assign: await assign(call.node)
            case .collect: await collect(call.node)
            }
        case .write: await write()
        case .lookUp(let job, let tasks, let plan): await lookUp(job, tasks, plan)
        case .wake(let due, let pause):
            try? await Task.sleep(for: pause)
            await coordinator.whenLocal { $0.updateCore { $0.wake(due) } }
        }
    }

    private func scanActor(of node: NodeID) throws -> ScanActor {
        try ScanActor.resolve(id: ActorAddress(node: node, name: ScanActor.wellKnownName), using: system)
    }

    private func isReachable(_ node: NodeID) -> Bool {
        node == system.node || system.isLinked(node)
    }

    /// Sends the newest demand until it has arrived. Each node gets one call at a time, so that an older demand never arrives last.
    private func reserve(_ node: NodeID) async {
        while !Task.isCancelled,
            var request = await coordinator.whenLocal({ $0.core.nextReservation(for: node) }) ?? nil
        {
            request.proof = proof
            await system.loopExecutor?.pause()
            // If the node is gone, membership reports that soon, and there is no demand any more.
            guard isReachable(node) else {
                await coordinator.whenLocal { $0.updateCore { $0.reservationFailed(on: node, nil) } }
                guard await pause() else { return }
                continue
            }
            do {
                let lease = try await scanActor(of: node).reserve(request)
                await coordinator.whenLocal { $0.updateCore { $0.reserved(lease, on: node) } }
            } catch {
                let fault = NodeFault(error)
                await coordinator.whenLocal { $0.updateCore { $0.reservationFailed(on: node, fault) } }
                guard await pause() else { return }
            }
        }
    }

    /// Sends what has gathered for a node until nothing is left. There is one call at a time, so that a stop never overtakes its
    /// attempt.
    private func assign(_ node: NodeID) async {
        while !Task.isCancelled,
            var assignment = await coordinator.whenLocal({ $0.core.nextAssignment(for: node) }) ?? nil
        {
            assignment.proof = proof
            await system.loopExecutor?.pause()
            do {
                guard isReachable(node) else { throw TransportError.notConnected(node) }
                try await scanActor(of: node).assign(assignment)
            } catch {
                let failure = CoordinatorEffects.failure(error, of: assignment)
                let (attempts, fault) = (assignment.attempts.map(\.attempt), NodeFault(error))
                await coordinator.whenLocal {
                    $0.updateCore { $0.assignmentFailed(attempts, on: node, failure, fault) }
                }
            }
        }
    }

    private static func failure(_ error: any Error, of assignment: Assignment) -> AttemptFailure {
        switch error {
        case TransportError.notConnected, TransportError.congested:
            return .refused("no link to the node")
        case TransportError.tooLarge(let limit):
            return .permanent("its input is more than the \(limit) bytes that a link carries")
        case let error as RemoteError where [.badArguments, .noSuchMethod].contains(error.kind):
            // The node runs another version of the program. Nodes with this node's version can do the work.
            return .unavailable("the node does not know this work: \(error.message)")
        case let error as RemoteError:
            return .refused(FailureReason(error.message))
        case let error as WorkBook.Rejection:
            return .refused(FailureReason(error.description))
        case is CancellationError:
            return .refused("stopped")
        default:
            // The attempts may have arrived. Those that run there are found when there is a link again.
            return .nodeLost(FailureReason(String(describing: error)))
        }
    }

    /// Collects results from one node as long as more can be expected. Each collection also renews the lease.
    private func collect(_ node: NodeID) async {
        var empty = 0
        while !Task.isCancelled,
            let next = await coordinator.whenLocal({ $0.core.nextCollection(from: node) }) ?? nil
        {
            let request = next.proving(proof)
            // This node answers at once as long as it has results.
            await system.loopExecutor?.pause()
            guard isReachable(node) else {
                guard await pause() else { return }
                continue
            }
            do {
                let begun = ContinuousClock.now
                let reply = try await scanActor(of: node).collect(request)
                await coordinator.whenLocal { $0.updateCore { $0.collected(reply, request, from: node) } }
                // A node waits before it answers that there is nothing new. A node that does not wait is not asked endlessly.
                let isEmpty = reply.isEmpty(for: request) && begun.duration(to: .now) < CoordinatorEffects.retryPause
                empty = isEmpty ? empty + 1 : 0
                if empty > CoordinatorEffects.emptyLimit { guard await pause() else { return } }
            } catch {
                let fault = NodeFault(error)
                await coordinator.whenLocal { $0.updateCore { $0.collectionFailed(from: node, fault) } }
                guard await pause() else { return }
            }
        }
    }

    /// Looks up a few tasks at a time, so that megabytes of results hold up neither the journal nor the coordinator.
    private func lookUp(_ job: JobID, _ tasks: Range<Int>, _ plan: any JobPlan) async {
        for start in stride(from: tasks.lowerBound, to: tasks.upperBound, by: CoordinatorEffects.lookUpLimit) {
            let part = start..<min(start + CoordinatorEffects.lookUpLimit, tasks.upperBound)
            await system.loopExecutor?.pause()
            let wanted: [TaskID: CacheKey] = part.reduce(into: [:]) { $0[TaskID($1)] = plan.cacheKey($1) }
            // If the journal does not answer, the tasks are run as if there were no cache.
            let found = wanted.isEmpty ? [:] : (try? await store.journal.cached(wanted)) ?? [:]
            await coordinator.whenLocal { $0.updateCore { $0.lookedUp(job, part, found) } }
        }
    }

    /// Waits before a call is made again. Returns `false` where the call is not to be made again.
    private func pause() async -> Bool {
        (try? await Task.sleep(for: CoordinatorEffects.retryPause)) != nil
    }

    /// Stores all entries that have gathered in one go, until none are left. Where that fails, it tries again until it succeeds.
    private func write() async {
        while !Task.isCancelled, var entries = await coordinator.whenLocal({ $0.nextEntries() }) ?? nil {
            // An empty batch only looks at the disk.
            if entries.isEmpty { try? await Task.sleep(for: CoordinatorEffects.journalPause) }
            while !Task.isCancelled {
                let batch = entries
                do {
                    let ran = await coordinator.whenLocal { $0.ran() }
                    let appended = try await store.append(batch, ran: ran)
                    await coordinator.whenLocal { $0.stored(batch, appended) }
                    if appended.mayShrink { try? await store.journal.shrink() }
                    break
                } catch {
                    // This task ends, but the journal does not: `close` stores the rest.
                    if Task.isCancelled { break }
                    if await deleteAhead(batch) {
                        entries = await coordinator.whenLocal { $0.core.writeAhead.withoutDeleted(batch) } ?? batch
                        continue
                    }
                    await coordinator.whenLocal { $0.journalFailed(error) }
                    try? await Task.sleep(for: CoordinatorEffects.journalPause)
                }
            }
            let left = entries
            if Task.isCancelled { await coordinator.whenLocal { $0.core.writeAhead.giveBack(left) } }
        }
    }

    /// Deletes the jobs that somebody wants deleted, ahead of earlier entries that cannot be stored.
    ///
    /// - Returns: whether any jobs were deleted, so that there may be room now.
    private func deleteAhead(_ entries: [JournalEntry]) async -> Bool {
        let jobs = await coordinator.whenLocal { $0.core.writeAhead.nextDeletions(entries) } ?? []
        guard !jobs.isEmpty, (try? await store.append(jobs.map { .deleted($0) }, ran: nil)) != nil else { return false }
        await coordinator.whenLocal { $0.core.writeAhead.markDeletedAhead(jobs) }
        return true
    }
}
