import Sky
import Testing

@testable import SkyCore
@testable import SkyJobs
@testable import SkyNode

/// What a command does with a job that it watches, whatever happens to the job, to the node and to the command.
struct WatchedJobTests {
    private let job = JobID(rawValue: 7)

    private func batch(_ kinds: [JobEvent.Kind] = [], from first: Int = 0, generation: UInt64? = nil) -> EventBatch {
        let events = kinds.enumerated().map { JobEvent(number: first + $0, time: .zero, kind: $1) }
        let status = JobStatus(
            scheduled: 2, running: 0, completed: 0, failed: 0, retries: 0, nodes: [], elapsed: .zero)
        return EventBatch(events: events, next: first + events.count, status: status, generation: generation)
    }

    private let planned = JobEvent.Kind.special(
        ScanEvent.planned(ImageInfo(width: 1, height: 1, bitpix: 8, hdu: 0, hasWCS: false), sectors: 1))
    private let completed = JobEvent.Kind.completed(task: "sector 1", node: "anna")
    private let ended = JobEvent.Kind.ended(ScanFixture.report())

    private func words(_ actions: [WatchedJob.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .observe(let batch): "observe \(batch.events.map(\.number))"
            case .ask: "ask"
            case .stopReconnecting: "stop reconnecting"
            case .cancel: "cancel"
            case .finish(let report): "finish \(report.state)"
            case .fail(let failure): "fail \(failure.status): \(failure.message ?? "")"
            case .leave: "leave"
            }
        }
    }

    private func watched(outlivesCommand: Bool = true) -> WatchedJob {
        var watched = WatchedJob(job, outlivesCommand: outlivesCommand)
        _ = watched.handle(.submitted(batch(), restarts: 0))
        return watched
    }

    @Test func `a job is followed from the events of its submission to its end`() {
        var watched = WatchedJob(job, outlivesCommand: true)
        #expect(words(watched.handle(.submitted(batch([completed]), restarts: 0))) == ["observe [0]", "ask"])
        #expect(watched.request(restarts: 0).from == 1 && watched.request(restarts: 0).job == job)
        #expect(words(watched.handle(.answered(batch([completed], from: 1), restarts: 0))) == ["observe [1]", "ask"])
        #expect(
            words(watched.handle(.answered(batch([completed, ended], from: 2), restarts: 0)))
                == ["observe [2, 3]", "finish done"])
        #expect(watched.state == .ended)
    }

    @Test func `a job that has ended on submission is not asked for again`() {
        var watched = WatchedJob(job, outlivesCommand: true)
        #expect(
            words(watched.handle(.submitted(batch([completed, ended]), restarts: 0)))
                == ["observe [0, 1]", "finish done"])
        #expect(watched.handle(.interrupted).isEmpty, "nothing is left to be cancelled")
    }

    @Test func `a job that was submitted elsewhere is followed from its first event`() {
        var watched = WatchedJob(job, outlivesCommand: false)
        #expect(words(watched.handle(.attached(restarts: 3))) == ["ask"])
        #expect(watched.request(restarts: 3).from == 0)
        #expect(words(watched.handle(.answered(batch([planned]), restarts: 3))) == ["observe [0]", "ask"])
    }

    @Test func `after a restart events are asked for from the first, and the plan is not shown twice`() {
        var watched = watched()
        _ = watched.handle(.answered(batch([planned, completed]), restarts: 0))
        #expect(watched.request(restarts: 0).from == 2)
        #expect(watched.request(restarts: 1).from == 0, "its history begins anew")
        #expect(
            words(watched.handle(.answered(batch([planned, completed, completed]), restarts: 1)))
                == ["observe [1, 2]", "ask"])
        #expect(watched.request(restarts: 1).from == 3)
    }

    @Test
    func `a history that is reached through another node goes on where it was, and a new one from its first event`() {
        var watched = watched()
        _ = watched.handle(.answered(batch([completed, completed], generation: 5), restarts: 0))
        // The command had to ask another node, which passes its request on to the same coordinator.
        #expect(watched.request(restarts: 1).from == 0)
        let again = batch([completed, completed, completed], generation: 5)
        #expect(words(watched.handle(.answered(again, restarts: 1))) == ["ask"], "none is shown twice")
        #expect(watched.request(restarts: 1).from == 2)
        let further = batch([completed], from: 2, generation: 5)
        #expect(words(watched.handle(.answered(further, restarts: 1))) == ["observe [2]", "ask"])
        let new = batch([completed], generation: 6)
        #expect(words(watched.handle(.answered(new, restarts: 2))) == ["observe [0]", "ask"])
        #expect(watched.request(restarts: 2).from == 1)
    }

    /// Ends of tasks, as events of a history.
    private func ends(_ tasks: [Int], from first: Int = 0, generation: UInt64, isLast: Bool = false) -> EventBatch {
        var batch = batch(
            tasks.map { .completed(task: "task \($0)", node: "anna") }, from: first, generation: generation)
        for place in tasks.indices { batch.events[place].task = tasks[place] }
        if isLast {
            batch.events.append(JobEvent(number: batch.next, time: .zero, kind: ended))
            batch.next += 1
        }
        return batch
    }

    private func shown(_ actions: [WatchedJob.Action]) -> [Int] {
        actions.flatMap { action in
            if case .observe(let batch) = action { batch.events.compactMap(\.task) } else { [] as [Int] }
        }
    }

    @Test func `what another coordinator begins its history with is shown once, and what nobody has shown is shown`() {
        var watched = watched()
        #expect(shown(watched.handle(.answered(ends([0, 1, 3], generation: 5), restarts: 0))) == [0, 1, 3])
        // Another node has taken the job over. Task 2 was stored, and not shown.
        #expect(shown(watched.handle(.answered(ends([7], from: 4, generation: 9), restarts: 0))).isEmpty)
        #expect(watched.request(restarts: 0).from == 0)
        let rest = watched.handle(.answered(ends([0, 1, 2, 3, 4], generation: 9, isLast: true), restarts: 0))
        #expect(shown(rest) == [2, 4])
        #expect(watched.state == .ended)
        // The same where the job was submitted to another node again.
        var submitted = WatchedJob(job, outlivesCommand: true)
        #expect(shown(submitted.handle(.submitted(ends([0, 1], generation: 5), restarts: 0))) == [0, 1])
        #expect(shown(submitted.handle(.answered(ends([0, 1, 2], generation: 9), restarts: 1))) == [2])
    }

    @Test func `a coordinator that was taken over and does not know it yet is not followed`() {
        var watched = watched()
        let term: UInt64 = 1 << 32
        _ = watched.handle(.answered(batch([completed, completed], generation: 2 * term + 1), restarts: 0))
        // It is reached again, and answers before it hears of its loss.
        #expect(words(watched.handle(.answered(batch([completed], generation: 3), restarts: 0))) == ["ask"])
        #expect(words(watched.handle(.answered(batch([completed], generation: 3), restarts: 1))) == ["ask"])
        #expect(watched.request(restarts: 1).from == 2)
        let further = batch([completed], from: 2, generation: 2 * term + 1)
        #expect(words(watched.handle(.answered(further, restarts: 1))) == ["observe [2]", "ask"])
    }

    @Test func `an interrupt cancels the job once, stops reconnecting, and still gets the job's end`() {
        var watched = watched()
        #expect(words(watched.handle(.interrupted)) == ["stop reconnecting", "cancel"])
        #expect(watched.state == .cancelling)
        #expect(watched.handle(.interrupted).isEmpty)
        let end = JobEvent.Kind.ended(ScanFixture.report(.cancelled))
        #expect(
            words(watched.handle(.answered(batch([end]), restarts: 0))) == ["observe [0]", "finish cancelled"])
    }

    @Test func `a lost connection ends the command, and says how to go on`() {
        var watched = watched()
        let words = words(watched.handle(.connectionLost(reason: "no\u{1}answer", isInterrupted: false)))
        #expect(
            words == [
                "fail noCluster: the node that coordinates the job was lost (no?answer); where it runs or is started "
                    + "again, the job goes on: skynode jobs watch \(job)"
            ])
        #expect(watched.state == .lost && watched.handle(.interrupted).isEmpty)
    }

    @Test func `an interrupted command leaves a lost connection unless its job ends with it`() {
        for outlivesCommand in [true, false] {
            for isReported in [true, false] {
                var watched = watched(outlivesCommand: outlivesCommand)
                // The loss may be known before the interrupt has been reported.
                if isReported { _ = watched.handle(.interrupted) }
                let words = words(watched.handle(.connectionLost(reason: "lost", isInterrupted: true)))
                #expect(words.count == 1)
                #expect(words.first == "leave" || !outlivesCommand && words.first?.hasPrefix("fail noCluster") == true)
            }
        }
    }
}
