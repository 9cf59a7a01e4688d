import NIOConcurrencyHelpers
import SkyCore
import Testing
import Transport

@testable import SkyNode

/// Jobs of a command that the coordinator does not take now.
struct SubmissionLineTests {
    /// A coordinator that takes so many jobs at once.
    private final class Door: Sendable {
        let state: NIOLockedValueBox<(free: Int, asked: Int, said: [String])>
        let line = SubmissionLine()
        let interrupts = Interrupts()
        let cause: PassingRefusal.Cause

        init(free: Int, cause: PassingRefusal.Cause = .jobs) {
            state = NIOLockedValueBox((free, 0, []))
            self.cause = cause
        }

        func submit() async throws {
            try await line.submit(interrupts, say: { line in self.state.withLockedValue { $0.said.append(line) } }) {
                let isTaken = self.state.withLockedValue { state in
                    state.asked += 1
                    state.free -= 1
                    if state.free < 0 { state.free = 0; return false }
                    return true
                }
                guard isTaken else {
                    throw CommandFailure(.partlyFailed, "7 jobs go on", refusal: .passing(self.cause))
                }
            }
        }

        func end() {
            state.withLockedValue { $0.free += 1 }
            line.jobEnded()
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `jobs wait for the ends of others, only the first of them asks, and it is said once`() async throws {
        let door = Door(free: 3)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { try await door.submit() } }
            for try await _ in group { door.end() }
        }
        door.state.withLockedValue { state in
            #expect(state.said == ["skynode: waiting: 7 jobs go on"])
            #expect(state.asked <= 150, "\(state.asked) questions for 50 jobs")
        }
    }

    @Test(.timeLimit(.minutes(1))) func `an interrupt ends all waits`() async throws {
        let door = Door(free: 0)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<5 {
                group.addTask {
                    do {
                        try await door.submit()
                        return false
                    } catch {
                        return (error as? CommandFailure)?.status == .cancelled
                    }
                }
            }
            door.interrupts.interrupt()
            for await isCancelled in group { #expect(isCancelled) }
        }
    }

    @Test func `a command that has begun nothing does not wait for room on a disk`() async throws {
        let door = Door(free: 0, cause: .storage)
        await #expect(throws: CommandFailure.self) { try await door.submit() }
        door.state.withLockedValue { $0.free = 1 }
        try await door.submit()
        async let next: Void = door.submit()
        door.end()
        try await next
    }
}
