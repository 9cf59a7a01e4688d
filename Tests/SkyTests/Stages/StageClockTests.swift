import Testing

@testable import Sky

@Suite struct StageClockTests {
    /// A clock that stands still until it is moved.
    private final class HandClock {
        private(set) var time = ContinuousClock.now

        func advance(_ seconds: Int) { time += .seconds(seconds) }
    }

    private let hand = HandClock()
    private let clock: StageClock

    init() { clock = StageClock { [hand] in hand.time } }

    @Test func `time counts for the stage that was entered last, and for none before the first and after the end`() {
        hand.advance(5)
        clock.enter(.open)
        hand.advance(1)
        clock.enter(.read)
        hand.advance(2)
        clock.enter(.open)
        hand.advance(4)
        #expect(clock.finish() == [.open: .seconds(5), .read: .seconds(2)])
        hand.advance(7)
        #expect(clock.finish() == [:])
    }

    @Test func `a stage in the midst of another is taken out of it`() throws {
        clock.enter(.draw)
        hand.advance(1)
        let value = clock.during(.read) {
            hand.advance(2)
            return 7
        }
        hand.advance(3)
        #expect(value == 7)
        #expect(clock.finish() == [.draw: .seconds(4), .read: .seconds(2)])
    }

    @Test func `a stage ends where it throws`() {
        struct Fault: Error {}
        clock.enter(.open)
        #expect(throws: Fault.self) {
            try clock.during(.digest) {
                hand.advance(2)
                throw Fault()
            }
        }
        hand.advance(1)
        #expect(clock.finish() == [.open: .seconds(1), .digest: .seconds(2)])
    }

    @Test func `the names of the stages are those that other versions know`() {
        let names = ["open", "digest", "read", "background", "detection", "deblending", "photometry", "draw"]
        #expect(ScanStage.allCases.map(\.rawValue) == names)
    }
}
