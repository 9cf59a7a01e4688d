import Base
import Testing
import Transport

@testable import Sky

@Suite struct EpochCutoutsTests {
    typealias Star = PaintedEpoch.Star
    let study = EpochStudy()

    /// The whole exposure as one part.
    private func painter(_ new: ScannedEpoch, _ old: ScannedEpoch) throws -> CutoutPainter {
        let pair = try EpochPair(new: Epoch(catalogue: new.catalogue), old: Epoch(catalogue: old.catalogue))
        let whole = PixelRect(x: 0, y: 0, width: PaintedEpoch.side, height: PaintedEpoch.side)
        let order = pair.cutoutOrder(for: Sector(index: 0, core: whole, padded: whole))
        return CutoutPainter(new: new.image, old: old.image, order: order)
    }

    private func candidate(x: Double, y: Double) -> DifferenceCandidate {
        DifferenceCandidate(
            x: x, y: y, xOld: x, yOld: y, positionError: 0.1, fluxDifference: 100, fluxDifferenceError: 1,
            fluxNew: 100, fluxNewError: 1, fluxOld: 0, fluxOldError: 1, significance: 100)
    }

    @Test func `the pictures of a change are PNG files, also at the corner of an image`() throws {
        var night = PaintedEpoch()
        (night.dx, night.dy, night.seed) = (5, -3, 2)
        night.extra = [Star(x: 15, y: 18, flux: 9000), Star(x: 210, y: 210, flux: 9000)]
        let (new, old) = (try study.scan(night), try study.scan(PaintedEpoch()))
        let comparison = try new.compared(with: old)
        let painted = comparison.changes.filter { abs($0.significance) > 20 }
        #expect(painted.count == 2)
        var painter = try painter(new, old)
        for change in painted {
            let cutouts = try painter.cutouts(of: change)
            #expect(cutouts.side == 41)
            let pictures = [cutouts.old, cutouts.new, try #require(cutouts.difference)]
            for png in pictures {
                #expect(png.starts(with: [0x89, 0x50, 0x4E, 0x47]) && png.count > 500)
            }
            #expect(Set(pictures).count == 3)
            #expect(cutouts.isSound && cutouts.byteCount == pictures.reduce(0) { $0 + $1.count })
        }
    }

    @Test func `a difference shows changes in units of its noise, and no stars`()
        throws
    {
        var night = PaintedEpoch()
        (night.fwhm, night.seed) = (4.2, 2)
        let nova = PaintedEpoch.lonely(x: 210, y: 210, flux: 9000)
        night.extra = [nova]
        let (new, old) = (try study.scan(night), try study.scan(PaintedEpoch()))
        let change = try #require(try new.compared(with: old).near(nova, in: night).first)
        var painter = try painter(new, old)
        let rect = PixelRect(x: Int(change.x.rounded()) - 21, y: Int(change.y.rounded()) - 21, width: 41, height: 41)
        let values = try painter.difference(in: rect)
        #expect(abs(Double(values[20 * 41 + 20]) / change.significance - 1) < 0.2)
        // Far from it there is only noise, of one unit.
        let rim = (0..<41).flatMap { values[$0 * 41..<$0 * 41 + 6] }
        #expect((0.6...1.5).contains(try #require(RobustStatistics.spread(rim)).sigma))
        // The brightest star that is far from saturated has some hundred sigma in either image.
        let star = try #require(
            new.catalogue.sources.filter {
                $0.flags == 0 && (60...360).contains($0.x) && (60...360).contains($0.y)
                    && abs($0.x - change.x) + abs($0.y - change.y) > 60
            }.max { $0.fluxAuto < $1.fluxAuto })
        #expect(star.fluxAuto > 100 * star.fluxErrorAuto)
        let around = PixelRect(x: Int(star.x) - 21, y: Int(star.y) - 21, width: 41, height: 41)
        let rest = try painter.difference(in: around)
        #expect(rest.count == 41 * 41 && rest.allSatisfy { abs($0) < 12 })
    }

    @Test func `pictures of a moved source show both places, and bad positions are refused`() throws {
        let (new, old) = (try study.scan(PaintedEpoch()), try study.scan(PaintedEpoch()))
        var painter = try painter(new, old)
        var moved = candidate(x: 200, y: 200)
        moved.xOld = 140
        var change = EpochChange(moved, kind: .moved, isOnSource: false)
        #expect(try painter.cutouts(of: change).side >= 61)
        change.x = .nan
        #expect(throws: SkyError.self) { try painter.cutouts(of: change) }
        (change.x, change.xOld) = (5000, -1e30)
        #expect(try painter.cutouts(of: change).new.count > 100)
    }

    @Test func `there is no difference where one image has no pixels`() throws {
        var night = PaintedEpoch()
        (night.dx, night.seed) = (40, 2)
        let (new, old) = (try study.scan(night), try study.scan(PaintedEpoch()))
        var painter = try painter(new, old)
        // Columns 0 to 39 of the new image lie left of the old one.
        let values = try painter.difference(in: PixelRect(x: 10, y: 200, width: 61, height: 61))
        #expect((0..<61).allSatisfy { row in values[row * 61..<row * 61 + 28].allSatisfy(\.isNaN) })
        #expect((0..<61).allSatisfy { row in values[row * 61 + 36..<(row + 1) * 61].allSatisfy(\.isFinite) })
        let beyond = try painter.difference(in: PixelRect(x: -200, y: 0, width: 41, height: 41))
        #expect(beyond.count == 41 * 41 && beyond.allSatisfy(\.isNaN))
    }

    @Test func `greys of a difference are as light as dark, and clip nothing that is near the noise`() {
        let values: [Float] = [-1000, -60, -3, -1, 0, 1, 3, 60, 1000, .infinity, -.infinity, .nan]
        let greys = NoiseGreys.apply(to: values)
        #expect(greys[0] == 0 && greys[1] == 0 && greys[4] == 128 && greys[7] == 255 && greys[8] == 255)
        #expect((greys[9], greys[10], greys[11]) == (255, 0, 128))
        for index in 0..<4 { #expect(abs(Int(greys[index]) + Int(greys[8 - index]) - 255) <= 1) }
        #expect(greys[5] > 134 && greys[6] > 150 && greys[6] < 200)
    }

    @Test func `the strongest changes are drawn, grouped by sector, with a limit for each task`() {
        let sectors = [0, 100].map { x in
            let rect = PixelRect(x: x, y: 0, width: 100, height: 100)
            return Sector(index: x / 100, core: rect, padded: rect)
        }
        var changes = (0..<50).map { number in
            var candidate = candidate(x: number < 20 ? 50 : 150, y: 50)
            candidate.significance = number % 2 == 0 ? Double(number) : -Double(number)
            return EpochChange(candidate, kind: .appeared, isOnSource: false)
        }
        let groups = CutoutGroup.all(of: changes, limit: 45, in: sectors)
        #expect(groups.map(\.sector.index) == [0, 1, 1])
        #expect(groups.map(\.changes.count) == [15, 16, 14])
        // All but the weakest five, each once, strongest first.
        #expect(groups.flatMap(\.changes).sorted() == Array(5..<50))
        #expect(groups[1].changes.first == 49 && groups[0].changes.first == 19)
        // A change outside all sectors, or without a position, goes with the first one.
        changes = [changes[49], changes[49]]
        (changes[0].x, changes[1].x) = (1000, .nan)
        #expect(CutoutGroup.all(of: changes, limit: 9, in: sectors).map(\.sector.index) == [0])
        #expect(CutoutGroup.all(of: changes, limit: 9, in: []).isEmpty)
        #expect(CutoutGroup.all(of: [], limit: 9, in: sectors).isEmpty)
    }

    @Test func `pictures from an earlier version are accepted without a difference`() throws {
        struct Earlier: Codable {
            var old: [UInt8]
            var new: [UInt8]
            var side: Int
        }
        let sent = try WireCoder.encode(Earlier(old: [1, 2], new: [3], side: 41))
        let cutouts = try WireCoder.decode(EpochCutouts.self, from: sent)
        #expect(cutouts == EpochCutouts(old: [1, 2], new: [3], difference: nil, side: 41) && cutouts.isSound)
    }

    @Test func `pictures that are too large are refused`() {
        func isSound(_ old: Int, _ new: Int, _ difference: Int?, side: Int = 41) -> Bool {
            func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
            return EpochCutouts(
                old: bytes(old), new: bytes(new), difference: difference.map(bytes), side: side
            ).isSound
        }
        let limit = 4 << 20
        #expect(isSound(limit, limit, limit) && isSound(1, 1, nil))
        #expect(!isSound(limit + 1, 1, nil) && !isSound(1, limit + 1, 1) && !isSound(1, 1, limit + 1))
        #expect(!isSound(1, 1, 1, side: 0) && !isSound(1, 1, 1, side: 1001))
    }
}
