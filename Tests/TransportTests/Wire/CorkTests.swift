import Base
import Testing

@testable import Transport

@Suite struct CorkTests {
    @Test func `a call alone never waits`() {
        var cork = Cork()
        cork.called()
        #expect(!cork.holds(1, open: 1))
        cork.written()
        cork.resume(1)
        cork.called()
        #expect(!cork.holds(1, open: 1))
    }

    @Test func `calls wait until half of the callers have called`() {
        var cork = Cork()
        cork.resume(10)
        for waiting in 1...4 {
            cork.called()
            #expect(cork.holds(waiting, open: waiting))
        }
        cork.called()
        #expect(!cork.holds(5, open: 5))
    }

    @Test func `callers whose calls are under way count as well`() {
        var cork = Cork()
        cork.resume(2)
        cork.called()
        #expect(cork.holds(1, open: 9))
        cork.called()
        #expect(!cork.holds(2, open: 10))
    }

    @Test func `calls wait no longer than the turns of the callers that were resumed before`() throws {
        var cork = Cork()
        cork.resume(10)
        cork.called()
        #expect(cork.holds(1, open: 1))
        let first = cork.watch()
        let mark = try #require(first)
        let again = cork.watch()
        #expect(again == nil)
        cork.resume(5)
        cork.turnsAreOver(upTo: mark, waiting: 1)
        #expect(!cork.holds(1, open: 1))
        cork.written()
        // The five callers may still call.
        cork.called()
        #expect(cork.holds(1, open: 1))
        let second = cork.watch()
        let next = try #require(second)
        cork.turnsAreOver(upTo: next, waiting: 1)
        cork.written()
        cork.called()
        #expect(!cork.holds(1, open: 1))
    }

    @Test func `answers of brief calls wait for the end of their batch`() {
        var cork = Cork()
        cork.beginBatch()
        #expect(cork.holds(1, open: 0))
        #expect(!cork.holds(Cork.enough, open: 0))
        cork.endBatch(waiting: 1)
        #expect(!cork.holds(1, open: 0))
        cork.written()
        #expect(!cork.holds(1, open: 0))
        // What has left does not open the way for what comes later.
        cork.beginBatch()
        cork.endBatch(waiting: 0)
        cork.beginBatch()
        #expect(cork.holds(1, open: 0))
    }

    /// Whatever the order of the events: where frames wait, a batch ends or a turn is watched for.
    @Test func `nothing waits for ever`() {
        let seed = UInt64.random(in: .min ... .max)
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        for _ in 0..<200 {
            var cork = Cork()
            var (waiting, open, batches) = (0, 0, 0)
            var marks: [UInt64] = []
            for _ in 0..<200 {
                switch Int.random(in: 0..<7, using: &random) {
                case 0:
                    let answered = Int.random(in: 0...min(open, 20), using: &random)
                    open -= answered
                    cork.resume(answered)
                case 1, 2:
                    (waiting, open) = (waiting + 1, open + 1)
                    cork.called()
                case 3:
                    batches += 1
                    cork.beginBatch()
                case 4 where batches > 0:
                    batches -= 1
                    cork.endBatch(waiting: waiting)
                case 5 where !marks.isEmpty: cork.turnsAreOver(upTo: marks.removeFirst(), waiting: waiting)
                case 6 where !cork.holds(waiting, open: open):
                    waiting = 0
                    cork.written()
                default: waiting += batches > 0 ? 1 : 0
                }
                guard cork.holds(waiting, open: open) else { continue }
                if let mark = cork.watch() { marks.append(mark) }
                #expect(batches > 0 || !marks.isEmpty)
            }
            while let mark = marks.popLast() { cork.turnsAreOver(upTo: mark, waiting: waiting) }
            for _ in 0..<batches { cork.endBatch(waiting: waiting) }
            if waiting > 0 { #expect(!cork.holds(waiting, open: open)) }
        }
    }
}
