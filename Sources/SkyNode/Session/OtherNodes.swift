import NIOConcurrencyHelpers
import SkyCore
import Transport

/// The addresses of a cluster's other nodes, as far as a command has learned them: one of them is asked when the node that the
/// command talks to is gone.
final class OtherNodes: Sendable {
    private let own: NodeAddress
    private let known = NIOLockedValueBox<[NodeAddress]>([])

    /// How many are remembered.
    private static let limit = 64
    /// How many are dialled at the same time.
    private static let share = 8
    /// How often the node is asked whom it knows.
    private static let interval = Duration.seconds(10)

    init(of own: NodeAddress) { self.own = own }

    /// Some of them, other ones each time.
    var some: [NodeAddress] { Array(known.withLockedValue { $0 }.shuffled().prefix(OtherNodes.share)) }

    /// Asks the node now and then whom it knows, until it is cancelled.
    func follow(_ connection: CoordinatorConnection) async {
        while !Task.isCancelled {
            let request = MembershipRequest(from: nil, patience: .zero)
            if let page = try? await connection.coordinator.membership(request), let members = page.members {
                let addresses = members.compactMap(\.address).filter { $0 != own }
                // Where the node is alone for a moment, the others may still be there.
                if !addresses.isEmpty { known.withLockedValue { $0 = Array(addresses.prefix(OtherNodes.limit)) } }
            }
            try? await Task.sleep(for: OtherNodes.interval)
        }
    }
}
