/// The state of one piece of work, such as an encode or a decode, which is worth keeping for the next: a small message costs less
/// to read than the memory that is needed on the way.
protocol PooledSession: AnyObject {
    init()
    /// Forgets the work, and memory beyond what a small piece of work needs.
    func clear()
}

/// Sessions that nobody uses.
final class SessionPool<Session: PooledSession>: Sendable {
    /// It is unchecked, because sessions are not safe to share. Only sessions without any other reference get in, so that a caller
    /// that takes one out has it alone.
    private struct Idle: @unchecked Sendable {
        let session: Session
    }

    private let idle = BriefLock<[Idle]>([])

    /// How many idle sessions are kept: more than most machines have threads. There is one session to a thread at a time, and
    /// another one for work inside of other work, as where a value encodes another to bytes of its own.
    private static var capacity: Int { 64 }

    init() {}

    // This is inlined, because the pool is small and its callers are generic: code that does not know `Session` costs more than the
    // pool.
    @inline(__always)
    func take() -> Session {
        idle.withLockedValue { $0.popLast() }?.session ?? Session()
    }

    /// Keeps `session`, unless the caller's reference to it is not the only one: a value that has kept its coder may come back to
    /// the session at any time.
    @inline(__always)
    func put(_ session: inout Session) {
        guard isKnownUniquelyReferenced(&session) else { return }
        session.clear()
        let returned = Idle(session: session)
        idle.withLockedValue { idle in
            if idle.count < Self.capacity { idle.append(returned) }
        }
    }
}
