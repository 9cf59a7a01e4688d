/// Why a node did not start an attempt. The attempt has not run, so trying again elsewhere costs its task nothing.
package enum StartRefusal: String, Error, Hashable, Codable, Sendable, CustomStringConvertible {
    /// The coordinator has no lease here, or its lease has run out.
    case noLease
    /// Every slot of the lease is in use, because the lease shrank while the attempt was on its way.
    case noIdleSlot
    /// The same attempt is running already.
    case duplicate
    /// The node drains: it finishes what it has and takes nothing new.
    case draining
    /// The node has no slots for anybody.
    case noSlots

    package var description: String {
        switch self {
        case .noLease: "the coordinator holds no lease on this node"
        case .noIdleSlot: "every slot of the lease is in use"
        case .duplicate: "this attempt is already running here"
        case .noSlots: "the node has no slots"
        case .draining: "the node is draining"
        }
    }
}
