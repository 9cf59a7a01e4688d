import Distributed
import Transport

/// What the coordinator wants done outside itself.
enum CoordinatorEffect: Sendable {
    /// Tells a node how many slots are wished for, and follows the lease from then on.
    case reserve(NodeID)
    /// Runs an attempt until it ends or the latch opens.
    case run(RunRequest, on: NodeID, stop: Latch)
    case wake(at: Duration, after: Duration)
}

/// Does it, each effect in a task of its own that ends with the coordinator's `run()`.
struct CoordinatorEffects: Sendable {
    let coordinator: Coordinator
    let system: ClusterSystem

    /// Time a node may take to answer beyond an attempt's own limit.
    static let grace = Duration.seconds(30)

    func run(_ effects: AsyncStream<CoordinatorEffect>) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await followMembership() }
            for await effect in effects {
                group.addTask { await perform(effect) }
            }
            group.cancelAll()
        }
    }

    private func followMembership() async {
        while !Task.isCancelled {
            let events = system.membershipEvents()
            let members = Set(system.members.map(\.node))
            await coordinator.whenLocal { $0.membershipBegins(with: members) }
            for await event in events {
                await coordinator.whenLocal { $0.membershipChanged(event) }
            }
            // The sequence ended: at shutdown, or because this listener was far behind. Only the latter comes back
            // with anything; yielding keeps a shutdown from spinning.
            await Task.yield()
        }
    }

    private func perform(_ effect: CoordinatorEffect) async {
        switch effect {
        case .reserve(let node):
            await reserve(node)
            await watch(node)
        case .run(let request, let node, let stop):
            await CallTrace.withValue(request.attempt.job.rawValue) {
                await run(request, on: node, stop: stop)
            }
        case .wake(let due, let pause):
            try? await Task.sleep(for: pause)
            await coordinator.whenLocal { $0.ticked(due) }
        }
    }

    private func scanActor(of node: NodeID) throws -> ScanActor {
        try ScanActor.resolve(id: ActorAddress(node: node, name: ScanActor.wellKnownName), using: system)
    }

    private func isReachable(_ node: NodeID) -> Bool {
        !Task.isCancelled && (node == system.node || system.isLinked(node))
    }

    /// Sends the newest wish until it has arrived. One call at a time for each node, so that an older wish never
    /// arrives last.
    private func reserve(_ node: NodeID) async {
        while let wanted = await coordinator.whenLocal({ $0.wishes.next(for: node) }) ?? nil {
            // A node that is gone is not wished anything any more, and whoever is cancelled stops wishing.
            guard isReachable(node) else {
                await coordinator.whenLocal { $0.wishes.gaveUp(on: node) }
                return
            }
            do {
                let lease = try await scanActor(of: node).reserve(ReserveRequest(wanted: wanted))
                await coordinator.whenLocal { $0.leased(lease, on: node) }
            } catch {
                await coordinator.whenLocal { $0.wishes.failed(on: node) }
                try? await Task.sleep(for: CoordinatorEffects.retryPause)
            }
        }
    }

    /// Follows the lease on one node until it is gone; asking renews it.
    private func watch(_ node: NodeID) async {
        guard let watch = await coordinator.whenLocal({ $0.wishes.startWatch(on: node) }) ?? nil else { return }
        var epoch: UInt64 = 0
        while isReachable(node), await coordinator.whenLocal({ $0.wishes.isCurrent(watch, on: node) }) == true {
            do {
                guard let lease = try await scanActor(of: node).watch(LeaseWatch(epoch: epoch)) else {
                    // Expired, or given back. Where slots are still wished for, the scheduler says so again.
                    await coordinator.whenLocal { $0.leaseLost(on: node) }
                    return
                }
                if lease.epoch > epoch {
                    epoch = lease.epoch
                    await coordinator.whenLocal { $0.leased(lease, on: node) }
                }
            } catch {
                try? await Task.sleep(for: CoordinatorEffects.retryPause)
            }
        }
        await coordinator.whenLocal { $0.wishes.stopWatch(watch, on: node) }
    }

    /// Pause before a control call that failed is made again.
    static let retryPause = Duration.milliseconds(100)

    private func run(_ request: RunRequest, on node: NodeID, stop: Latch) async {
        // Cancelling the call cancels the attempt, on whichever node it runs.
        let result = await withTaskGroup(of: RunResult?.self) { group in
            group.addTask { await call(request, on: node) }
            group.addTask {
                await stop.wait()
                return nil
            }
            var result: RunResult?
            while result == nil, let next = await group.next() {
                if next == nil { group.cancelAll() }
                result = next
            }
            group.cancelAll()
            return result
        }
        guard let result else { return }
        await coordinator.whenLocal { $0.ran(request, on: node, result) }
    }

    private func call(_ request: RunRequest, on node: NodeID) async -> RunResult {
        do {
            let limit = request.timeLimit + CoordinatorEffects.grace
            let reply = try await withDeadline(limit) { try await scanActor(of: node).run(request) }
            return .ended(reply.outcome)
        } catch is CancellationError {
            return .ended(.refused("stopped"))
        } catch let error as RemoteError {
            let isRefusal = error.kind == .busy || error.kind == .leaving
            return .ended(isRefusal ? .refused(error.message) : .fault(error.message))
        } catch TransportError.notConnected, TransportError.congested {
            return .ended(.refused("no link to the node"))
        } catch TransportError.tooLarge(let limit) {
            return .ended(.badInput("its input is more than the \(limit) bytes that a link carries"))
        } catch let error as TransportError {
            return .lost(String(describing: error))
        } catch {
            return .ended(.fault(String(describing: error)))
        }
    }
}

/// How a call to run an attempt ended.
enum RunResult: Sendable {
    case ended(TaskOutcome)
    /// The node went away before it answered.
    case lost(String)
}
