import Glibc
import Testing

@testable import SkyCore

@Suite struct EpochMatchingTests {
    private func sources(_ count: Int, seed: UInt64) -> [Source] {
        var random = RandomStream(seed: seed, purpose: 3)
        return (0..<count).map { _ in
            var source = Source(x: random.uniform(1, 2000), y: random.uniform(1, 2000), sector: 0)
            source.fluxAuto = 1000 * pow(10, 2 * random.uniform())
            source.fluxErrorAuto = 10
            return source
        }
    }

    private func info(_ hasWCS: Bool) -> ImageInfo {
        ImageInfo(width: 2000, height: 2000, bitpix: -32, hdu: 0, hasWCS: hasWCS)
    }

    /// The sources as another exposure sees them, counted from 1.
    private func seen(_ sources: [Source], dx: Double, dy: Double, turn: Double, noise: Double) -> [Source] {
        var random = RandomStream(seed: 4, purpose: 4)
        let (c, s) = (cos(turn * .pi / 180), sin(turn * .pi / 180))
        return sources.map { source in
            var moved = source
            (moved.xWindow, moved.yWindow) = (
                c * source.x - s * source.y + dx + noise * random.normal(),
                s * source.x + c * source.y + dy + noise * random.normal()
            )
            (moved.x, moved.y) = (moved.xWindow, moved.yWindow)
            return moved
        }
    }

    @Test(arguments: [(0.4, -0.3, 0.0), (310, -120, 0), (40, 60, 7), (2100, 2050, 180)])
    func `without coordinates the stars' pattern gives shift and turn`(dx: Double, dy: Double, turn: Double) throws {
        let old = sources(300, seed: 1)
        let new = seen(old, dx: dx, dy: dy, turn: turn, noise: 0.05)
        let matching = try EpochMatching(new: new, old: old, newInfo: info(false), oldInfo: info(false))
        #expect(matching.pairs.count > 290)
        #expect(matching.pairs.allSatisfy { $0.new == $0.old })
        #expect(matching.alignment.scatter < 0.08)
        let place = matching.alignment.old(x: new[10].x - 1, y: new[10].y - 1)
        #expect(abs(place.x + 1 - old[10].x) < 0.2 && abs(place.y + 1 - old[10].y) < 0.2)
    }

    @Test func `the sky's coordinates match what lies on other pixels`() throws {
        let old = sources(300, seed: 2).map { withSky($0, $0) }
        let new = zip(seen(old, dx: 700, dy: -300, turn: 40, noise: 0.05), old).map { withSky($0, $1) }
        let matching = try EpochMatching(new: new, old: old, newInfo: info(true), oldInfo: info(true))
        #expect(matching.pairs.count > 290)
        #expect(matching.alignment.usesSky)
    }

    /// The sky over the pixels of `place`.
    private func withSky(_ source: Source, _ place: Source) -> Source {
        var source = source
        source.alphaWindow = 359.9 + place.x / 7200
        if let alpha = source.alphaWindow, alpha >= 360 { source.alphaWindow = alpha - 360 }
        source.deltaWindow = place.y / 7200
        return source
    }

    @Test func `what has nothing in common is refused in words`() throws {
        let (some, others) = (sources(200, seed: 5), sources(200, seed: 6))
        let error = SkyError.thrown { () throws(SkyError) in
            try EpochMatching(new: some, old: others, newInfo: info(false), oldInfo: info(false))
        }
        #expect(error?.message.contains("no stars in common") == true)
    }

    @Test func `coordinates in one image alone are refused in words`() {
        let stars = sources(50, seed: 7)
        let error = SkyError.thrown { () throws(SkyError) in
            try EpochMatching(new: stars, old: stars, newInfo: info(true), oldInfo: info(false))
        }
        #expect(error?.message.contains("reference image has no celestial coordinates") == true)
    }

    @Test func `empty catalogues and places that are no numbers are refused in words`() {
        var wrong = sources(20, seed: 8)
        for index in wrong.indices { wrong[index].xWindow = .nan }
        for (new, old) in [([], sources(20, seed: 8)), (sources(20, seed: 8), []), ([], []), (wrong, wrong)] {
            let pair = SkyError.thrown { () throws(SkyError) in
                try EpochPair(
                    new: Epoch(catalogue: catalogue(new)), old: Epoch(catalogue: catalogue(old)))
            }
            #expect(pair?.kind == .badInput)
        }
    }

    private func catalogue(_ sources: [Source]) -> Catalogue {
        var catalogue = Catalogue(merging: [], info: info(false))
        catalogue.sources = sources
        return catalogue
    }

    @Test func `the ratio of fluxes is the stars', whatever some of them do`() throws {
        let old = sources(400, seed: 9)
        var new = old
        for index in new.indices { new[index].fluxAuto *= index % 5 == 0 ? 3 : 0.7 + 1e-4 * old[index].x }
        let pairs = new.indices.map { EpochMatching.Pair(new: $0, old: $0) }
        let scale = try FluxScale(pairs: pairs, new: new, old: old)
        #expect(abs(scale.ratio(x: 0, y: 1000) - 0.7) < 0.01)
        #expect(abs(scale.ratio(x: 2000, y: 1000) - 0.9) < 0.01)
        #expect(scale.floor < 0.01)
    }

    @Test func `the order of the sources does not matter`() throws {
        let old = sources(300, seed: 10)
        let new = seen(old, dx: 3, dy: 1, turn: 0.1, noise: 0.1)
        let one = try EpochPair(new: Epoch(catalogue: catalogue(new)), old: Epoch(catalogue: catalogue(old)))
        let two = try EpochPair(
            new: Epoch(catalogue: catalogue(new.reversed())),
            old: Epoch(catalogue: catalogue(Array(old[100...] + old[..<100]))))
        #expect(one == two)
    }
}
