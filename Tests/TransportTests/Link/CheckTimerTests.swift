import NIOCore
import NIOPosix
import Testing

@testable import Transport

@Suite(.timeLimit(.minutes(5))) struct CheckTimerTests {
    /// What a test does on the loop: it has the timer, and what to do when all is seen.
    private func onLoop<Value: Sendable>(
        isKernels: Bool, _ body: @escaping @Sendable (CheckTimer, EventLoopPromise<Value>) -> Void
    ) async throws -> Value {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        return try await loop.flatSubmit {
            let timer = CheckTimer(loop, isKernels: isKernels)
            #expect((timer.descriptor != nil) == isKernels)
            let promise = loop.makePromise(of: Value.self)
            body(timer, promise)
            return promise.futureResult
        }.get()
    }

    @Test(arguments: [true, false]) func `each check comes once, when it is due`(isKernels: Bool) async throws {
        let seen = try await onLoop(isKernels: isKernels) { (timer, promise: EventLoopPromise<[String]>) in
            var seen: [String] = []
            let begin = NIODeadline.now()
            let places = (0..<4).map { _ in CheckTimer.Place() }
            timer.set(places[0], at: begin + .milliseconds(30)) { seen.append("third") }
            timer.set(places[1], at: begin + .milliseconds(10)) {
                seen.append("first")
                #expect(NIODeadline.now() >= begin + .milliseconds(10))
            }
            timer.set(places[2], at: begin + .milliseconds(5)) { seen.append("put off too little") }
            timer.set(places[2], at: begin + .milliseconds(20)) {
                seen.append("second")
                #expect(NIODeadline.now() >= begin + .milliseconds(20))
            }
            timer.set(places[3], at: begin + .milliseconds(15)) { seen.append("cancelled") }
            timer.cancel(places[3])
            timer.set(places[3], at: begin + .milliseconds(40)) {
                seen.append("fourth")
                // Anew from within: the last, however late the loop is.
                timer.set(places[3], at: begin + .milliseconds(60)) { promise.succeed(seen) }
            }
        }
        #expect(seen == ["first", "second", "third", "fourth"])
    }

    @Test(arguments: [true, false]) func `one of two checks that are due at once may cancel the other`(isKernels: Bool)
        async throws
    {
        let count = try await onLoop(isKernels: isKernels) { (timer, promise: EventLoopPromise<Int>) in
            var count = 0
            let places = [CheckTimer.Place(), CheckTimer.Place()]
            let due = NIODeadline.now() + .milliseconds(5)
            for (one, other) in [(0, 1), (1, 0)] {
                timer.set(places[one], at: due) {
                    count += 1
                    timer.cancel(places[other])
                }
            }
            let last = CheckTimer.Place()
            timer.set(last, at: due + .milliseconds(10)) { promise.succeed(count) }
        }
        #expect(count == 1)
    }

    /// The selector reports both at once, and NIO asserts that there is something to be read of each.
    @Test func `a timer that has ended may be postponed by another one at the same moment`() async throws {
        let isSeen = try await onLoop(isKernels: true) { (first, promise: EventLoopPromise<Bool>) in
            let second = CheckTimer(promise.futureResult.eventLoop)
            let (place, begin) = (CheckTimer.Place(), NIODeadline.now())
            var isEarly = false
            second.set(place, at: begin + .milliseconds(2)) { isEarly = true }
            first.set(CheckTimer.Place(), at: begin + .milliseconds(1)) {
                second.set(place, at: begin + .milliseconds(50)) { promise.succeed(!isEarly) }
            }
            while NIODeadline.now() < begin + .milliseconds(10) {}
        }
        #expect(isSeen)
    }

    @Test func `a time in the past is due at once`() async throws {
        let isSeen = try await onLoop(isKernels: true) { (timer, promise: EventLoopPromise<Bool>) in
            timer.set(CheckTimer.Place(), at: .uptimeNanoseconds(0)) { promise.succeed(true) }
        }
        #expect(isSeen)
    }

    @Test func `all links of an event loop share one timer`() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let isOne = try await loop.submit { CheckTimer.of(loop) === CheckTimer.of(loop) }.get()
        #expect(isOne)
    }
}
