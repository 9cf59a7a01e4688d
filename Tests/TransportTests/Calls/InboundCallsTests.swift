import NIOConcurrencyHelpers
import Testing

@testable import Transport

@Suite(.timeLimit(.minutes(5))) struct InboundCallsTests {
    /// Found by a benchmark: the task that had just emptied an actor's queue looked into it once more, and began a call
    /// that had come meanwhile and that another task began too.
    @Test func `calls with long arguments run once each, in order`() async {
        let calls = InboundCalls(limit: 4096, nodeStart: .now, deadlines: EarliestDeadline(), changed: {})
        let begun = NIOLockedValueBox<[UInt64]>([])
        // Each waits for its turn beside all other tests.
        let count: UInt64 = 20_000
        for call in 1...count where !Task.isCancelled {
            #expect(calls.admit(call, deadline: .now + .seconds(60), unanswered: 0) == .run)
            calls.start(call, actor: "one", size: InboundCalls.inlineSize + 1, on: nil) {
                begun.withLockedValue { $0.append(call) }
                calls.finish(call)
            }
            // The next call thus comes at the moment when the queue runs empty, where the bug was.
            while calls.count > 0, !Task.isCancelled { await Task.yield() }
        }
        #expect(begun.withLockedValue { $0 } == Array(1...count))
    }
}
