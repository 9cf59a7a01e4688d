import Fixtures
import Testing

@testable import Sky

@Suite struct FurtherMeasuresTests {
    private static let columns = ["NUMBER", "FLUX_AUTO", "FLUXERR_ISO", "ERRA_IMAGE", "MU_MAX", "SPREAD_MODEL"]

    /// A gradient, stars of one width, and galaxies as faint as them.
    private func frame() -> TestFrame {
        var frame = TestFrame(width: 512, height: 384, seed: 21)
        for row in 0..<6 {
            for column in 0..<8 {
                let (x, y) = (Double(column) * 60 + 40.3, Double(row) * 58 + 40.6)
                let isGalaxy = (row + column) % 3 == 0
                frame.addStar(x: x, y: y, flux: 9000 + 900 * Double(column), sigma: isGalaxy ? 2.6 : 1.5)
            }
        }
        return frame
    }

    private func scanned(
        _ frame: TestFrame, columns: [String]?, sector: Int? = nil,
        _ change: (inout ScanConfiguration) -> Void = { _ in }
    ) throws -> Catalogue {
        var configuration = ScanConfiguration()
        (configuration.columns, configuration.sectorSize) = (columns, sector)
        change(&configuration)
        return try SkyScan(configuration).catalogue(
            of: .pixels(width: frame.width, height: frame.height, frame.pixels))
    }

    /// Found by a scan of a real frame: the range of columns ended before it began.
    @Test func `a place far outside of the pixels has no spread`() throws {
        let model = try #require(SpreadModel(fwhm: 3))
        let pixels = [Float](repeating: 1, count: 400)
        for (x, y) in [(40.0, 10.0), (10, 40), (-40, 10), (10, -40), (27.5, 27.5)] {
            let (value, error) = pixels.withUnsafeBufferPointer { pixels in
                pixels.baseAddress.map {
                    model.measure($0, nil, width: 20, height: 20, x: x, y: y, noise: 1, gain: 0)
                } ?? (.nan, .nan)
            }
            #expect(value == 0 && error == 0, "\(x), \(y)")
        }
    }

    @Test func `sectors of any size measure the same to the last bit`() throws {
        var frame = frame()
        frame.addStar(x: 128, y: 190, flux: 400_000, sigma: 12, flattening: 0.6)
        frame.erase(PixelRect(x: 250, y: 150, width: 30, height: 20))
        func sources(_ sector: Int?) throws -> [Source] {
            try scanned(frame, columns: Self.columns, sector: sector).sources.map {
                var source = $0
                source.sector = 0
                return source
            }
        }
        let whole = try sources(nil)
        #expect(whole.count > 40 && whole.allSatisfy { ($0.further?.spread.error ?? 0) > 0 })
        #expect(try sources(128) == whole)
        #expect(try sources(64) == whole)
    }

    @Test func `without further columns nothing more is measured, and the rest is the same`() throws {
        let (asked, plain) = (try scanned(frame(), columns: Self.columns), try scanned(frame(), columns: nil))
        #expect(plain.sources.count > 40 && plain.sources.allSatisfy { $0.further == nil })
        #expect(
            plain.sources
                == asked.sources.map {
                    var source = $0
                    source.further = nil
                    return source
                })
    }

    @Test func `galaxies have more spread than stars, which have none`() throws {
        let sources = try scanned(frame(), columns: ["SPREAD_MODEL"]).sources.filter { $0.flags == 0 }
        let (galaxies, stars) = (sources.filter { $0.fwhm > 4.8 }, sources.filter { $0.fwhm < 4.8 })
        #expect(galaxies.count > 10 && stars.count > 20)
        for star in stars {
            let spread = try #require(star.further?.spread)
            #expect(abs(spread.value) < 5 * spread.error && abs(spread.value) < 0.004)
        }
        for galaxy in galaxies { #expect((galaxy.further?.spread.value ?? 0) > 0.01) }
    }

    @Test func `the reported errors agree with the scatter of the measurements`() throws {
        var (fluxes, positions, spreads) = ([Double](), [Double](), [Double]())
        for seed in 1...60 {
            var frame = TestFrame(width: 96, height: 96, seed: UInt64(seed))
            frame.addStar(x: 48.2, y: 47.7, flux: 8000, sigma: 1.5)
            let catalogue = try scanned(frame, columns: Self.columns) { $0.seeing = 1.5 * 2.3548 }
            let source = try #require(catalogue.sources.max { $0.fluxAuto < $1.fluxAuto })
            let further = try #require(source.further)
            // The pixels above the threshold vary too, so the agreement is only rough.
            fluxes.append((source.fluxIsophotal - 7700) / further.fluxErrorIsophotal)
            positions.append((source.x - 49.2) / further.positionVariance.xx.squareRoot())
            spreads.append(further.spread.value / further.spread.error)
        }
        func deviation(_ values: [Double]) -> Double {
            let mean = values.reduce(0, +) / Double(values.count)
            return (values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(values.count)).squareRoot()
        }
        #expect((0.6...2.2).contains(deviation(fluxes)))
        #expect((0.6...1.6).contains(deviation(positions)))
        #expect((0.7...1.4).contains(deviation(spreads)))
    }

    @Test func `rows are longer only with further measurements`() throws {
        var source = Source(x: 3, y: 4, sector: 0)
        (source.fluxesAperture, source.fluxErrorsAperture) = ([1, 2], [3, 4])
        func again(_ source: Source) -> Source? {
            var numbers: [Double] = []
            source.append(to: &numbers)
            #expect(numbers.count == source.numberCount)
            return numbers.withUnsafeBufferPointer { Source($0) }
        }
        #expect(source.numberCount == 29 && again(source) == source)
        source.further = FurtherMeasurements([1, 2, 3, 4, 5, 6, 7])
        #expect(source.numberCount == 36 && again(source) == source)
        for count in [22, 24, 26, 30] {
            let damaged = [Double](repeating: 0, count: count).withUnsafeBufferPointer { Source($0) }
            #expect(damaged == nil)
        }
    }

    @Test func `columns that only select or order need no new measurement`() {
        var (one, other) = (ScanConfiguration(), ScanConfiguration())
        (one.columns, other.columns) = (["MU_MAX", "NUMBER"], ["FLUX_AUTO", "MU_THRESHOLD"])
        #expect(one.measuring == other.measuring && one.measures == .pixelArea)
        one.columns = ["NUMBER", "MAG_ISO"]
        #expect(one.measuring == ScanConfiguration())
    }
}
