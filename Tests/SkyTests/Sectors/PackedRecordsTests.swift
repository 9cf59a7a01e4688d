import Testing
import Transport

@testable import Sky

struct PackedRecordsTests {
    private func source(_ number: Int, apertures: Int) -> Source {
        var source = Source(x: Double(number) + 0.125, y: -3e-7, sector: number)
        (source.xWindow, source.yWindow) = (1.5, .infinity)
        if number % 2 == 0 { (source.alpha, source.delta) = (359.99, -89.5) }
        if number % 3 == 0 { (source.alphaWindow, source.deltaWindow) = (0, 12) }
        (source.fluxAuto, source.fluxErrorAuto, source.fluxIsophotal, source.peak) = (1, 2, 3, 4)
        (source.halfLightRadius, source.kronRadius, source.a, source.b) = (5, 6, 7, 8)
        (source.theta, source.fwhm, source.background, source.threshold) = (9, 10, 11, 12)
        (source.area, source.flags) = (1 << 31, 63)
        source.fluxesAperture = (0..<apertures).map { Double($0) + 13 }
        source.fluxErrorsAperture = (0..<apertures).map { Double($0) + 103 }
        return source
    }

    private func profile(_ number: Int) throws -> CleanProfile {
        let numbers = [
            Double(Float(number) / 3), 12, 1e300, Double(Float(0.3)), 0.5, 1, 2, 0.25, 4, 5, 2e9, 2e9, 3,
        ]
        return try #require(numbers.withUnsafeBufferPointer(CleanProfile.init))
    }

    @Test(arguments: [0, 1, 3])
    func `a sector's result comes back as it was sent`(apertures: Int) throws {
        let sources = (0..<7).map { source($0, apertures: apertures) }
        let profiles = try (0..<7).map(profile)
        var result = SectorResult(
            sector: 3, sources: sources, cleaning: .init(exponent: 1, profiles: profiles),
            fragments: [.init(outline: PixelRect(x: 1, y: 2, width: 3, height: 4), sources: [sources[0]])])
        #expect(try WireCoder.decode(SectorResult.self, from: WireCoder.encode(result)) == result)
        (result.sources, result.cleaning) = ([], .init(exponent: 1, profiles: []))
        #expect(try WireCoder.decode(SectorResult.self, from: WireCoder.encode(result)) == result)
    }

    private struct Rows: Codable {
        var width: Int
        var numbers: [Double]
    }

    @Test func `malformed rows are refused`() throws {
        let sound = source(1, apertures: 1)
        var numbers: [Double] = []
        sound.append(to: &numbers)
        #expect(numbers.count == sound.numberCount)
        var broken = numbers
        broken[20] = 0.5
        var endless = numbers
        endless[22] = .infinity
        let rows = [
            Rows(width: 27, numbers: broken), Rows(width: 27, numbers: endless), Rows(width: 26, numbers: numbers),
            Rows(width: 0, numbers: numbers), Rows(width: -27, numbers: numbers), Rows(width: .max, numbers: numbers),
            Rows(width: 27, numbers: numbers + [1]), Rows(width: 1, numbers: [1]),
        ]
        for row in rows {
            let bytes = try WireCoder.encode(row)
            #expect(throws: (any Error).self) { try WireCoder.decode(PackedRecords<Source>.self, from: bytes) }
        }
        let bytes = try WireCoder.encode(Rows(width: 27, numbers: numbers + numbers))
        #expect(try WireCoder.decode(PackedRecords<Source>.self, from: bytes).wrappedValue == [sound, sound])
    }

    @Test func `sources of different lengths are not sent`() {
        let mixed = PackedRecords(wrappedValue: [source(1, apertures: 1), source(2, apertures: 2)])
        #expect(throws: (any Error).self) { try WireCoder.encode(mixed) }
    }
}
