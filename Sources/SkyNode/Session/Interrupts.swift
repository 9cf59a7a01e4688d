import Glibc
import NIOConcurrencyHelpers
import Transport
import UnixSignals

/// Ctrl-C and SIGTERM for a command: the first asks it to stop in order, the second leaves at once.
final class Interrupts: Sendable {
    private let interrupted = Latch()
    /// How words reach the person; a live display has to make room for them.
    private let speaker = NIOLockedValueBox<@Sendable (String) -> Void>({ Console.error($0) })

    var wasInterrupted: Bool { interrupted.isOpen }

    /// From now on, words go through a display.
    func speak(through display: ProgressDisplay) {
        speaker.withLockedValue { $0 = { display.say($0) } }
    }

    /// Listens until cancelled.
    func run() async {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        for await _ in signals {
            // The second one leaves at once, even where a stalled pipe holds up everything that prints: no thread of
            // ours is needed for it. Workers see their socket close and end by themselves.
            signal(SIGINT) { _ in _exit(130) }
            signal(SIGTERM) { _ in _exit(130) }
            interrupted.open()
            speaker.withLockedValue { $0 }("skynode: stopping; Ctrl-C again leaves at once")
            return
        }
    }

    /// `true` once interrupted, `false` when the caller is cancelled before.
    func first() async -> Bool {
        await interrupted.wait()
        return interrupted.isOpen
    }

    /// Runs `body` while listening.
    static func during<Result: Sendable>(
        _ body: @escaping @Sendable (Interrupts) async throws -> Result
    ) async throws -> Result {
        let interrupts = Interrupts()
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                await interrupts.run()
                return nil
            }
            group.addTask { try await body(interrupts) }
            while let result = try await group.next() {
                if let result {
                    group.cancelAll()
                    return result
                }
            }
            throw CancellationError()
        }
    }
}
