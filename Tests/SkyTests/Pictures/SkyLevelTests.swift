import Fixtures
import Testing

@testable import Sky

@Suite struct SkyLevelTests {
    private func noise(_ count: Int, level: Double, seed: UInt64) -> [Double] {
        var stream = RandomStream(seed: seed, purpose: 9)
        return (0..<count).map { _ in level + 3 * stream.normal() }
    }

    @Test(arguments: [0.0, 0.3, 0.6])
    func `the sky is found, however much of an image is light`(share: Double) {
        var stream = RandomStream(seed: 4, purpose: 9)
        let light = (0..<Int(8000 * share)).map { _ in 100 + stream.uniform(0, 900) }
        let sky = SkyLevel(sorted: (noise(8000 - light.count, level: 100, seed: 3) + light).sorted())
        #expect(abs(sky.level - 100) < 1.5)
        #expect((2...4).contains(sky.sigma))
    }

    @Test func `light just above the noise is visible beside very bright light`() {
        var values = noise(20_000, level: 500, seed: 5).map { Float($0) }
        for index in 0..<40 { values[index * 7] = 1e6 }
        let grey = GreyStretch(samplesOf: values).apply(to: [500, 503, 515, 530, 1e6])
        #expect(grey[0] > 5 && grey[0] < 40, "the sky is dark, and not black")
        #expect(grey[2] >= grey[0] + 20 && grey[3] >= grey[2] + 8)
        #expect(grey[1] - grey[0] < 15, "noise is no more than a texture")
        #expect(grey[4] == 255)
    }

    @Test func `values without noise have a sky level too`() {
        for values in [[], [7], [5, 5, 5, 5, 5, 5, 5, 5, 5], [-1e30, 3e38], [0, 0, 0, 0, 0, 0, 0, 0, 1]] {
            let sky = SkyLevel(sorted: values)
            #expect(sky.sigma > 0 && sky.sigma.isFinite && sky.level.isFinite)
        }
    }
}
