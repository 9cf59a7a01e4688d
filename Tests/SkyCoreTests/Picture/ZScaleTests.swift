import Testing

@testable import SkyCore

@Suite struct ZScaleTests {
    @Test func `a straight ramp is stretched by the contrast but not beyond its ends`() {
        let limits = ZScale(sorted: (0..<1000).map(Double.init))
        #expect(limits.low == 0 && limits.high == 999)
    }

    @Test func `stars do not move the limits of the sky`() {
        var stream = RandomStream(seed: 3, purpose: 9)
        let sky = (0..<5000).map { _ in 100 + stream.normal() }
        let stars = (0..<150).map { _ in stream.uniform(200, 60_000) }
        let limits = ZScale(sorted: (sky + stars).sorted())
        #expect(96...98 ~= limits.low)
        // 0.25 of contrast shows some sigmas above the sky and not the stars.
        #expect(103...130 ~= limits.high)
    }

    @Test func `where there is no sky the limits are the extremes`() {
        #expect(ZScale(sorted: []) == ZScale(sorted: [0, 1]))
        #expect(ZScale(sorted: [7]).high == 7)
        #expect(ZScale(sorted: [5, 5, 5, 5, 5, 5]).low == 5)
    }
}
