import Base
package import NIOCore
package import SkyCore
package import Transport

/// The rehearsal: tasks that only take time.
enum SimulateKind: JobKind {
    static var request: any KindRequest.Type { SimulateRequest.self }
    static var work: [any KindWork.Type] { [SimulatedWork.self] }
    static var results: [any KindResult.Type] { [SimulatedResult.self] }
}

extension SimulateRequest: KindRequest {
    package static var name: String { "simulate" }

    package var title: String { "\(tasks) simulated tasks" }

    package func plan() -> any JobPlan { SimulatePlan(request: self) }
}

extension JobRequest.Kind {
    package static func simulate(_ request: SimulateRequest) -> Self { Self(request) }

    /// The request of the rehearsal; `nil` for a job of another kind.
    package var rehearsal: SimulateRequest? { request as? SimulateRequest }
}

/// Time that passes without blocking a thread.
package struct Simulation: Codable, Sendable {
    package var duration: Duration

    package init(duration: Duration) {
        self.duration = duration
    }
}

/// The work of a task of the rehearsal.
package enum SimulatedWork: KindWork, DaemonWork {
    /// The task takes its time and does nothing.
    case simulate(Simulation)

    package static var cases: [String] { ["simulate"] }

    package func validate() throws(InvalidMessage) {
        try InvalidMessage.unless(
            (.zero...JobRequest.longestTimeLimit).contains(duration), "a simulated task takes 0 to 86400 seconds")
    }

    package var isSmall: Bool { true }

    package var place: WorkPlace { .daemon(self) }

    package var resultAtOnce: ByteBuffer? { duration == .zero ? SimulatedWork.encodedResult : nil }

    private static let encodedResult = (try? WireCoder.encode(TaskResult.simulated)) ?? ByteBuffer()

    package func perform(timeLimit: Duration, slowness: Int) async throws -> TaskResult {
        let duration = duration * slowness
        try await Task.sleep(for: min(duration, timeLimit))
        guard duration <= timeLimit else {
            throw SkyError(.failed, "took longer than its time limit of \(timeLimit)")
        }
        return .simulated
    }

    private var duration: Duration {
        switch self {
        case .simulate(let simulation): simulation.duration
        }
    }
}

extension ScanTask.Work {
    package static func simulate(_ simulation: Simulation) -> Self { Self(SimulatedWork.simulate(simulation)) }
}

/// The result of a task of the rehearsal.
package enum SimulatedResult: KindResult {
    case simulated

    package static var cases: [String] { ["simulated"] }
}

extension TaskResult {
    package static var simulated: Self { Self(SimulatedResult.simulated) }
}
