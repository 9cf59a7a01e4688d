import Testing

@testable import SkyCore
@testable import SkyNode

/// Which events a client of server-sent events still lacks.
struct FollowedHistoryTests {
    private func batch(next: Int, generation: UInt64?) -> EventBatch {
        EventBatch(
            events: [], next: next,
            status: JobStatus(
                scheduled: 0, running: 0, completed: 0, failed: 0, retries: 0, nodes: [], elapsed: .zero),
            generation: generation)
    }

    @Test(
        arguments: [
            (nil, 0), ("", 0), ("12", 13), ("7.12", 13), ("x.12", 0), ("7.x", 0), ("1.2.3", 0), ("-5", 0), ("7.-5", 0),
            ("9223372036854775807", Int.max), ("99999999999999999999", 0),
        ] as [(String?, Int)])
    func `a client goes on behind what it had last`(id: String?, next: Int) {
        #expect(FollowedHistory(lastEventID: id).next == next)
    }

    @Test func `another history is read from its beginning`() {
        var history = FollowedHistory(lastEventID: "7.12")
        #expect(history.take(batch(next: 20, generation: 8)) == nil)
        #expect(history.next == 0)
        #expect(history.take(batch(next: 3, generation: 8)) != nil)
        #expect(history.next == 3)
        #expect(history.take(batch(next: 5, generation: 8)) != nil, "the same history goes on")
        #expect(history.next == 5)
    }

    @Test func `a coordinator that was taken over and does not know it yet is not followed`() {
        var history = FollowedHistory(lastEventID: nil)
        #expect(history.take(batch(next: 20, generation: 2 << 32 | 1)) != nil)
        #expect(history.take(batch(next: 3, generation: 5)) == nil)
        #expect(history.next == 20)
        #expect(history.take(batch(next: 25, generation: 2 << 32 | 1)) != nil)
        #expect(history.next == 25)
    }

    @Test func `a node that does not name its history is believed to have the same one`() {
        var history = FollowedHistory(lastEventID: "12")
        #expect(history.take(batch(next: 20, generation: nil)) != nil)
        #expect(history.next == 20)
    }

    private func completed(_ task: Int, number: Int) -> JobEvent {
        JobEvent(number: number, time: .zero, kind: .completed(task: "task \(task + 1)", node: "anna"), task: task)
    }

    @Test func `a client that connects again to another history gets only the ends of tasks that it lacks`() {
        var history = FollowedHistory(lastEventID: nil)
        #expect(history.take(batch(next: 4, generation: 7)) != nil)
        let ids = [0, 1, 3, 5].enumerated().map { history.show(completed($1, number: $0)) }
        #expect(ids == ["7.0;0", "7.1;0-1", "7.2;0-1,3", "7.3;0-1,3,5"])
        // It has had the third event, and the connection was lost before the fourth.
        var again = FollowedHistory(lastEventID: "7.2;0-1,3")
        #expect(again.next == 3)
        #expect(again.take(batch(next: 8, generation: 9)) == nil && again.next == 0)
        #expect(again.take(batch(next: 4, generation: 9)) != nil)
        let missing = [0, 1, 2, 3, 5].enumerated().compactMap { again.show(completed($1, number: $0)) }
        #expect(missing == ["9.2;0-3", "9.4;0-3,5"])
        var end = JobEvent(number: 5, time: .zero, kind: .ended(ScanFixture.report()))
        #expect(again.show(end) == "9.5;0-3,5")
        end.task = 2
        #expect(again.show(end) != nil, "it is the end of the job, whatever it says of a task")
    }

    @Test(arguments: ["7.1;x", "7.1;5-3", "7.1;-1", "7.1;0-9223372036854775807", "7.1;1-2-3", "7.1;;", "7.1;"])
    func `malformed tasks in an id mean that the client has none`(id: String) {
        var history = FollowedHistory(lastEventID: id)
        #expect(history.next == 2)
        #expect(history.show(completed(1, number: 2)) != nil)
    }
}
