import Distributed
import NIOCore

@testable import Transport

/// An actor that remembers what it was called with.
distributed actor Ledger: ClusterActor {
    typealias ActorSystem = ClusterSystem

    static let methods = MethodTable(
        [
            Method("note") { (ledger: isolated Ledger, number: Int, ballast: ByteBuffer) in
                // A closure that is isolated by its type only would get here and not be on the actor.
                ledger.preconditionIsolated()
                ledger.note(number, ballast)
            },
            Method("numbers") { (ledger: isolated Ledger) in ledger.numbers() },
            Method("context") { (ledger: isolated Ledger) in ledger.context() },
            Method("expose") { (ledger: isolated Ledger, seconds: Int) in try ledger.expose(seconds) },
            Method("fill") { (ledger: isolated Ledger, count: Int) in ledger.fill(count) },
            Method("hold") { (ledger: isolated Ledger) in
                await ledger.hold()
                ledger.preconditionIsolated()
            },
        ],
        errors: [DeclaredError("overexposed", Overexposed.self)])

    static let worksOnLoop = true

    private var noted: [Int] = []
    /// How often `fill` was called.
    private(set) var fills = 0
    private var held: [CheckedContinuation<Void, Never>] = []
    private var isOpen = false
    private var heldMost = 0

    distributed func note(_ number: Int, _ ballast: ByteBuffer) { noted.append(number) }

    distributed func numbers() -> [Int] { noted }

    /// What the method knows of its call.
    distributed func context() -> CallFacts {
        let context = CallContext.current
        let left = context.deadline.map { ContinuousClock.now.duration(to: $0) }
        return CallFacts(trace: CallTrace.current, peer: CallOrigin.peer, left: left)
    }

    distributed func expose(_ seconds: Int) throws { throw Overexposed(seconds: seconds) }

    distributed func fill(_ count: Int) -> ByteBuffer {
        fills += 1
        return .ofAnything(count)
    }

    /// Returns once `open()` was called; later calls at once.
    distributed func hold() async {
        guard !isOpen else { return }
        await withCheckedContinuation { continuation in
            held.append(continuation)
            heldMost = max(heldMost, held.count)
        }
    }

    func open() {
        isOpen = true
        for continuation in held { continuation.resume() }
        held = []
    }

    /// Calls that wait in `hold` now, and the most that ever did.
    func holding() -> (now: Int, most: Int) { (held.count, heldMost) }
}

/// What a method knows of the call it runs for.
struct CallFacts: Codable, Sendable {
    var trace: UInt64
    var peer: NodeID?
    var left: Duration?
}

/// An error that the API of `Ledger` declares.
struct Overexposed: Error, Codable, Equatable {
    var seconds: Int
}

extension ByteBuffer {
    /// So many bytes of whatever the memory holds: a gigabyte costs no time until somebody looks at it.
    static func ofAnything(_ count: Int) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(count)
        buffer.moveWriterIndex(to: count)
        return buffer
    }
}

extension Ledger {
    /// One on `server`, and the way to it from `client`.
    static func pair(_ server: ClusterSystem, _ client: ClusterSystem) throws -> (local: Ledger, remote: Ledger) {
        let local = ClusterSystem.withActorName("ledger") { Ledger(actorSystem: server) }
        let id = ActorAddress(node: server.node, name: "ledger")
        return (local, try Ledger.resolve(id: id, using: client))
    }
}
