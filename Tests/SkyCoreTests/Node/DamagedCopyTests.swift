import Fixtures
import Foundation
import GRDB
import Testing
import Transport

@testable import SkyCore
@testable import SkyJobs

/// A node that takes a coordinator over whose journal it cannot read.
@Suite(.timeLimit(.minutes(3))) struct DamagedCopyTests {
    @Test func `what cannot be read where it was handed over goes on where it can be`() async throws {
        let data = ScratchFolder()
        let folders = (1...3).map { data.path + "/node\($0)" }
        try await withThrowingTaskGroup(of: Void.self) { group in
            var nodes: [Node] = []
            for (index, folder) in folders.enumerated() {
                var settings = NodesInProcess.settings(
                    "node\(index + 1)", slots: 1, join: nodes.compactMap(\.system.listeningAddress))
                // It is asked to take over, and does not do so by itself.
                settings.copies.adoptAfter = .seconds(3600)
                let node = try Node(settings, journal: try Journal(in: JournalFolder(folder)))
                try await node.start()
                nodes.append(node)
                if index > 0 { group.addTask { await node.run() } }
            }
            let (lost, third) = (nodes[0], nodes[2])
            let losing = Task { await lost.run() }
            #expect(try await kept(by: lost))
            // On a busy machine a copy may be out of reach for seconds. Then nothing is accepted, and whoever submits tries again.
            let submission = Submission(JobRequest(.simulate(SimulateRequest(tasks: 2, duration: .zero))), token: "one")
            var submitted: JobID?
            #expect(
                await eventually {
                    submitted = try? await lost.coordinator.submit(submission)
                    return submitted != nil
                })
            let job = try #require(submitted)
            #expect(try await NodesInProcess.report(of: job, at: lost.coordinator).0.completed == 2)
            // The end of the job has got there when it is known to be committed.
            #expect(try await kept(by: lost))

            let own = await lost.coordinator.whenLocal { $0.journal.incarnation.coordinator }
            let coordinator = "\(try #require(own))"
            for folder in folders[1...] {
                // The node may be storing something.
                var configuration = Configuration()
                configuration.busyMode = .timeout(30)
                let queue = try DatabaseQueue(
                    path: "\(folder)/copies/\(coordinator)/journal.sqlite", configuration: configuration)
                try await queue.write { try $0.execute(sql: "ALTER TABLE job RENAME TO lost") }
                try queue.close()
            }
            // Neither of the two can read its copy, so that it comes back to where it was.
            await lost.handOver()
            #expect(await eventually { (try? await third.coordinator.listing(job))?.status.completed == 2 })
            losing.cancel()
            await losing.value
            group.cancelAll()
        }
        withExtendedLifetime(data) {}
    }

    /// Whether two others have all of a node's journal in the end.
    private func kept(by node: Node) async throws -> Bool {
        await eventually {
            let copies = await node.coordinator.whenLocal { $0.copyReport } ?? nil
            return copies?.kept.count == 2 && copies?.batchesBehind == 0
        }
    }

    private func eventually(_ holds: () async throws -> Bool) async rethrows -> Bool {
        let limit = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < limit {
            if try await holds() { return true }
            await Task.yield()
        }
        return try await holds()
    }
}
