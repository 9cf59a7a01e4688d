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

    @Test(arguments: [0, 1, 3], [false, true])
    func `a sector's result comes back as it was sent`(apertures: Int, sparesRoom: Bool) throws {
        let sources = (0..<7).map { source($0, apertures: apertures) }
        let profiles = try (0..<7).map(profile)
        var result = SectorResult(
            sector: 3, sources: sources, cleaning: .init(exponent: 1, profiles: profiles),
            fragments: [.init(outline: PixelRect(x: 1, y: 2, width: 3, height: 4), sources: [sources[0]])])
        if sparesRoom { result.spareRoom() }
        #expect(try WireCoder.decode(SectorResult.self, from: WireCoder.encode(result)) == result)
        (result.sources, result.cleaning) = ([], .init(exponent: 1, profiles: []))
        #expect(try WireCoder.decode(SectorResult.self, from: WireCoder.encode(result)) == result)
    }

    @Test func `columns that single precision holds take half the room, and every bit comes back`() throws {
        // 0.1 is no single number; all others are, among them a negative zero and what is no number.
        let (large, small) = (Double(Float(3e38)), Double(Float(1e-40)))
        let rows: [Double] = [1, -0.0, .nan, 0.1, 2, large, -.infinity, 4, small, 0, .nan, 5]
        let columns = SplitColumns(rows, width: 4)
        #expect(columns.places == [0, 1, 2] && columns.singles.count == 9 && columns.doubles == [0.1, 4, 5])
        let back = try #require(columns.rows(width: 4))
        #expect(back.map(\.bitPattern) == rows.map(\.bitPattern))
        // Too large, too small, and a payload of more bits than the shorter number has.
        for odd in [3.5e38, 1e-46, Double(nan: 1, signaling: false), 16_777_217] {
            #expect(SplitColumns([1, odd], width: 1).places.isEmpty, "\(odd)")
        }
        #expect(SplitColumns([], width: 0).rows(width: 0) == [])
        var packed = PackedRecords(wrappedValue: (0..<100).map { source($0, apertures: 1) })
        let long = try WireCoder.encode(packed).readableBytes
        packed.sparesRoom = true
        let short = try WireCoder.encode(packed).readableBytes
        #expect(short < long * 2 / 3)
    }

    @Test func `columns that are no rows are refused`() {
        func rows(_ width: Int, _ places: [Int], _ singles: [Float], _ doubles: [Double]) -> [Double]? {
            SplitColumns(places: places, singles: singles, doubles: doubles).rows(width: width)
        }
        #expect(rows(2, [1], [1, 2], [3, 4]) == [3, 1, 4, 2])
        for (width, places, singles, doubles) in [
            (2, [1], [1, 2], [3]), (2, [1], [1], [3, 4]), (2, [2], [1], [3]), (2, [-1], [1], [3]),
            (2, [1, 1], [1, 2], []), (2, [1, 0], [1, 2], []), (1, [0, 1], [1, 2], []), (-1, [], [], []),
            (.max, [], [], []), (.max, [0], [1], [2]), (1 << 40, [5], [1, 2], [3]), (0, [], [], [1]), (0, [], [1], []),
            (3, [0, 1, 2], [1, 2], []), (2, [], [], [1]),
        ] as [(Int, [Int], [Float], [Double])] {
            #expect(rows(width, places, singles, doubles) == nil, "\(width) \(places) \(singles) \(doubles)")
        }
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
