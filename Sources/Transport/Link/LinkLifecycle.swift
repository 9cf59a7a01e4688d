/// The states of a link, from the end of its handshake to the end of its connection, as a value: whether calls may be made on it,
/// what the peer has to be told, and when there is nothing left to wait for. The states before that are a `Handshake`.
///
///     open --leave--> leaving ------------------------------settle--> closing --end--> ended
///     open --giveWay--> givingWay --settle--> gaveWay ------settle--> closing
///
/// `leave` is also possible while a link gives way, and `end` at any time. What the peer has said about itself is kept beside the
/// state.
struct LinkLifecycle: Hashable, Sendable {
    enum State: Hashable, Sendable {
        /// Calls are made in both directions.
        case open
        /// This node leaves the peer: it makes no calls any more and does not begin any of the peer's.
        case leaving
        /// There is another link to the same peer: no calls are made on this one any more, but some that were made are still under
        /// way.
        case givingWay
        /// None of these calls is under way any more, and the peer has been told so. Its calls are served until it says the same.
        case gaveWay
        /// Nothing is left to be done. The connection closes when all that was written has left.
        case closing
        /// The connection is gone. `wasRetired` tells a later caller whether another link was to be used before that.
        case ended(wasRetired: Bool)
    }

    /// What the peer has said about its own side.
    enum Peer: Hashable, Sendable {
        case stays
        /// The peer has another link, and has no calls of its own on this one.
        case gaveWay
        /// The peer leaves, and closes the connection when it is done.
        case leaves
    }

    /// The action that a change of state requires.
    enum Action: Hashable, Sendable {
        /// Send this frame to the peer, behind all frames that were sent before.
        case send(Frame.Kind)
        /// Close the connection when all that was written has left.
        case close
    }

    private(set) var state = State.open
    private(set) var peer = Peer.stays

    /// Whether the connection is gone.
    var hasEnded: Bool { if case .ended = state { true } else { false } }

    /// Whether no calls are made on the link any more, because either side leaves or because there is another link.
    var isRetired: Bool {
        switch state {
        case .open: peer == .leaves
        case .leaving, .givingWay, .gaveWay, .closing: true
        case .ended(let wasRetired): wasRetired
        }
    }

    /// This node leaves the peer.
    mutating func leave() -> Action? {
        switch state {
        case .open, .givingWay, .gaveWay:
            state = .leaving
            return .send(.goodbye)
        case .leaving, .closing, .ended: return nil
        }
    }

    /// Another link to the peer has taken the place of this one.
    mutating func giveWay() {
        if state == .open { state = .givingWay }
    }

    mutating func peerLeaves() { peer = .leaves }

    mutating func peerGaveWay() {
        // A peer that leaves closes the connection itself, and may have calls under way that it made before.
        if peer == .stays { peer = .gaveWay }
    }

    /// Takes the next step of a link that is to be closed, where it is time for one. Call it until it returns `nil`.
    ///
    /// - Parameters:
    ///   - made: calls made from here that are under way.
    ///   - served: calls of the peer that are under way here.
    ///   - hasUnwritten: whether something still waits to be written.
    mutating func settle(made: Int, served: Int, hasUnwritten: Bool) -> Action? {
        switch state {
        case .open, .closing, .ended: return nil
        case .givingWay:
            guard made == 0 else { return nil }
            state = .gaveWay
            return .send(.giveWay)
        case .gaveWay:
            guard peer == .gaveWay, served == 0, !hasUnwritten else { return nil }
        case .leaving:
            guard made == 0, served == 0, !hasUnwritten else { return nil }
        }
        state = .closing
        return .close
    }

    /// The connection has ended.
    mutating func end() {
        if !hasEnded { state = .ended(wasRetired: isRetired) }
    }
}
