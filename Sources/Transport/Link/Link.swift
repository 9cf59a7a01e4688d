package import NIOCore
import Synchronization

/// An open, authenticated connection to one peer, and the calls under way on it in both directions.
package final class Link: Sendable {
    package typealias Waiter = CheckedContinuation<ByteBuffer, any Error>

    package let peer: Hello
    /// Whether this side opened the connection.
    package let dialled: Bool
    /// The address seen from here.
    package let remoteAddress: NodeAddress?
    private let channel: any Channel
    private let epoch: ContinuousClock.Instant

    private let calls = Mutex(CallTable<Waiter>())
    /// Calls of the peer that run here, so that a cancel or a lost link reaches them.
    private let running = Mutex<[UInt64: Task<Void, Never>]>([:])
    private let queuedBytes = Atomic<Int>(0)
    private let saidGoodbye = Atomic<Bool>(false)
    private let roundTripNanoseconds = Atomic<Int64>(-1)

    /// Calls of one peer that may run here at once; more are refused as busy. A peer's coordinator makes a call for each
    /// of at most 1,024 slots and a few beside, so this is far above honest use.
    static let runningLimit = 4096

    init(peer: Hello, dialled: Bool, channel: any Channel, epoch: ContinuousClock.Instant) {
        self.peer = peer
        self.dialled = dialled
        self.channel = channel
        self.epoch = epoch
        remoteAddress = channel.remoteAddress.flatMap(NodeAddress.init)
    }

    var now: Duration { epoch.duration(to: .now) }

    /// Round trip of the last ping; `nil` before the first.
    var roundTrip: Duration? {
        let value = roundTripNanoseconds.load(ordering: .relaxed)
        return value < 0 ? nil : .nanoseconds(value)
    }

    /// Whether the peer announced that it leaves, so that the end of the link is no surprise.
    var isLeaving: Bool { saidGoodbye.load(ordering: .relaxed) }

    func send(_ frame: Frame) {
        channel.writeAndFlush(frame, promise: nil)
    }

    func close() {
        channel.close(promise: nil)
    }

    /// Says goodbye and closes once that has left.
    func leave() async {
        try? await channel.writeAndFlush(Frame(.goodbye)).get()
        try? await channel.close().get()
    }

    // MARK: - Calls made from here

    /// Sends a call and waits for its answer, its deadline, the caller's cancellation or the end of the link.
    ///
    /// - Throws: `RemoteError`, `TransportError` or `CancellationError`.
    func call(_ request: CallRequest) async throws -> ByteBuffer {
        let body = request.encoded()
        if body.readableBytes > FrameLimits.body {
            throw TransportError.tooLarge(bytes: body.readableBytes, limit: FrameLimits.body)
        }
        if queuedBytes.load(ordering: .relaxed) + body.readableBytes > FrameLimits.outbox {
            throw TransportError.congested
        }
        let opened = Mutex<UInt64?>(nil)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (waiter: Waiter) in
                let id = calls.withLock { $0.open(waiter, deadline: now + request.remaining) }
                guard let id else {
                    waiter.resume(throwing: TransportError.connectionLost(mayHaveRun: false))
                    return
                }
                opened.withLock { $0 = id }
                send(Frame(.call, call: id, body: body))
                // Cancelled before the id was known to the handler below.
                if Task.isCancelled { abandon(id, with: CancellationError()) }
            }
        } onCancel: {
            if let id = opened.withLock({ $0 }) { abandon(id, with: CancellationError()) }
        }
    }

    /// Gives up waiting and tells the other side, which may still be working on it.
    private func abandon(_ call: UInt64, with error: any Error) {
        guard let waiter = calls.withLock({ $0.take(call) }) else { return }
        send(Frame(.cancel, call: call))
        waiter.resume(throwing: error)
    }

    /// When `expireCalls` is due next.
    func nextDeadline() -> Duration? {
        calls.withLock { $0.nextDeadline() }
    }

    func expireCalls() {
        let expired = calls.withLock { $0.expire(at: now) }
        for (call, waiter) in expired {
            send(Frame(.cancel, call: call))
            waiter.resume(throwing: TransportError.deadlineExceeded)
        }
    }

    /// An answer came in; a late one finds nobody and is dropped.
    func answered(_ frame: Frame) {
        guard let waiter = calls.withLock({ $0.take(frame.call) }) else { return }
        if frame.kind == .reply {
            waiter.resume(returning: frame.body)
        } else if let error = try? WireCoder.decode(RemoteError.self, from: frame.body) {
            waiter.resume(throwing: RemoteError(error.kind, error.message))
        } else {
            waiter.resume(throwing: RemoteError(.failed, "the other side failed with an error that cannot be read"))
        }
    }

    // MARK: - Calls of the peer

    /// Runs `operation` as a task that belongs to this link: it is cancelled when the peer says so or the link ends.
    func run(_ call: UInt64, _ operation: @escaping @Sendable () async -> Void) {
        let isFull = running.withLock { tasks in
            if tasks.count >= Link.runningLimit || tasks[call] != nil { return true }
            tasks[call] = Task {
                await operation()
                self.running.withLock { _ = $0.removeValue(forKey: call) }
            }
            return false
        }
        if isFull { fail(call, RemoteError(.busy, "too many calls at once")) }
    }

    func cancelRunning(_ call: UInt64) {
        running.withLock { $0[call] }?.cancel()
    }

    func fail(_ call: UInt64, _ error: RemoteError) {
        guard let body = try? WireCoder.encode(error) else { return }
        send(Frame(.failure, call: call, body: body))
    }

    // MARK: - What the handler reports

    func queued(bytes: Int) { queuedBytes.store(bytes, ordering: .relaxed) }

    func peerSaidGoodbye() { saidGoodbye.store(true, ordering: .relaxed) }

    func measured(roundTrip: Duration) {
        let (seconds, attoseconds) = roundTrip.components
        roundTripNanoseconds.store(seconds * 1_000_000_000 + attoseconds / 1_000_000_000, ordering: .relaxed)
    }

    /// The connection has ended: nobody waits any longer, nothing runs for the peer any longer.
    func ended() {
        for waiter in calls.withLock({ $0.close() }) {
            waiter.resume(throwing: TransportError.connectionLost(mayHaveRun: true))
        }
        for task in running.withLock({ $0.values.map(\.self) }) { task.cancel() }
    }
}
