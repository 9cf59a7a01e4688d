import Fixtures
import Testing

@testable import Sky

@Suite struct RandomStreamTests {
    @Test func `a stream repeats and another purpose differs`() {
        var first = RandomStream(seed: 9, purpose: 1)
        var again = RandomStream(seed: 9, purpose: 1)
        var other = RandomStream(seed: 9, purpose: 2)
        let words = (0..<8).map { _ in first.next() }
        #expect(words == (0..<8).map { _ in again.next() })
        #expect(words != (0..<8).map { _ in other.next() })
    }

    @Test func `normal deviates have mean 0, variance 1 and no skew`() {
        var stream = RandomStream(seed: 5, purpose: 3)
        let values = (0..<40_000).map { _ in stream.normal() }
        let count = Double(values.count)
        #expect(abs(values.reduce(0, +) / count) < 0.02)
        #expect(abs(values.reduce(0) { $0 + $1 * $1 } / count - 1) < 0.03)
        #expect(abs(values.reduce(0) { $0 + $1 * $1 * $1 } / count) < 0.06)
    }

    @Test func `magnitudes follow the slope of the counts`() {
        var stream = RandomStream(seed: 5, purpose: 1)
        let values = (0..<20_000).map { _ in SkyPopulation.magnitude(stream.uniform(), 14...24, slope: 0.3) }
        // Between 23 and 24 lies 1 - 10^-0.3 of a population this steep.
        #expect(abs(Double(values.count { $0 > 23 }) / 20_000 - 0.4988) < 0.015)
        #expect(values.allSatisfy { 14...24 ~= $0 })
        #expect(SkyPopulation.magnitude(0.25, 14...24, slope: 0) == 16.5)
    }

    @Test func `the stream of a purpose is drawn anew in each epoch`() {
        func first(_ purpose: RandomStream.Purpose, _ epoch: Int) -> UInt64 {
            var stream = RandomStream(seed: 9, purpose, epoch: epoch)
            return stream.next()
        }
        let words = [first(.noise, 0), first(.noise, 1), first(.trails, 0), first(.trails, 1), first(.noise, -1)]
        #expect(Set(words).count == 5)
        #expect(first(.noise, 1) == words[1])
    }

    @Test func `indices, orders and scales are drawn evenly`() {
        var stream = RandomStream(seed: 5, .stars)
        let indices = (0..<3000).map { _ in stream.index(3) }
        #expect((0..<3).allSatisfy { value in abs(indices.count { $0 == value } - 1000) < 120 })
        #expect(stream.index(0) == 0 && stream.index(-4) == 0 && stream.index(1) == 0)
        let orders = (0..<600).map { _ in stream.shuffled([1, 2, 3]) }
        #expect(Set(orders).count == 6)
        #expect(orders.allSatisfy { $0.sorted() == [1, 2, 3] })
        #expect(stream.shuffled([]) == [])
        let values = (0..<2000).map { _ in stream.logUniform(1...100) }
        #expect(values.allSatisfy { 0.999...100.001 ~= $0 })
        #expect(abs(values.count { $0 < 10 } - 1000) < 100)
    }
}
