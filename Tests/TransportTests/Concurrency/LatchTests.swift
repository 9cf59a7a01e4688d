import Testing

@testable import Transport

@Suite(.timeLimit(.minutes(5))) struct LatchTests {
    @Test func `all waiting tasks go on when a latch opens, and later ones do not wait`() async {
        let latch = Latch()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { await latch.wait() } }
            group.addTask { latch.open() }
        }
        await latch.wait()
        #expect(latch.isOpen)
    }

    @Test func `a cancelled task does not wait`() async {
        let latch = Latch()
        let task = Task { await latch.wait() }
        task.cancel()
        await task.value
        #expect(!latch.isOpen)
    }

    @Test func `a limit ends the wait`() async {
        #expect(await Latch().wait(atMost: .milliseconds(1)) == false)
    }
}
