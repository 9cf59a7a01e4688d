import Transport

/// What a call that failed says of the node that was called, beyond that it failed.
enum NodeFault {
    /// It does not listen to this coordinator, and says why.
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
