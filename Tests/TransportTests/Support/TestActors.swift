import Distributed
import Transport

/// An actor with one method of every shape that the transport carries.
distributed actor Echo: ClusterActor {
    typealias ActorSystem = ClusterSystem

    static let methods = MethodTable([
        Method("echo") { (echo: isolated Echo, text: String) in echo.echo(text) },
        Method("nothing") { (echo: isolated Echo) in echo.nothing() },
        Method("fail") { (echo: isolated Echo) in try echo.fail() },
        Method("wait") { (echo: isolated Echo) in await echo.wait() },
        Method("cancellations") { (echo: isolated Echo) in echo.cancellations() },
        Method("reverse") { (echo: isolated Echo, bytes: [UInt8]) in echo.reverse(bytes) },
        // This imitates a mistake in the table: the closure is for another actor.
        Method("misplaced") { (vault: isolated Vault) in vault.secret() },
        Method("repeated") { (echo: isolated Echo, text: String) in echo.echo(text) },
        // The value that it returns cannot be encoded.
        Method("unwritable") { (echo: isolated Echo) in Unwritable() },
    ])

    private var cancelled = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var observers: [CheckedContinuation<Void, Never>] = []

    distributed func echo(_ text: String) -> String { text }

    distributed func nothing() {}

    distributed func fail() throws { throw Complaint(text: "the lens cap is on") }

    /// Waits until it is cancelled.
    distributed func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled {
                    continuation.resume()
                } else {
                    waiting.append(continuation)
                }
            }
        } onCancel: {
            Task { await self.whenLocal { $0.release() } }
        }
        cancelled += 1
        for observer in observers { observer.resume() }
        observers = []
    }

    private func release() {
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    distributed func cancellations() -> Int { cancelled }

    /// Returns once a `wait` was cancelled.
    func untilCancelled() async {
        if cancelled == 0 { await withCheckedContinuation { observers.append($0) } }
    }

    distributed func reverse(_ bytes: [UInt8]) -> [UInt8] { bytes.reversed() }
}

/// Another actor, whose method must never run on an `Echo`.
distributed actor Vault: ClusterActor {
    typealias ActorSystem = ClusterSystem

    static let methods = MethodTable([Method("secret") { (vault: isolated Vault) in vault.secret() }])

    private var text = "nobody may read this"

    distributed func secret() -> String { text }
}

struct Complaint: Error, CustomStringConvertible {
    var text: String
    var description: String { text }
}

/// A value that cannot be encoded.
struct Unwritable: Codable, Sendable {
    init() {}

    init(from decoder: any Decoder) throws {}

    func encode(to encoder: any Encoder) throws { throw Complaint(text: "no ink") }
}
