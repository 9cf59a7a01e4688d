import Base
import NIOCore
import Testing
import Transport

@testable import SkyCore

/// What one event comes to across the four values of a coordinator.
@Suite struct CoordinatorCoreTests {
    private let own = NodeID(rawValue: 1)
    private let job = JobID(rawValue: 7)

    private func core() -> CoordinatorCore {
        CoordinatorCore(
            incarnation: CoordinatorIncarnation(CoordinatorID(rawValue: 5), generation: 1), secret: [1, 2, 3],
            node: own, name: "own")
    }

    /// Wakes that were armed, by when they are due.
    private func wakes(_ outputs: [CoordinatorCore.Output]) -> [Duration] {
        outputs.compactMap { if case .effect(.wake(let due, _)) = $0 { due } else { nil } }
    }

    private func submit(deadline: Duration, as number: UInt64, to core: inout CoordinatorCore) -> [Duration] {
        var request = CoordinatorStory.simulation(1)
        request.deadline = deadline
        return wakes(
            core.at(.zero, wall: 0) { _ = try? $0.submit(request, token: nil, as: JobID(rawValue: number)) })
    }

    @Test func `only the earliest wake-up counts`() {
        var core = core()
        #expect(submit(deadline: .seconds(30), as: 1, to: &core) == [.seconds(30)])
        #expect(submit(deadline: .seconds(40), as: 2, to: &core) == [], "it is woken before that")
        #expect(submit(deadline: .seconds(20), as: 3, to: &core) == [.seconds(20)])
        #expect(wakes(core.at(.seconds(20), wall: 0) { $0.wake(.seconds(20)) }) == [.seconds(30)])
        #expect(core.jobs[JobID(rawValue: 3)]?.isActive == false, "its deadline has passed")
        let late = core.at(.seconds(35), wall: 0) { $0.wake(.seconds(20)) }
        #expect(wakes(late) == [] && core.jobs[JobID(rawValue: 1)]?.isActive == true, "that wake is over")
        #expect(wakes(core.at(.seconds(35), wall: 0) { $0.wake(.seconds(30)) }) == [.seconds(40)])
        #expect(core.jobs[JobID(rawValue: 1)]?.isActive == false)
    }

    @Test func `a job that may wait to be stored is stored with its result and its end, before anything is published`()
        throws
    {
        var core = core()
        let lease = Lease(coordinator: CoordinatorID(rawValue: 5), fencingToken: 1, slots: 1)
        var done = core.carryOut { core in
            core.joined(NodeID(rawValue: 1), name: "own", isDraining: false)
            core.reserved(lease, on: NodeID(rawValue: 1))
            _ = try? core.submit(
                CoordinatorStory.simulation(1), token: nil, as: JobID(rawValue: 7), waiting: .milliseconds(3))
        }
        #expect(done.entries.isEmpty, "its task is sent all the same")
        let attempt = try #require(done.assigned.first?.request).attempt
        let result = AttemptResult(sequence: 1, attempt: attempt, outcome: .done(ByteBuffer()), duration: .zero)
        done = core.carryOut(at: .milliseconds(1)) { [own] in $0.deliver([result], from: own) }
        let kinds = done.entries.map { entry in
            switch entry {
            case .submitted: "job"
            case .result: "result"
            case .ended: "end"
            default: "other"
            }
        }
        #expect(kinds == ["job", "result", "end"] && done.published.isEmpty)
        done = core.carryOut(at: .milliseconds(2)) { $0.storeAll() }
        #expect(done.published == [job] && core.jobs[job]?.published.report?.state == .done)
        _ = core.carryOut(at: .milliseconds(3)) { $0.wake(.milliseconds(3)) }
        // Another one's task takes longer.
        done = core.carryOut(at: .milliseconds(10)) {
            _ = try? $0.submit(
                CoordinatorStory.simulation(1), token: nil, as: JobID(rawValue: 8), waiting: .milliseconds(3))
        }
        #expect(done.entries.isEmpty)
        done = core.carryOut(at: .milliseconds(13)) { $0.wake(.milliseconds(13)) }
        #expect(done.entries.count == 1)
    }

    @Test func `a collection with results, attempts and a lease is handled as one event`() throws {
        var core = core()
        let lease = Lease(coordinator: CoordinatorID(rawValue: 5), fencingToken: 1, slots: 1)
        var done = core.carryOut { core in
            core.joined(NodeID(rawValue: 1), name: "own", isDraining: false)
            core.reserved(lease, on: NodeID(rawValue: 1))
            _ = try? core.submit(CoordinatorStory.simulation(3), token: nil, as: JobID(rawValue: 7))
        }
        let first = try #require(done.assigned.first?.request)
        let collection = core.nextCollection(from: own)
        let request = try #require(collection)
        let result = AttemptResult(sequence: 1, attempt: first.attempt, outcome: .done(ByteBuffer()), duration: .zero)
        var wider = lease
        (wider.fencingToken, wider.slots) = (2, 2)
        done = core.carryOut { [own] in
            $0.collected(CollectReply(results: [result], lease: wider), request, from: own)
        }
        #expect(done.results.map(\.task) == [0] && done.published.isEmpty, "nothing is stored yet")
        #expect(
            done.assigned.map(\.request.attempt.task) == [1, 2], "one on the slot that is free, one on the new one")
        #expect(core.nextCollection(from: own)?.acknowledged == 0, "so that the node keeps the result")
        done = core.carryOut { $0.stored(1, in: nil) }
        #expect(done.published.isEmpty && core.nextCollection(from: own)?.acknowledged == 0, "only the job is stored")
        #expect(core.carryOut { $0.storeAll() }.published == [job])
        #expect(core.nextCollection(from: own)?.acknowledged == 1)
    }

    @Test func `a failing journal pauses sending, and a successful write resumes it`() {
        var core = core()
        _ = core.carryOut { $0.journalFailed("the disk is full") }
        var done = core.carryOut { core in
            core.joined(NodeID(rawValue: 1), name: "own", isDraining: false)
            core.reserved(
                Lease(coordinator: CoordinatorID(rawValue: 5), fencingToken: 1, slots: 1), on: NodeID(rawValue: 1))
            _ = try? core.submit(CoordinatorStory.simulation(1), token: nil, as: JobID(rawValue: 7))
        }
        #expect(done.assigned.isEmpty && core.pauseReason == "the disk is full")
        done = core.carryOut { $0.storeAll() }
        #expect(done.assigned.count == 1 && core.pauseReason == nil)
    }

    @Test func `a job is given up when the journal refuses one of its entries`() throws {
        var core = core()
        _ = core.carryOut { _ = try? $0.submit(CoordinatorStory.simulation(1), token: nil, as: JobID(rawValue: 7)) }
        let done = core.carryOut { $0.stored(1, refused: [(JobID(rawValue: 7), "too\nlong")], in: nil) }
        guard case .ended(_, let report, _, _) = try #require(done.entries.last) else {
            Issue.record("its end is stored")
            return
        }
        #expect(report.state == .failed && report.reason?.hasPrefix("a part of it cannot be stored: too") == true)
    }
}
