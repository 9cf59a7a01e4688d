import Logging
import NIOConcurrencyHelpers
import Testing
import Transport

@testable import SkyCore

/// What a coordinator logs while nothing can be stored.
struct StoringReportsTests {
    private struct Recorder: LogHandler {
        let lines: NIOLockedValueBox<[String]>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.notice

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.withLockedValue { $0.append("\(event.level): \(event.message)") } }
    }

    @Test func `it is logged once when it begins and once when it ends, whatever the reason becomes`() async throws {
        let lines = NIOLockedValueBox<[String]>([])
        let logger = Logger(label: "storing") { _ in Recorder(lines: lines) }
        let system = ClusterSystem(ClusterSettings(name: "storing"))
        let journal = try Journal.inMemory()
        let coordinator = Coordinator(journal: journal, logger: logger, actorSystem: system)
        let stored = try await journal.append([JournalEntry](), ran: nil)
        await coordinator.whenLocal { coordinator in
            coordinator.stored([], stored)
            for _ in 0..<2 {
                coordinator.journalFailed(JournalError(.unprotected, "boris is behind"))
                coordinator.journalFailed(JournalError(.unprotected, "boris and carl cannot be reached"))
                coordinator.journalFailed(JournalError(.full, "the disk is full"))
                coordinator.journalFailed(JournalError(.unprotected, "boris is behind"))
                coordinator.journalFailed(JournalError(.superseded, "another node goes on"))
                #expect(coordinator.core.pauseReason != nil)
                coordinator.journalRecovered()
                coordinator.stored([], stored)
            }
        }
        let once = [
            "error: nothing can be stored: boris is behind", "error: nothing can be stored: the disk is full",
            "notice: results are stored again",
        ]
        #expect(lines.withLockedValue { $0 } == once + once)
    }
}
