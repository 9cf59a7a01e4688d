import Base
import Fixtures
import Testing

@testable import Sky

@Suite struct LocalBackgroundTests {
    private func scanned(
        _ frame: TestFrame, sector: Int? = nil, thickness: Int?, _ change: (inout ScanConfiguration) -> Void = { _ in }
    ) throws -> [Source] {
        var configuration = ScanConfiguration()
        (configuration.sectorSize, configuration.localBackground) = (sector, thickness)
        change(&configuration)
        return try SkyScan(configuration).catalogue(
            of: .pixels(width: frame.width, height: frame.height, frame.pixels)
        ).sources.map {
            var source = $0
            source.sector = 0
            return source
        }
    }

    @Test func `sectors of any size give the same sources`() throws {
        var frame = TestFrame(width: 330, height: 290, seed: 31)
        frame.addStars(180)
        frame.addStar(x: 150, y: 140, flux: 500_000, sigma: 13, flattening: 0.6)
        frame.erase(PixelRect(x: 40, y: 200, width: 30, height: 20))
        for thickness in [4, 40] {
            let whole = try scanned(frame, thickness: thickness)
            #expect(whole.count > 60)
            #expect(try scanned(frame, sector: 64, thickness: thickness) == whole)
            #expect(try scanned(frame, sector: 128, thickness: thickness) { $0.margin = 0 } == whole)
        }
    }

    @Test func `a local background removes light that the meshes are too coarse for`() throws {
        var frame = TestFrame(width: 256, height: 256, seed: 5)
        frame.addStar(x: 128, y: 128, flux: 20_000)
        // A plateau beneath the threshold, ten times as wide as the star.
        for y in 98..<159 { for x in 98..<159 { frame.pixels[y * 256 + x] += 6 } }
        func flux(_ thickness: Int?) throws -> (aperture: Double, background: Double) {
            let sources = try scanned(frame, thickness: thickness) {
                ($0.apertureDiameters, $0.meshSize, $0.threshold) = ([20], 128, 4)
            }
            let star = try #require(
                sources.min { abs($0.x - 129) + abs($0.y - 129) < abs($1.x - 129) + abs($1.y - 129) })
            return (star.fluxesAperture[0], star.background)
        }
        let (global, local) = (try flux(nil), try flux(16))
        #expect(abs(global.aperture - 20_000) > 1200)
        #expect(abs(local.aperture - 20_000) < 600)
        #expect(local.background > global.background + 3)
    }

    @Test func `an impossible thickness is refused`() {
        var configuration = ScanConfiguration()
        for thickness in [0, -1, 257, Int.max] {
            configuration.localBackground = thickness
            #expect(SkyError.thrown { () throws(SkyError) in try configuration.validate() }?.kind == .badInput)
        }
    }
}
