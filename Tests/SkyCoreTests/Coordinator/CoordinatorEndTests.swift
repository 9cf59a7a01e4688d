import Logging
import Testing
import Transport

@testable import SkyCore
@testable import SkyJobs

/// What a coordinator publishes when it ends.
struct CoordinatorEndTests {
    @Test(arguments: [false, true])
    func `what was not stored is published at the end, unless other nodes have taken the jobs over`(isTakenOver: Bool)
        async throws
    {
        let system = ClusterSystem(ClusterSettings(name: "end"))
        let logger = Logger(label: "end") { _ in SwiftLogNoOpLogHandler() }
        let coordinator = Coordinator(journal: try Journal.inMemory(), logger: logger, actorSystem: system)
        let request = JobRequest(.simulate(SimulateRequest(tasks: 2, duration: .milliseconds(5))))
        let isPublished = await coordinator.whenLocal { coordinator in
            // Nobody runs it, so that the job's entry waits to be stored.
            coordinator.updateCore { _ = try? $0.submit(request, token: nil, as: JobID(rawValue: 7)) }
            #expect(!coordinator.core.writeAhead.isSettled)
            await coordinator.close(isTakenOver: isTakenOver)
            return coordinator.core.writeAhead.isSettled
        }
        #expect(isPublished == !isTakenOver)
    }

    @Test(arguments: [JournalError.Kind.superseded, nil])
    func `a submission is to be repeated where another node goes on, or the node stops`(_ kind: JournalError.Kind?)
        async throws
    {
        let system = ClusterSystem(ClusterSettings(name: "end"))
        let logger = Logger(label: "end") { _ in SwiftLogNoOpLogHandler() }
        let coordinator = Coordinator(journal: try Journal.inMemory(), logger: logger, actorSystem: system)
        // Nobody runs it, so that the job's entry waits to be stored.
        let submission = Submission(JobRequest(.simulate(SimulateRequest(tasks: 2, duration: .milliseconds(5)))))
        let submitted = Task { try await coordinator.submit(submission) }
        while await coordinator.whenLocal({ $0.storeWaiters.isEmpty }) != false { await Task.yield() }
        await coordinator.whenLocal { coordinator in
            if let kind {
                coordinator.journalFailed(JournalError(kind, "another node goes on with these jobs"))
            } else {
                await coordinator.close(isTakenOver: true)
            }
        }
        let error = await #expect(throws: RemoteError.self) { _ = try await submitted.value }
        #expect(error?.kind == .cancelled, "\(error as Any)")
    }

    @Test func `while a node is lost, a job that no other one knows may be there`() async throws {
        let system = ClusterSystem(ClusterSettings(name: "end"))
        let logger = Logger(label: "end") { _ in SwiftLogNoOpLogHandler() }
        let members = MembershipHistory()
        let coordinator = Coordinator(
            journal: try Journal.inMemory(), members: members, logger: logger, actorSystem: system)
        func unknown() async throws -> RemoteError {
            try #require(await #expect(throws: RemoteError.self) { try await coordinator.listing(JobID(rawValue: 7)) })
        }
        func member(_ number: UInt64, _ name: String) -> Member {
            Member(node: NodeID(rawValue: number), name: name, address: nil, since: .zero)
        }
        members.note(.joined(member(8, "pc8")), at: .zero)
        // Another node of this machine.
        members.note(.joined(member(9, "end")), at: .zero)
        members.note(.lost(NodeID(rawValue: 9)), at: system.now)
        var error = try await unknown()
        #expect(error.isAboutUnknownJob && !error.mayBeOutOfReach)
        members.note(.lost(NodeID(rawValue: 8)), at: system.now)
        error = try await unknown()
        #expect(error.isAboutUnknownJob && error.mayBeOutOfReach && !error.mayBeTakenOver, "\(error.message)")
        #expect(error.message.hasSuffix(" at the nodes in reach: pc8 was lost"), "\(error.message)")
    }
}
