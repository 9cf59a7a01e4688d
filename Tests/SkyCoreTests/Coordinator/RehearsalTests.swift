import NIOCore
import Testing
import Transport

@testable import SkyCore
@testable import SkyJobs

/// Tasks that are to fail once, whichever of their attempts ends first.
@Suite struct RehearsalTests {
    private let one = NodeID(rawValue: 1)
    private let two = NodeID(rawValue: 2)

    /// One slot on each node.
    private func lease(_ fencingToken: UInt64, in core: inout CoordinatorCore) {
        for node in [one, two] {
            core.reserved(
                Lease(coordinator: CoordinatorID(rawValue: 5), fencingToken: fencingToken, slots: 1), on: node)
        }
    }

    private func end(
        _ request: RunRequest, _ sequence: UInt64, _ outcome: AttemptOutcome, on node: NodeID, at now: Duration,
        in core: inout CoordinatorCore
    ) -> CarriedOut {
        let result = AttemptResult(sequence: sequence, attempt: request.attempt, outcome: outcome, duration: .zero)
        return core.carryOut(at: now) { $0.deliver([result], from: node) }
    }

    @Test func `a speculative attempt and one after a refusal fail as rehearsed, but none after a failure`() throws {
        var core = CoordinatorCore(
            incarnation: CoordinatorIncarnation(CoordinatorID(rawValue: 5), generation: 1), node: one, name: "one")
        var simulation = SimulateRequest(tasks: 2, duration: .seconds(1))
        simulation.failEvery = 2
        let job = JobID(rawValue: 1)
        var sent = core.carryOut { core in
            core.joined(one, name: "one", isDraining: false)
            core.joined(two, name: "two", isDraining: false)
            lease(1, in: &core)
            _ = try? core.submit(JobRequest(.simulate(simulation)), token: nil, as: job)
        }.assigned
        try #require(sent.count == 2)
        let (other, first) = (sent[0], sent[1])
        #expect(!other.request.task.rehearsal.failsFirstAttempt && first.request.task.rehearsal.failsFirstAttempt)
        sent = end(other.request, 1, .done(ByteBuffer()), on: other.node, at: .seconds(1), in: &core).assigned
        let speculative = try #require(sent.first, "a task that takes so long has a speculative attempt")
        #expect(speculative.node != first.node && speculative.request.task.rehearsal.failsFirstAttempt)

        // The first is stopped before it ran and gets a successor; the two that remain fail as rehearsed.
        sent = end(first.request, 1, .refused("stopped"), on: first.node, at: .seconds(2), in: &core).assigned
        let successor = try #require(sent.first)
        #expect(successor.request.task.rehearsal.failsFirstAttempt)
        var outputs = end(speculative.request, 2, .fault("rehearsed"), on: speculative.node, at: .seconds(3), in: &core)
        outputs += end(successor.request, 2, .fault("rehearsed"), on: successor.node, at: .seconds(4), in: &core)
        outputs += core.carryOut(at: .seconds(120)) { core in
            core.tick()
            lease(2, in: &core)
        }
        sent = outputs.assigned
        let last = try #require(sent.first)
        #expect(sent.count == 1 && !last.request.task.rehearsal.failsFirstAttempt)
        _ = end(last.request, 3, .done(ByteBuffer()), on: last.node, at: .seconds(121), in: &core)
        #expect(core.jobs[job]?.report?.completed == 2 && core.jobs[job]?.report?.retries == 1)
    }
}
