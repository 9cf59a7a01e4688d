import Logging
import Testing
import Transport

@testable import SkyCore

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
}
