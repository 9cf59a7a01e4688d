/// The open connections of the HTTP interface, as a value: who may have another one, which one makes room for it, and until
/// when each must have gone on. Holds no socket and no clock.
struct ConnectionBook {
    typealias ID = UInt64

    /// Where a connection stands.
    enum Phase: Hashable {
        /// A request is awaited or has come in part: from its first byte, or from the connection's start.
        case receiving
        /// The node works on the answer, or the client reads it. Those of probes, and refusals, do not count.
        case answering(counts: Bool)
        /// The refusal of a wrong token waits.
        case delayed
        /// Between two requests.
        case idle
        /// The node has closed its side.
        case closing

        fileprivate var isAnswering: Bool {
            if case .answering = self { true } else { false }
        }
    }

    /// Whether a connection may be opened.
    enum Admission: Hashable {
        /// Yes; where there was no room another one is to be closed for it.
        case admitted(ID, closing: ID?)
        case refused
    }

    /// What is to be done with a connection when its time is up.
    enum Expiry: Hashable {
        /// It is known no longer.
        case nothing
        /// Look again at this time.
        case again(at: Duration)
        /// Nothing is said, because nothing was asked.
        case close
        /// A request came in part, and its sender is to hear why.
        case closeLate
    }

    /// Connections that the node ended, by why.
    struct Counts: Hashable {
        var refused = 0
        var crowdedOut = 0
        var late = 0
        var idle = 0
        var stalled = 0
    }

    private struct Connection {
        let source: HTTPSource
        var phase = Phase.receiving
        var since: Duration
        /// Whether anything has come since then.
        var hasBytes = false
        /// Since when its client reads nothing.
        var stalledSince: Duration?

        /// Whether it may be closed to make room: nobody loses an answer that he reads.
        func canGo(at now: Duration) -> Bool {
            !phase.isAnswering || stalledSince.map { now - $0 >= ConnectionBook.patience } ?? false
        }
    }

    /// How long a client that is well may read nothing.
    private static let patience = Duration.seconds(1)

    private let limits: HTTPLimits
    private var connections: [ID: Connection] = [:]
    private var bySource: [HTTPSource: Int] = [:]
    private var lastID: ID = 0
    private(set) var counts = Counts()

    init(limits: HTTPLimits) { self.limits = limits }

    var count: Int { connections.count }

    /// A connection is to be opened.
    mutating func open(from source: HTTPSource, at now: Duration) -> Admission {
        let own = bySource[source, default: 0]
        let remote = connections.count - bySource[.local, default: 0]
        var leaving: ID?
        if own >= limits.connections(of: source) {
            leaving = oldest(at: now) { $0.source == source }
        } else if !source.isLocal, remote >= limits.connections {
            // Whoever has most gives way, so that none needs more than its share to be heard.
            let most = connections.values.filter { !$0.source.isLocal && $0.canGo(at: now) }.map {
                bySource[$0.source, default: 0]
            }
            if let most = most.max(), most >= own {
                leaving = oldest(at: now) { !$0.source.isLocal && bySource[$0.source] == most }
            }
        } else {
            return admit(source, now, closing: nil)
        }
        guard let leaving else {
            counts.refused += 1
            return .refused
        }
        counts.crowdedOut += 1
        close(leaving)
        return admit(source, now, closing: leaving)
    }

    private mutating func admit(_ source: HTTPSource, _ now: Duration, closing: ID?) -> Admission {
        lastID += 1
        connections[lastID] = Connection(source: source, since: now)
        bySource[source, default: 0] += 1
        return .admitted(lastID, closing: closing)
    }

    /// Of those that may go, the one that has done nothing for longest.
    private func oldest(at now: Duration, where fits: (Connection) -> Bool) -> ID? {
        connections.filter { $0.value.canGo(at: now) && fits($0.value) }.min { one, other in
            (one.value.since, one.key) < (other.value.since, other.key)
        }?.key
    }

    /// A connection is closed. Harmless for one that is gone already.
    mutating func close(_ id: ID) {
        guard let connection = connections.removeValue(forKey: id) else { return }
        let rest = bySource[connection.source, default: 0] - 1
        bySource[connection.source] = rest > 0 ? rest : nil
    }

    /// Something of a request came.
    mutating func received(_ id: ID, at now: Duration) {
        guard var connection = connections[id] else { return }
        if connection.phase == .idle { (connection.phase, connection.since) = (.receiving, now) }
        guard connection.phase == .receiving else { return }
        connection.hasBytes = true
        connections[id] = connection
    }

    /// A request that takes one of the places for answers is whole.
    ///
    /// - Returns: whether there is a place.
    mutating func answering(_ id: ID, at now: Duration) -> Bool {
        guard let connection = connections[id] else { return false }
        let others = connections.values.filter { $0.phase == .answering(counts: true) }
        guard others.count < limits.answers,
            others.count(where: { $0.source == connection.source }) < limits.answers(of: connection.source)
        else { return false }
        move(id, to: .answering(counts: true), at: now)
        return true
    }

    /// What is said is written now: the answer of a request, a probe's, or a refusal.
    mutating func writing(_ id: ID, at now: Duration) {
        if let phase = connections[id]?.phase, !phase.isAnswering { move(id, to: .answering(counts: false), at: now) }
    }

    /// The refusal of a wrong token is to wait.
    mutating func delay(_ id: ID, at now: Duration) { move(id, to: .delayed, at: now) }

    /// The answer is written.
    mutating func answered(_ id: ID, at now: Duration) { move(id, to: .idle, at: now) }

    /// The node's side is closed; the client has to close its own.
    mutating func closing(_ id: ID, at now: Duration) { move(id, to: .closing, at: now) }

    private mutating func move(_ id: ID, to phase: Phase, at now: Duration) {
        guard var connection = connections[id], connection.phase != .closing else { return }
        (connection.phase, connection.since, connection.hasBytes) = (phase, now, false)
        connections[id] = connection
    }

    /// The client reads nothing, or reads again.
    mutating func stalled(_ id: ID, _ isStalled: Bool, at now: Duration) {
        guard let since = connections[id]?.stalledSince else {
            if isStalled { connections[id]?.stalledSince = now }
            return
        }
        connections[id]?.stalledSince = isStalled ? since : nil
    }

    /// When a connection is to be looked at with `expire`; `nil` where it is known no longer.
    func deadline(_ id: ID, at now: Duration) -> Duration? {
        guard let connection = connections[id] else { return nil }
        let own =
            switch connection.phase {
            case .receiving: connection.since + limits.receiveLimit
            case .idle: connection.since + limits.idleLimit
            case .closing: connection.since + limits.closeLimit
            // Whatever comes next takes at least one of these.
            case .answering, .delayed: now + min(limits.idleLimit, limits.receiveLimit)
            }
        return min(own, connection.stalledSince.map { $0 + limits.stallLimit } ?? own)
    }

    /// Looks whether the time of a connection is up.
    mutating func expire(_ id: ID, at now: Duration) -> Expiry {
        guard let connection = connections[id], let deadline = deadline(id, at: now) else { return .nothing }
        guard deadline <= now else { return .again(at: deadline) }
        close(id)
        if let stalled = connection.stalledSince, stalled + limits.stallLimit <= now {
            counts.stalled += 1
            return .close
        }
        guard connection.phase == .receiving, connection.hasBytes else {
            counts.idle += 1
            return .close
        }
        counts.late += 1
        return .closeLate
    }
}
