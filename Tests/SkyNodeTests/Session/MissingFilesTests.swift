import Testing

@testable import SkyCore
@testable import SkyNode
@testable import Transport

/// Failures that say that no node has a file.
struct MissingFilesTests {
    private let reason = "no node can reach its input: /data/sky.fits: no such file on this node"

    /// The events that are told until a job has ended like this.
    private func told(_ state: JobReport.State, failing reason: String, isElsewhere: Bool = true) -> [String] {
        let report = JobReport(
            state: state, scheduled: 5, completed: 4, failed: 1, retries: 0, duration: .seconds(1), nodes: [])
        let status = JobStatus(
            scheduled: 5, running: 0, completed: 4, failed: 1, retries: 0, nodes: [], elapsed: .seconds(1))
        let missing = MissingFiles(isElsewhere: isElsewhere)
        let kinds: [JobEvent.Kind] = [
            .failed(task: "picture", reason: reason), .completed(task: "sector 1", node: "anna"), .ended(report),
        ]
        return kinds.enumerated().flatMap { number, kind in
            let event = JobEvent(number: number, time: .zero, kind: kind)
            return missing.told(EventBatch(events: [event], next: number + 1, status: status)).events.map { event in
                switch event.kind {
                case .failed(let task, _): "failed " + task
                case .completed(let task, _): "completed " + task
                default: "ended"
                }
            }
        }
    }

    @Test func `a task that failed for a missing file is named where the job went on without it`() {
        for state in [JobReport.State.done, .cancelled] {
            #expect(told(state, failing: reason) == ["completed sector 1", "failed picture", "ended"])
        }
        #expect(told(.done, failing: "it died") == ["failed picture", "completed sector 1", "ended"])
    }

    @Test func `a job that fails by a missing file says so itself, unless no file can be sent`() {
        #expect(told(.failed, failing: reason) == ["completed sector 1", "ended"])
        #expect(
            told(.failed, failing: reason, isElsewhere: false) == ["failed picture", "completed sector 1", "ended"])
    }
}
