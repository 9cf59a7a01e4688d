import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Synchronization

/// Does what `DialPlan` says: opens connections, and waits between attempts.
final class Dialler: Sendable {
    private let plan: NIOLockedValueBox<DialPlan>
    private let names = NIOLockedValueBox(SeedNames())
    /// Seeds whose failure to answer was logged.
    private let unreachable = NIOLockedValueBox<Set<NodeAddress>>([])
    private let isStopped = Atomic<Bool>(false)
    /// The system. This reference ends at the shutdown, when the system lets go of the dialler. A weak reference would slow down
    /// every call, because the system's own references would then be counted in a separate place.
    private let system: ClusterSystem

    init(system: ClusterSystem) {
        self.system = system
        plan = NIOLockedValueBox(DialPlan(own: system.node))
    }

    func seed(_ address: NodeAddress) {
        if address.isName { return lookUp(address) }
        carryOut(plan.withLockedValue { $0.seed(address, now: system.now) })
    }

    /// Dials all addresses that a name stands for, now and whenever they change.
    private func lookUp(_ name: NodeAddress) {
        guard !isStopped.load(ordering: .sequentiallyConsistent) else { return }
        let loop = system.eventLoopGroup.next()
        let addresses = NIOThreadPool.singleton.runIfActive(eventLoop: loop) { [system] in
            try system.settings.lookUp(name)
        }
        addresses.whenComplete { [self] result in
            let pause: Duration
            switch result {
            case .success(let addresses):
                let (new, gone) = names.withLockedValue { $0.found(addresses, of: name) }
                for address in gone where !system.settings.join.contains(address) {
                    plan.withLockedValue { $0.unseed(address) }
                }
                for address in new { seed(address) }
                pause = SeedNames.pause
            case .failure(let error):
                logFailure(name, String(describing: error), isSeed: true)
                var generator = SystemRandomNumberGenerator()
                pause = names.withLockedValue { $0.failed(name, using: &generator) }
            }
            _ = loop.scheduleTask(in: TimeAmount(pause)) { [weak self] in self?.lookUp(name) }
        }
    }

    func suggest(_ addresses: [NodeAddress], node: NodeID, by found: Member.Found) {
        let isLinked = system.isLinked(node)
        let now = system.now
        carryOut(
            plan.withLockedValue { $0.suggest(addresses, node: node, by: found, isLinked: isLinked, now: now) })
    }

    /// How this node learned of a node; `nil` where that is not known here.
    func found(_ node: NodeID) -> Member.Found? { plan.withLockedValue { $0.found(node) } }

    /// Nodes whose beacons have been heard.
    var heard: Set<NodeID> { plan.withLockedValue { $0.heard } }

    func left(_ node: NodeID) {
        plan.withLockedValue { $0.left(node) }
    }

    func lost(_ node: NodeID, saidGoodbye: Bool) {
        carryOut(plan.withLockedValue { $0.lost(node, saidGoodbye: saidGoodbye, now: system.now) })
    }

    func stop() {
        isStopped.store(true, ordering: .sequentiallyConsistent)
    }

    private func carryOut(_ actions: [DialPlan.Action]) {
        guard !isStopped.load(ordering: .sequentiallyConsistent) else { return }
        for action in actions {
            switch action {
            case .dial(let address):
                dial(address)
            case .wait(let address, let pause):
                _ = system.eventLoopGroup.next().scheduleTask(in: TimeAmount(pause)) { [weak self] in
                    guard let self else { return }
                    // This is asked outside the plan's lock, because the system has a lock of its own.
                    let isLinked = plan.withLockedValue { $0.node(at: address) }.map(system.isLinked) ?? false
                    carryOut(plan.withLockedValue { $0.due(address, now: system.now, isLinked: isLinked) })
                }
            }
        }
    }

    private func dial(_ address: NodeAddress) {
        system.connect(to: address).whenComplete { [self] result in
            switch result {
            case .success(let link):
                carryOut(plan.withLockedValue { $0.connected(address, to: link.peer.node, now: system.now) })
                if !system.isLinked(link.peer.node) {
                    // The link ended between its start and its being noted here.
                    lost(link.peer.node, saidGoodbye: link.isLeaving)
                }
            case .failure(let error):
                let failure = error as? HandshakeFailure ?? .broken(String(describing: error))
                // A name may stand for all nodes, and so for this one too: a node that dials itself in this way is not at fault.
                if !failure.isOfItself {
                    logFailure(address, "\(failure)", isSeed: plan.withLockedValue { $0.isSeed(address) })
                }
                carryOut(plan.withLockedValue { $0.failed(address, failure, now: system.now) })
            }
        }
    }

    /// Logs a failed attempt. The operator named a seed, so its first failure is worth a line; the rest is the usual waiting.
    private func logFailure(_ address: NodeAddress, _ error: String, isSeed: Bool) {
        let isFirst = isSeed && unreachable.withLockedValue { $0.insert(address).inserted }
        system.logger.log(
            level: isFirst ? .notice : .debug, "cannot reach a node; trying on",
            metadata: ["address": "\(address)", "error": "\(error)"])
    }
}
