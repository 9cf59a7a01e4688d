/// What goes wrong between a caller and a remote actor, as the caller sees it.
public enum TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no link to that node.
    case notConnected(NodeID)
    /// The link ended before the answer came. `mayHaveRun` tells whether the call had been given to the link: then
    /// nobody knows whether the other side did it.
    case connectionLost(mayHaveRun: Bool)
    /// The time set by `withDeadline`, or the default, is over.
    case deadlineExceeded
    /// The method is not in its actor's `methods`.
    case undeclaredMethod(String)
    /// The arguments or the result are larger than a link carries.
    case tooLarge(limit: Int)
    /// So much waits on this link already that another call would only make it worse.
    case congested
    /// This system has been shut down, or not been started.
    case notRunning
    /// The answer could not be read, or holds values that no peer of good faith sends.
    case invalidReply(String)
    /// There is no local actor of that name and type.
    case noSuchActor(String)

    public var description: String {
        switch self {
        case .notConnected(let node): "no link to node \(node)"
        case .connectionLost(let mayHaveRun):
            mayHaveRun ? "the connection was lost while waiting for the answer" : "the connection was lost"
        case .deadlineExceeded: "no answer in time"
        case .undeclaredMethod(let target):
            "the method is missing from its actor's `methods`: \(target)"
        case .tooLarge(let limit): "a message of more than the \(limit) bytes that are carried"
        case .congested: "too much waits to be sent to that node"
        case .notRunning: "this node's actor system is not running"
        case .invalidReply(let reason): "its answer makes no sense: \(reason)"
        case .noSuchActor(let name): "there is no actor named \(name) here"
        }
    }
}
