import Transport

/// What a failed call shows about the node that was called, beyond the failure itself.
enum NodeFault {
    /// The node refuses this coordinator, for this reason.
    case refuses(String)
    /// Its answer makes no sense.
    case invalidReply(String)

    /// - Returns: `nil` for an error that may be the network's.
    init?(_ error: any Error) {
        switch error {
        case let rejection as WorkBook.Rejection: self = .refuses(rejection.description)
        case TransportError.invalidReply(let reason): self = .invalidReply(reason)
        default: return nil
        }
    }
}
