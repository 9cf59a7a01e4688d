package import Transport

/// One line of the list of nodes.
package struct NodeReport: Codable, Sendable {
    package var status: NodeStatus
    package var address: NodeAddress?
    package var state: Member.State
    /// Round trip as the answering node measured it; `nil` for itself and before the first ping.
    package var roundTrip: Duration?

    /// Time a node has to answer.
    static let patience = Duration.seconds(2)

    /// Asks every member, and this node, at once.
    static func collect(from system: ClusterSystem) async -> [NodeReport] {
        var asked = system.members
        asked.append(
            Member(
                node: system.node, name: system.name, address: system.listeningAddress, state: .alive, since: .zero))
        return await withTaskGroup(of: NodeReport?.self) { group in
            for member in asked {
                group.addTask {
                    let address = ActorAddress(node: member.node, name: ScanActor.wellKnownName)
                    guard let scan = try? ScanActor.resolve(id: address, using: system),
                        let status = try? await withDeadline(patience, { try await scan.status() })
                    else { return nil }
                    return NodeReport(
                        status: status, address: member.address, state: member.state,
                        roundTrip: system.roundTrip(to: member.node))
                }
            }
            var reports: [NodeReport] = []
            for await report in group { if let report { reports.append(report) } }
            return reports.sorted { ($0.status.name, $0.status.node) < ($1.status.name, $1.status.node) }
        }
    }
}
