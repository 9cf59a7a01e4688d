import Glibc
import Logging
import Testing

@testable import SkyCore

@Suite struct WorkerHomeTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// The pool may close it while a start that failed does. Closed twice, its lock was a descriptor that somebody else had by then.
    @Test func `a home that is closed twice closes nothing of others`() async throws {
        let home = try WorkerHome(tools: { NodeTools() }, logger: logger)
        #expect(await home.hasSocket)
        await home.close()
        // The numbers that are free are given out again, the lowest first.
        let others = (0..<64).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) }
        await home.close()
        #expect(others.allSatisfy { fcntl($0, F_GETFD) >= 0 })
        for other in others { close(other) }
    }
}
