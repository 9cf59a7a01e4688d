import Base
import SkyCore
import Transport

/// Tries to make a link to each of some addresses, and asks each node that answers which members it lists.
struct LinkTrials {
    /// How many addresses are tried, and how many at once.
    static let limit = 512
    static let width = 16
    /// The time that a node has to say which members it lists.
    static let patience = Duration.seconds(2)

    /// An actor system that is not a member.
    let system: ClusterSystem

    func run(_ addresses: [NodeAddress], seeds: Set<NodeAddress>) async -> [NodeAddress: Examination.Trial] {
        await withTaskGroup(of: Examination.Trial.self) { group in
            var waiting = addresses.prefix(LinkTrials.limit)[...]
            var trials: [NodeAddress: Examination.Trial] = [:]
            for _ in 0..<LinkTrials.width {
                guard let address = waiting.popFirst() else { break }
                group.addTask { await attempt(address, isSeed: seeds.contains(address)) }
            }
            for await trial in group {
                trials[trial.address] = trial
                if let address = waiting.popFirst() {
                    group.addTask { await attempt(address, isSeed: seeds.contains(address)) }
                }
            }
            return trials
        }
    }

    private func attempt(_ address: NodeAddress, isSeed: Bool) async -> Examination.Trial {
        var trial = Examination.Trial(address: address, isSeed: isSeed)
        do {
            trial.node = try await system.join(address).node
        } catch HandshakeFailure.refused(let refusal) where refusal.reason == .duplicate {
            trial.node = refusal.node
        } catch HandshakeFailure.refusedByPeer(let refusal) where refusal.reason == .duplicate {
            trial.node = refusal.node
        } catch {
            trial.failure = PrintableText.of(ClusterSession.reason(error))
            trial.cause = LinkCause(error)
        }
        if let node = trial.node { trial.members = await members(of: node).map { Set($0.map(\.node)) } }
        return trial
    }

    /// Where the copies of a node's jobs are, the room of its jobs, and why it cannot read them; `nil` where it does not say.
    func storage(of node: NodeID) async -> (copies: Examination.Copies?, room: Examination.Room?, fault: String?) {
        do {
            let usage = try await withDeadline(LinkTrials.patience) {
                let address = ActorAddress(node: node, name: Coordinator.wellKnownName)
                return try await Coordinator.resolve(id: address, using: system).storage()
            }
            let room = Examination.Room(held: usage.bytes, limit: usage.limit)
            guard let states = usage.copies, let wanted = usage.copiesWanted else { return (nil, room, nil) }
            return (Examination.Copies(wanted: wanted, states: states, damaged: usage.damagedCopies ?? 0), room, nil)
        } catch let error as RemoteError where error.kind == .failed {
            return (nil, nil, PrintableText.of(error.message))
        } catch {
            return (nil, nil, nil)
        }
    }

    /// The members that a node lists, itself among them; `nil` where it does not say.
    func members(of node: NodeID) async -> [Member]? {
        try? await withDeadline(LinkTrials.patience) {
            let address = ActorAddress(node: node, name: Coordinator.wellKnownName)
            let coordinator = try Coordinator.resolve(id: address, using: system)
            return try await coordinator.membership(MembershipRequest(from: nil, patience: .zero)).members
        }
    }
}
