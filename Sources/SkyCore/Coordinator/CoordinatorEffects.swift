import Distributed
import Transport

/// What the coordinator wants done outside itself.
enum CoordinatorEffect: Sendable {
    /// Tells a node how many slots are wished for, and follows the lease from then on where nobody does yet.
    case reserve(NodeID, wanted: Int, watches: Bool)
    case run(RunRequest, on: NodeID)
    case stop(AttemptID, on: NodeID)
    case wake(after: Duration)
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
            for await event in system.membershipEvents() {
                await coordinator.whenLocal { $0.membershipChanged(event) }
            }
            // The sequence ended: at shutdown, or because this listener was far behind. Only the latter comes back
            // with anything; yielding keeps a shutdown from spinning.
            await Task.yield()
        }
    }

    private func perform(_ effect: CoordinatorEffect) async {
        switch effect {
        case .reserve(let node, let wanted, let watches):
            await reserve(node, wanted)
            if watches { await watch(node) }
        case .run(let request, let node): await run(request, on: node)
        case .stop(let attempt, let node): try? await scanActor(of: node).stop(attempt)
        case .wake(let pause):
            try? await Task.sleep(for: pause)
            await coordinator.whenLocal { $0.ticked() }
        }
    }

    private func scanActor(of node: NodeID) throws -> ScanActor {
        try ScanActor.resolve(id: ActorAddress(node: node, name: ScanActor.wellKnownName), using: system)
    }

    private func reserve(_ node: NodeID, _ wanted: Int) async {
        guard
            let lease = try? await scanActor(of: node).reserve(
                ReserveRequest(coordinator: system.node, wanted: wanted))
        else { return }
        await coordinator.whenLocal { $0.leased(lease, on: node) }
    }

    /// Follows the lease on one node until it is gone; asking renews it.
    private func watch(_ node: NodeID) async {
        var epoch: UInt64 = 0
        var failures = 0
        while !Task.isCancelled, failures < 2 {
            do {
                let request = LeaseWatch(coordinator: system.node, epoch: epoch)
                guard let lease = try await scanActor(of: node).watch(request) else {
                    // Expired, or never given. The scheduler wishes again, which starts another watch.
                    await coordinator.whenLocal {
                        $0.stoppedWatching(node)
                        $0.leaseLost(on: node)
                    }
                    return
                }
                failures = 0
                if lease.epoch > epoch {
                    epoch = lease.epoch
                    await coordinator.whenLocal { $0.leased(lease, on: node) }
                }
            } catch {
                failures += 1
            }
        }
        await coordinator.whenLocal { $0.stoppedWatching(node) }
    }

    private func run(_ request: RunRequest, on node: NodeID) async {
        do {
            let limit = request.timeLimit + CoordinatorEffects.grace
            let reply = try await withDeadline(limit) { try await scanActor(of: node).run(request) }
            await coordinator.whenLocal { $0.ran(request, on: node, reply.outcome) }
        } catch let error as RemoteError {
            await coordinator.whenLocal { $0.ran(request, on: node, .fault(error.message)) }
        } catch TransportError.notConnected, TransportError.congested {
            await coordinator.whenLocal { $0.ran(request, on: node, .refused("no link to the node")) }
        } catch {
            await coordinator.whenLocal { $0.lost(request, on: node, String(describing: error)) }
        }
    }
}
