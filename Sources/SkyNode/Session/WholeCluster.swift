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
    }

    let coordinator: Coordinator

    /// The time in which a node must be reached and answer, and the number of nodes that are asked at once.
    static let patience = Duration.seconds(5)
    private static let width = 16

    /// Asks the coordinator of every node. The answers are in the order of the nodes' names.
    func ask<Value: Sendable>(
        _ body: @escaping @Sendable (Coordinator) async throws -> Value
    ) async throws -> [Answer<Value>] {
        try await forEach { report in
            let other = try await coordinator(of: report)
            return try await body(other)
        }
    }

    /// Runs `body` for every node.
    func forEach<Value: Sendable>(
        _ body: @escaping @Sendable (NodeReport) async throws -> Value
    ) async throws -> [Answer<Value>] {
        let reports = try await coordinator.nodes()
        return await withTaskGroup(of: Answer<Value>.self) { group in
            var waiting = reports[...]
            func next() {
                guard let report = waiting.popFirst() else { return }
                group.addTask {
                    Answer(member: report.member, result: await WholeCluster.limited { try await body(report) })
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
    private func coordinator(of report: NodeReport) async throws -> Coordinator {
        if report.isAnswering { return coordinator }
        let system = coordinator.actorSystem
        let node = report.member.node
        if !system.isLinked(node) {
            guard let address = report.member.address else { throw Silence(reason: "it has published no address") }
            do {
                let found = try await system.join(address).node
                guard found == node else { throw Silence(reason: "at \(address) there is another node") }
            } catch HandshakeFailure.refused(let refusal) where refusal.reason == .duplicate {
            } catch HandshakeFailure.refusedByPeer(let refusal) where refusal.reason == .duplicate {
            }
        }
        return try Coordinator.resolve(id: ActorAddress(node: node, name: Coordinator.wellKnownName), using: system)
    }

    private static func limited<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async -> Result<Value, Silence> {
        await withTaskGroup(of: Result<Value, Silence>.self) { group in
            group.addTask {
                do {
                    return .success(try await withDeadline(patience) { try await body() })
                } catch let silence as Silence {
                    return .failure(silence)
                } catch let error as RemoteError where error.kind == .noSuchActor {
                    return .failure(Silence(reason: "it \(UnopenedJobs.words)"))
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
