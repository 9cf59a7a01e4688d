import Testing

@testable import SkyCore

@Suite struct CatalogueTests {
    private let info = ImageInfo(width: 100, height: 100, bitpix: -32, hdu: 0, hasWCS: false)

    private func profile(flux: Float, a: Float = 2, limit: Float = 1) -> CleanProfile {
        let object = Detection(
            x: 0, y: 0, a: a, b: a, theta: 0, cxx: 1 / (a * a), cyy: 1 / (a * a), cxy: 0, filteredFlux: flux,
            flux: flux, peak: flux / 10, threshold: 5, area: 12, flags: 0, minX: 0, maxX: 3, minY: 0, maxY: 2,
            pixels: 0..<12)
        let pixels = [Float](repeating: 6, count: 12)
        var profile = CleanProfile(
            object, footprint: Array(0..<12)[...], pixels: pixels, filtered: pixels, minimumArea: 5, exponent: 1)
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

    @Test func `a second result of a sector is left out`() {
        let one = result(0, [(50, 20, profile(flux: 100))])
        #expect(Catalogue(merging: [one, one], info: info).sources.count == 1)
    }

    @Test func `a bright source takes out a faint one beyond the sector's border`() {
        let bright = result(0, [(50, 50, profile(flux: 100_000, a: 3))])
        let faint = result(1, [(58, 50, profile(flux: 60, limit: 0.1)), (99, 99, profile(flux: 60, limit: 0.1))])
        let sources = Catalogue(merging: [bright, faint], info: info).sources
        #expect(sources.map(\.x) == [50, 99])
    }

    @Test func `profiles that fit no sources leave all sources in`() {
        var bright = result(0, [(50, 50, profile(flux: 100_000, a: 3)), (58, 50, profile(flux: 60, limit: 0))])
        bright.cleaning?.profiles.removeLast()
        #expect(Catalogue(merging: [bright], info: info).sources.count == 2)
    }
}
