/// The open connections of the HTTP interface, as a value: who may have another one, which one makes room for it, and until when
/// each must have gone on. It holds no socket and no clock.
struct ConnectionBook {
    typealias ID = UInt64

    /// Where a connection stands.
    enum Phase: Hashable {
        /// A request is awaited or has come in part: from its first byte, or from the connection's start.
        case receiving
        /// The node works on the answer, or the client reads it. Answers to probes, and refusals, do not count.
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
        /// It may be opened. Where there was no room, another connection is to be closed for it.
        case admitted(ID, closing: ID?)
        case refused
    }

    /// What is to be done with a connection when its time is up.
    enum Expiry: Hashable {
        /// The connection is no longer known.
        case nothing
        /// Look again at this time.
        case again(at: Duration)
        /// Close it and say nothing, because nothing was asked.
        case close
        /// Close it. A request came in part, and its sender is to hear why.
        case closeLate
    }

    /// Connections that the node ended, by reason.
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

        /// Whether it may be closed to make room: no client loses an answer that it reads.
        func canGo(at now: Duration) -> Bool {
            !phase.isAnswering || stalledSince.map { now - $0 >= ConnectionBook.patience } ?? false
        }
    }

    /// How long a healthy client may read nothing.
    private static let patience = Duration.seconds(1)

    private let limits: HTTPLimits
    private var connections: [ID: Connection] = [:]
    private var bySource: [HTTPSource: Int] = [:]
    private var lastID: ID = 0
    private(set) var counts = Counts()

    init(limits: HTTPLimits) { self.limits = limits }

    var count: Int { connections.count }

    /// Decides about a connection that is to be opened.
    mutating func open(from source: HTTPSource, at now: Duration) -> Admission {
        let own = bySource[source, default: 0]
        let remote = connections.count - bySource[.local, default: 0]
        var leaving: ID?
        if own >= limits.connections(of: source) {
            leaving = oldest(at: now) { $0.source == source }
        } else if !source.isLocal, remote >= limits.connections {
            // The source that has most connections gives way, so that no source needs more than its share to be heard.
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

    /// Among the connections that may go, the one that has done nothing for longest.
    private func oldest(at now: Duration, where fits: (Connection) -> Bool) -> ID? {
        connections.filter { $0.value.canGo(at: now) && fits($0.value) }.min { one, other in
            (one.value.since, one.key) < (other.value.since, other.key)
        }?.key
    }

    /// Notes that a connection is closed. This is harmless for one that is gone already.
    mutating func close(_ id: ID) {
        guard let connection = connections.removeValue(forKey: id) else { return }
        let rest = bySource[connection.source, default: 0] - 1
        bySource[connection.source] = rest > 0 ? rest : nil
    }

    /// Notes that some bytes of a request came.
    mutating func received(_ id: ID, at now: Duration) {
        guard var connection = connections[id] else { return }
        if connection.phase == .idle { (connection.phase, connection.since) = (.receiving, now) }
        guard connection.phase == .receiving else { return }
        connection.hasBytes = true
        connections[id] = connection
    }

    /// A request is whole, and takes one of the places for answers.
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

    /// Notes that an answer is written now: that of a request, a probe's, or a refusal.
    mutating func writing(_ id: ID, at now: Duration) {
        if let phase = connections[id]?.phase, !phase.isAnswering { move(id, to: .answering(counts: false), at: now) }
    }

    /// Notes that the refusal of a wrong token is to wait.
    mutating func delay(_ id: ID, at now: Duration) { move(id, to: .delayed, at: now) }

    /// Notes that the answer is written.
    mutating func answered(_ id: ID, at now: Duration) { move(id, to: .idle, at: now) }

    /// Notes that the node's side is closed; the client has to close its own.
    mutating func closing(_ id: ID, at now: Duration) { move(id, to: .closing, at: now) }

    private mutating func move(_ id: ID, to phase: Phase, at now: Duration) {
        guard var connection = connections[id], connection.phase != .closing else { return }
        (connection.phase, connection.since, connection.hasBytes) = (phase, now, false)
        connections[id] = connection
    }

    /// Notes that the client reads nothing, or reads again.
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
            // The next phase takes at least one of these times.
            case .answering, .delayed: now + min(limits.idleLimit, limits.receiveLimit)
            }
        return min(own, connection.stalledSince.map { $0 + limits.stallLimit } ?? own)
    }

    /// Checks whether the time of a connection is up.
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
