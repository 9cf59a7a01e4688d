import Base
import Fixtures
import Glibc
import Testing

@testable import Sky

/// From what somebody asks for to the stars for an image.
@Suite struct InjectionDemandTests {
    /// A catalogue with stars of a width, found above a threshold.
    private func catalogue(_ count: Int = 20, fwhm: Double = 2.5, threshold: Double = 15) -> Catalogue {
        let sources = (0..<count).map { index in
            var source = Source(x: 10 * Double(index), y: 5, sector: 0)
            (source.fwhm, source.a, source.b, source.threshold) = (fwhm, 1.1, 1, threshold)
            (source.fluxAuto, source.fluxErrorAuto) = (1000, 1)
            return source
        }
        let info = ImageInfo(width: 600, height: 500, bitpix: -32, hdu: 0, hasWCS: false)
        return Catalogue(info: info, sources: sources, truncated: 0, filter: .pyramid, injected: nil)
    }

    @Test func `width and brightness come from the image by default`() throws {
        var configuration = ScanConfiguration()
        let rounds = try InjectionDemand(count: 100).rounds(for: catalogue(), configuration: configuration)
        let injection = try #require(rounds.first)
        #expect(rounds.count == 1 && injection.count == 100 && injection.fwhm == 2.5)
        // The threshold of 15 is 1.5 times the noise.
        let area = MoffatProfile(fwhm: 2.5).noiseEquivalentArea
        #expect(abs(injection.faintest / (10 * area.squareRoot()) - 1) < 1e-9)
        #expect(abs(injection.brightest / injection.faintest - 100) < 1e-6)
        configuration.gain = 2
        let noisy = try #require(
            try InjectionDemand(count: 9).rounds(for: catalogue(), configuration: configuration).first)
        let flux = noisy.brightest
        #expect(abs(flux / (flux / 2 + area * 100).squareRoot() - 100) < 1e-6, "a hundred times its noise")
    }

    @Test func `given values override measured ones`() throws {
        var configuration = ScanConfiguration()
        configuration.zeroPoint = 25
        var demand = InjectionDemand(count: 10)
        (demand.fwhm, demand.magnitudes, demand.profile, demand.seed) = (4, 20...25, .gaussian, 7)
        try demand.validate(zeroPoint: 25)
        let injection = try #require(try demand.rounds(for: catalogue(0), configuration: configuration).first)
        #expect(injection.fwhm == 4 && injection.seed == 7 && injection.profile == .gaussian)
        #expect(abs(injection.brightest - 100) < 1e-9 && abs(injection.faintest - 1) < 1e-12)
    }

    @Test func `more stars than fit are spread over several scans`() throws {
        let rounds = try InjectionDemand(count: 1500).rounds(for: catalogue(), configuration: ScanConfiguration())
        #expect(rounds.count > 1 && rounds.map(\.count).reduce(0, +) == 1500)
        #expect(Set(rounds.map(\.seed)).count == rounds.count)
        for round in rounds { #expect(try !StarPlacement(round, width: 600, height: 500).stars.isEmpty) }
    }

    @Test func `a value that the catalogue cannot give must be an option`() {
        var demand = InjectionDemand(count: 10)
        func refusal(_ demand: InjectionDemand, _ catalogue: Catalogue) -> String {
            SkyError.thrown { () throws(SkyError) in
                try demand.rounds(for: catalogue, configuration: ScanConfiguration())
            }?.message ?? ""
        }
        #expect(refusal(demand, catalogue(2)).contains("--inject-fwhm"))
        demand.fwhm = 3
        #expect(refusal(demand, catalogue(0)).contains("--inject-magnitudes"))
        demand.count = 20_000
        #expect(refusal(demand, catalogue()).contains("in 20 scans"))
        demand.magnitudes = 900...2000
        #expect(SkyError.thrown { () throws(SkyError) in try demand.validate(zeroPoint: 0) }?.kind == .badInput)
        demand.magnitudes = nil
        demand.fwhm = 99
        #expect(SkyError.thrown { () throws(SkyError) in try demand.validate(zeroPoint: 0) }?.kind == .badInput)
        #expect(SkyError.thrown { () throws(SkyError) in try InjectionDemand(count: 0).validate(zeroPoint: 0) } != nil)
    }
}
