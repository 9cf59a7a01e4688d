import Foundation
package import Transport

/// One line of the list of nodes.
package struct NodeReport: Codable, Sendable {
    package var member: Member
    /// `nil` where it did not answer in time.
    package var status: NodeStatus?
    /// Whether it is the node that was asked.
    package var isAnswering: Bool
    /// How long it has been a member, as the answering node sees it; for that node itself, how long it has run.
    package var age: Duration
    /// Round trip as the answering node measured it; `nil` for itself and before the first ping.
    package var roundTrip: Duration?
    /// How far its time of day is ahead of the answering node's; `nil` where it has not reported its time.
    package var clockOffset: Duration?
    /// How fast it worked recently, as the answering node's coordinator measured it: 1 is average, 2 is twice as fast. `nil` where
    /// it has had no work from that coordinator.
    package var speed: Double?

    /// How long a node may take to answer.
    static let patience = Duration.seconds(1)

    /// Asks every member, and this node, at once.
    static func collect(from system: ClusterSystem, speeds: [NodeID: Double]) async -> [NodeReport] {
        let asked = [system.ownMember] + system.members
        return await withTaskGroup(of: NodeReport.self) { group in
            for var member in asked {
                member.found = system.found(member)
                group.addTask { [member] in
                    let address = ActorAddress(node: member.node, name: ScanActor.wellKnownName)
                    let scan = try? ScanActor.resolve(id: address, using: system)
                    // A status that makes no sense counts as no answer.
                    let status = try? await withDeadline(patience) { try await scan?.status() }
                    return NodeReport(
                        member: member, status: status?.isSane == true ? status : nil,
                        isAnswering: member.node == system.node, age: system.now - member.since,
                        roundTrip: system.roundTrip(to: member.node),
                        clockOffset: system.clockOffset(of: member.node), speed: speeds[member.node])
                }
            }
            var reports: [NodeReport] = []
            for await report in group { reports.append(report) }
            return reports.sorted { ($0.member.name, $0.member.node) < ($1.member.name, $1.member.node) }
        }
    }
}
