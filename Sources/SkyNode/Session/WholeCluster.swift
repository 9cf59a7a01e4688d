import Base
import SkyCore
import Transport

/// Every node of a cluster, as seen from the node to which a command is linked.
///
/// A command dials the other nodes itself, with the same key. So each node answers for itself, whatever its version, and no node
/// has to carry the lists of all.
struct WholeCluster {
    /// What one node answered.
    struct Answer<Value: Sendable>: Sendable {
        var member: Member
        /// The value, or the reason for people why there is none.
        var result: Result<Value, Silence>
    }

    struct Silence: Error {
        var reason: String
        /// Whether the node answers, and shows no jobs now.
        var isUnopened = false
    }

    let coordinator: Coordinator

    /// The time in which a node must be reached and answer, and the number of nodes that are asked at once.
    static let patience = Duration.seconds(5)
    private static let width = 64

    /// What the nodes answered, in the order of their names, and the nodes that could not be asked because they were lost.
    struct Answers<Value: Sendable>: Sendable {
        var nodes: [Answer<Value>]
        var lost: [LostMember] = []
        /// How long the node to which the command is linked has run.
        var uptime = Duration.zero

        /// The same nodes with other values.
        func map<Other>(_ transform: (Value) -> Other) -> Answers<Other> {
            Answers<Other>(
                nodes: nodes.map { Answer<Other>(member: $0.member, result: $0.result.map(transform)) }, lost: lost,
                uptime: uptime)
        }
    }

    /// Asks the coordinator of every node.
    func ask<Value: Sendable>(
        _ body: @escaping @Sendable (Coordinator) async throws -> Value
    ) async throws -> Answers<Value> {
        let page = try await page
        let nodes = await forEach(page.members ?? []) { member in
            let other = try await coordinator(of: member)
            return try await body(other)
        }
        return Answers(nodes: nodes, lost: page.lost ?? [], uptime: page.uptime)
    }

    /// The node that is asked.
    var ownMember: Member {
        get async throws {
            guard let own = try await page.members?.first(where: { $0.node == coordinator.id.node }) else {
                throw TransportError.notConnected(coordinator.id.node)
            }
            return own
        }
    }

    private var page: MembershipPage {
        get async throws { try await coordinator.membership(MembershipRequest(from: nil, patience: .zero)) }
    }

    /// Runs `body` for every node.
    func forEach<Value: Sendable>(
        _ body: @escaping @Sendable (Member) async throws -> Value
    ) async throws -> [Answer<Value>] {
        await forEach(try await page.members ?? [], body)
    }

    private func forEach<Value: Sendable>(
        _ members: [Member], _ body: @escaping @Sendable (Member) async throws -> Value
    ) async -> [Answer<Value>] {
        await withTaskGroup(of: Answer<Value>.self) { group in
            var waiting = members[...]
            func next() {
                guard let member = waiting.popFirst() else { return }
                group.addTask {
                    Answer(member: member, result: await WholeCluster.limited(member) { try await body(member) })
                }
            }
            for _ in 0..<WholeCluster.width { next() }
            var answers: [Answer<Value>] = []
            for await answer in group {
                answers.append(answer)
                next()
            }
            return answers.sorted { ($0.member.name, $0.member.node) < ($1.member.name, $1.member.node) }
        }
    }

    /// The coordinator of a node. The node is dialled where there is no link to it.
    private func coordinator(of member: Member) async throws -> Coordinator {
        let system = coordinator.actorSystem
        let node = member.node
        if node != coordinator.id.node, !system.isLinked(node) {
            guard let address = member.address else { throw Silence(reason: "it has published no address") }
            do {
                let found = try await system.join(address).node
                guard found == node else { throw Silence(reason: "at \(address) there is another node") }
            } catch HandshakeFailure.refused(let refusal) where refusal.reason == .duplicate {
            } catch HandshakeFailure.refusedByPeer(let refusal) where refusal.reason == .duplicate {
            }
        }
        return try WholeCluster.coordinator(of: member, like: coordinator)
    }

    /// The coordinator of a node to which there is a link.
    ///
    /// - Parameter known: a coordinator that is reached in the same way.
    static func coordinator(of member: Member, like known: Coordinator) throws -> Coordinator {
        if member.node == known.id.node { return known }
        return try Coordinator.resolve(
            id: ActorAddress(node: member.node, name: Coordinator.wellKnownName), using: known.actorSystem)
    }

    private static func limited<Value: Sendable>(
        _ member: Member, _ body: @escaping @Sendable () async throws -> Value
    ) async -> Result<Value, Silence> {
        await withTaskGroup(of: Result<Value, Silence>.self) { group in
            group.addTask {
                do {
                    return .success(try await withDeadline(patience) { try await body() })
                } catch let silence as Silence {
                    return .failure(silence)
                } catch let error as RemoteError where error.kind == .noSuchActor {
                    return .failure(Silence(reason: "it \(UnopenedJobs.words(at: member.address))", isUnopened: true))
                } catch let error as RemoteError {
                    return .failure(Silence(reason: PrintableText.of(error.message)))
                } catch {
                    return .failure(Silence(reason: PrintableText.of(ClusterSession.reason(error))))
                }
            }
            group.addTask {
                try? await Task.sleep(for: patience)
                return .failure(Silence(reason: "no answer"))
            }
            // The first of the two results counts.
            let first = await group.next() ?? .failure(Silence(reason: "no answer"))
            group.cancelAll()
            return first
        }
    }
}
