import NIOConcurrencyHelpers
import NIOCore
import Transport

/// The open connections with their sockets: does what `ConnectionBook` decides.
final class HTTPConnections: Sendable {
    private struct State {
        var book: ConnectionBook
        var channels: [ConnectionBook.ID: any Channel] = [:]
    }

    private let state: NIOLockedValueBox<State>
    private let start = ContinuousClock.now

    init(limits: HTTPLimits) { state = NIOLockedValueBox(State(book: ConnectionBook(limits: limits))) }

    var now: Duration { start.duration(to: .now) }
    /// How many connections there are.
    var count: Int { state.withLockedValue { $0.book.count } }
    /// Connections that the node has ended, by reason.
    var counts: ConnectionBook.Counts { state.withLockedValue { $0.book.counts } }

    /// Counts a socket, and closes another one where there is no room.
    ///
    /// - Returns: `nil` where the socket is refused; it is to be closed then.
    func open(_ channel: any Channel) -> HTTPConnection? {
        let source = HTTPSource(channel.remoteAddress)
        let (id, leaving) = state.withLockedValue { state -> (ConnectionBook.ID?, (any Channel)?) in
            guard case .admitted(let id, let leaving) = state.book.open(from: source, at: now) else {
                return (nil, nil)
            }
            state.channels[id] = channel
            return (id, leaving.flatMap { state.channels.removeValue(forKey: $0) })
        }
        leaving?.close(promise: nil)
        return id.map { HTTPConnection(id: $0, source: source, all: self) }
    }

    func close(_ id: ConnectionBook.ID) {
        state.withLockedValue { state in
            state.book.close(id)
            state.channels[id] = nil
        }
    }

    func change<Value>(_ body: (inout ConnectionBook, _ now: Duration) -> Value) -> Value {
        state.withLockedValue { body(&$0.book, now) }
    }
}

/// One connection, as the code that answers its requests knows it.
final class HTTPConnection: Sendable {
    let id: ConnectionBook.ID
    let source: HTTPSource
    private let all: HTTPConnections
    /// Opens when the socket is closed.
    private let isClosed = Latch()

    init(id: ConnectionBook.ID, source: HTTPSource, all: HTTPConnections) {
        (self.id, self.source, self.all) = (id, source, all)
    }

    /// Notes that some bytes of a request are there.
    func received() { all.change { $0.received(id, at: $1) } }

    /// The request is whole and takes one of the places for answers. Returns whether there is one.
    func answering() -> Bool { all.change { $0.answering(id, at: $1) } }

    /// Notes that an answer is written now.
    func writing() { all.change { $0.writing(id, at: $1) } }

    /// Notes that the answer is written.
    func answered() { all.change { $0.answered(id, at: $1) } }

    func stalled(_ isStalled: Bool) { all.change { $0.stalled(id, isStalled, at: $1) } }

    func closing() { all.change { $0.closing(id, at: $1) } }

    func closed() {
        all.close(id)
        isClosed.open()
    }

    /// The time until the connection is to be looked at; `nil` where it is no longer known.
    func timeLeft() -> Duration? { all.change { book, now in book.deadline(id, at: now).map { $0 - now } } }

    /// Checks whether the connection's time is up. If it is not, `again` is the time until the next check.
    func expire() -> (ConnectionBook.Expiry, again: Duration) {
        all.change { book, now in
            let expiry = book.expire(id, at: now)
            if case .again(let time) = expiry { return (expiry, time - now) }
            return (expiry, .zero)
        }
    }

    /// Waits before the refusal of a wrong token is sent, but no longer than the client waits. Its connection makes room for others
    /// meanwhile.
    func delay(_ time: Duration) async {
        all.change { $0.delay(id, at: $1) }
        await isClosed.wait(atMost: time)
    }
}
