import Testing

@testable import Sky

@Suite struct CatalogueTests {
    private let info = ImageInfo(width: 100, height: 100, bitpix: -32, hdu: 0, hasWCS: false)

    private func profile(flux: Float, a: Float = 2, limit: Float = 1, line: Int = 0) -> CleanProfile {
        let object = Detection(
            x: 0, y: 0, a: a, b: a, theta: 0, cxx: 1 / (a * a), cyy: 1 / (a * a), cxy: 0, filteredFlux: flux,
            flux: flux, peak: flux / 10, threshold: 5, area: 12, flags: 0, minX: 0, maxX: 3, minY: 0, maxY: 2,
            pixels: 0..<12)
        let pixels = [Float](repeating: 6, count: 12)
        var profile = CleanProfile(
            object, footprint: Array(0..<12)[...], pixels: pixels, filtered: pixels, minimumArea: 5,
            corner: (0, line))
        profile.limit = limit
        return profile
    }

    private func result(_ sector: Int, _ sources: [(x: Double, y: Double, profile: CleanProfile)]) -> SectorResult {
        SectorResult(
            sector: sector, sources: sources.map { Source(x: $0.x, y: $0.y, sector: sector) },
            cleaning: SectorResult.Cleaning(exponent: 1, profiles: sources.map(\.profile)))
    }

    @Test func `the order of sources does not depend on the order of arrival`() {
        let one = result(0, [(50, 20, profile(flux: 100)), (10, 10, profile(flux: 90))])
        let two = result(1, [(90, 15, profile(flux: 80))])
        let forward = Catalogue(merging: [one, two], info: info)
        #expect(forward.sources.map(\.y) == [10, 15, 20])
        #expect(Catalogue(merging: [two, one], info: info).sources == forward.sources)
    }

    @Test func `a second result of a sector is ignored`() {
        let one = result(0, [(50, 20, profile(flux: 100))])
        #expect(Catalogue(merging: [one, one], info: info).sources.count == 1)
    }

    @Test func `CLEAN removes a faint source beside a bright one across a sector's border`() {
        let bright = result(0, [(50, 50, profile(flux: 100_000, a: 3))])
        let faint = result(1, [(58, 50, profile(flux: 60, limit: 0.1)), (99, 99, profile(flux: 60, limit: 0.1))])
        let sources = Catalogue(merging: [bright, faint], info: info).sources
        #expect(sources.map(\.x) == [50, 99])
    }

    @Test func `a source that absorbs another one has its light, and can absorb more`() throws {
        let (first, middle) = (profile(flux: 1900, limit: 0, line: 0), profile(flux: 2000, line: 1))
        var both = middle
        both.takeIn(first)
        let (alone, together) = (
            CleanProfile.Wings(middle, exponent: 1), CleanProfile.Wings(both, exponent: 1)
        )
        let far = try #require(
            stride(from: Float(0.1), to: 100, by: 0.1).map { profile(flux: 900, limit: $0, line: 2) }.first {
                !alone.takeOut($0, dx: 8, dy: 0) && together.takeOut($0, dx: 8, dy: 0)
            })
        let pair = [(50.0, 50.0, middle), (58.0, 50.0, far)]
        #expect(Catalogue(merging: [result(0, pair)], info: info).sources.count == 2)
        #expect(Catalogue(merging: [result(0, pair + [(50, 47, first)])], info: info).sources.map(\.y) == [50])
    }

    @Test func `CLEAN judges sources in order, by those left at that moment`() {
        // The brighter one comes last, and finds that the one that would have lit it up has gone to a third.
        let sources: [(x: Double, y: Double, profile: CleanProfile)] = [
            (50, 50, profile(flux: 5000, line: 0)), (54, 50, profile(flux: 500, limit: 0.1, line: 1)),
            (58, 50, profile(flux: 100_000, limit: 1e9, line: 2)),
        ]
        var pairs: [[Int]] = []
        let cleaner = Cleaner(
            profiles: sources.map(\.profile), positions: sources.map { ($0.x, $0.y) }, exponent: 1)
        var profiles = sources.map(\.profile)
        profiles[0].limit = 1e9
        let kept = Cleaner(profiles: profiles, positions: sources.map { ($0.x, $0.y) }, exponent: 1)
            .survivors { pairs.append([$0, $1]) }
        #expect(pairs == [[1, 0]] && kept == [true, false, true])
        // Each of the two bright sources could absorb it.
        var claims: Set<[Int]> = []
        cleaner.forEachPair { claims.insert([$1, $0]) }
        #expect(claims.isSuperset(of: [[1, 0], [1, 2]]))
    }

    @Test func `an absorbed source adds its light, its peak and its saturation`() {
        var bright = result(0, [(50, 50, profile(flux: 100_000, a: 3)), (58, 50, profile(flux: 60, limit: 0.1))])
        bright.sources[0].fluxIsophotal = 100
        bright.sources[1].fluxIsophotal = 7
        (bright.sources[0].peak, bright.sources[1].peak) = (5, 9)
        bright.sources[1].flags = 1 | 2 | 4 | 8 | 16
        let sources = Catalogue(merging: [bright], info: info).sources
        #expect(sources.count == 1)
        #expect(sources.first?.fluxIsophotal == 107 && sources.first?.peak == 9 && sources.first?.flags == 4 | 8)
    }

    @Test func `profiles that do not match the sources remove none`() {
        var bright = result(0, [(50, 50, profile(flux: 100_000, a: 3)), (58, 50, profile(flux: 60, limit: 0))])
        bright.cleaning?.profiles.removeLast()
        #expect(Catalogue(merging: [bright], info: info).sources.count == 2)
    }
}
