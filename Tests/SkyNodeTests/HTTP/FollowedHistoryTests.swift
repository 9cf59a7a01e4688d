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
}
