import NIOConcurrencyHelpers
import SkyCore
import Transport

/// The addresses of a cluster's other nodes, as far as a command has learned them: one of them is asked when the node that the
/// command talks to is gone.
final class OtherNodes: Sendable {
    private let own: NodeAddress
    private let known = NIOLockedValueBox<[NodeAddress]>([])

    /// How many are remembered. More than some are never tried within a command's patience.
    private static let limit = 64
    /// How often the node is asked whom it knows.
    private static let interval = Duration.seconds(10)

    init(of own: NodeAddress) { self.own = own }

    var addresses: [NodeAddress] { known.withLockedValue { $0 } }

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
