import Testing

@testable import SkyCore

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
}
