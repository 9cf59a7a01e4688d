import Base
import Fixtures
import Testing

@testable import Sky

@Suite struct GreyStretchTests {
    /// Skies with a level, a noise, and stars of up to a million times the noise.
    private func values(level: Double, sigma: Double, seed: UInt64) -> [Float] {
        var random = SplitMix64(seed: seed)
        return (0..<60_000).map { index in
            let noise = (0..<12).reduce(-6.0) { sum, _ in sum + Double(random.next() >> 11) / Double(1 << 53) }
            let star = index % 50 == 0 ? Double(random.next() % 1_000_000) : 0
            return Float(level + sigma * (noise + star))
        }
    }

    @Test(
        arguments: [
            (0, 1), (1000, 20), (-3, 0.001), (1e9, 0.5), (1e9, 1e-6), (16_777_216, 1), (2e-20, 1e-22), (1e25, 1e20),
            (5, 0),
        ] as [(Double, Double)])
    func `the greys of many values are those of each`(level: Double, sigma: Double) {
        var values = values(level: level, sigma: sigma, seed: 7)
        values += [.nan, .infinity, -.infinity, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 0]
        let stretch = GreyStretch(samplesOf: values)
        let greys = stretch.apply(to: values)
        #expect(greys == values.map(stretch.grey))
        #expect(Set(values).count < 100 || Set(greys).count > 3)
    }

    @Test func `values on both sides of each threshold have their own greys`() {
        let sky = values(level: 100, sigma: 5, seed: 8)
        let stretch = GreyStretch(samplesOf: sky)
        var edges: [Float] = []
        var last = Float(60)
        while last < 1000 {
            let next = last + 0.01
            if stretch.grey(next) != stretch.grey(last) {
                var (low, high) = (last, next)
                while low.nextUp < high {
                    let middle = low + (high - low) / 2
                    if stretch.grey(middle) == stretch.grey(last) { low = middle } else { high = middle }
                }
                edges += [low, high]
            }
            last = next
        }
        #expect(edges.count > 200)
        // Alone they are too few for a table.
        #expect(stretch.apply(to: sky + edges).suffix(edges.count) == edges.map(stretch.grey)[...])
        #expect(stretch.apply(to: edges) == edges.map(stretch.grey))
    }

    @Test func `images without values are black`() {
        #expect(GreyStretch(samplesOf: []).apply(to: [.nan, .nan]) == [0, 0])
        #expect(GreyStretch(samplesOf: [.nan]).apply(to: [.nan]) == [0])
    }
}
