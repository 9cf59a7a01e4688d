import NIOConcurrencyHelpers
import Testing
import Transport

@testable import SkyNode

@Suite(.timeLimit(.minutes(5))) struct SharedAnswerTests {
    /// A part that counts how often it is asked, and answers when it is let.
    private final class Part: Sendable {
        let asked = NIOLockedValueBox(0)
        let wasAsked = Latch()
        let isFree = Latch()

        @Sendable func answer() async -> Int {
            let number = asked.withLockedValue { asked in
                asked += 1
                return asked
            }
            wasAsked.open()
            await isFree.wait()
            return number
        }
    }

    @Test func `calls during a question share its answer`() async {
        let part = Part()
        let shared = SharedAnswer(maximumAge: .seconds(3600), limit: .seconds(3600), ask: part.answer)
        let answers = await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<100 { group.addTask { await shared.value() } }
            part.isFree.open()
            return await group.reduce(into: [Int?]()) { $0.append($1) }
        }
        #expect(answers == Array(repeating: 1, count: 100))
        #expect(await shared.value() == 1, "it is still young")
        #expect(part.asked.withLockedValue { $0 } == 1)
    }

    @Test func `an answer that is too old is asked for again`() async {
        let part = Part()
        part.isFree.open()
        let shared = SharedAnswer(maximumAge: .zero, limit: .seconds(3600), ask: part.answer)
        #expect(await shared.value() == 1)
        #expect(await shared.value() == 2)
    }

    @Test func `a part that hangs is asked once, and later calls do not wait for it`() async {
        let part = Part()
        // If each of them waited, that would take longer than a test may.
        let shared = SharedAnswer(maximumAge: .seconds(3600), limit: .seconds(1), ask: part.answer)
        for _ in 0..<1000 { #expect(await shared.value() == nil) }
        // Nobody waited for it, so it may not have come to hear the question yet.
        await part.wasAsked.wait()
        #expect(part.asked.withLockedValue { $0 } == 1)
        part.isFree.open()
        // Its late answer still counts, and it is young. This loop yields, so that the late answer gets a thread.
        var answer = await shared.value()
        while answer == nil {
            await Task.yield()
            answer = await shared.value()
        }
        #expect(answer == 1)
    }
}
