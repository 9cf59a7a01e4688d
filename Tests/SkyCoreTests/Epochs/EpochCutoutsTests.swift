import Testing

@testable import SkyCore

@Suite struct EpochCutoutsTests {
    typealias Star = PaintedEpoch.Star
    let study = EpochStudy()

    @Test func `both pictures of a change are PNG files, also at the corner of an image`() throws {
        var night = PaintedEpoch()
        (night.dx, night.dy, night.seed) = (5, -3, 2)
        night.extra = [Star(x: 15, y: 18, flux: 9000), Star(x: 210, y: 210, flux: 9000)]
        let (new, old) = (try study.scan(night), try study.scan(PaintedEpoch()))
        let pair = try EpochPair(new: Epoch(catalogue: new.catalogue), old: Epoch(catalogue: old.catalogue))
        let comparison = try new.compared(with: old)
        let painted = comparison.changes.filter { abs($0.significance) > 20 }
        #expect(painted.count == 2)
        for change in painted {
            let cutouts = try EpochCutouts(of: change, new: new.image, old: old.image, order: pair.cutoutOrder)
            #expect(cutouts.side == 41)
            for png in [cutouts.old, cutouts.new] {
                #expect(png.starts(with: [0x89, 0x50, 0x4E, 0x47]) && png.count > 500)
            }
            #expect(cutouts.old != cutouts.new)
        }
    }

    @Test func `a moved source's pictures show both places, and places that are no numbers are refused`() throws {
        let (new, old) = (try study.scan(PaintedEpoch()), try study.scan(PaintedEpoch()))
        let pair = try EpochPair(new: Epoch(catalogue: new.catalogue), old: Epoch(catalogue: old.catalogue))
        let candidate = DifferenceCandidate(
            x: 200, y: 200, xOld: 140, yOld: 200, positionError: 0.1, fluxDifference: 100, fluxDifferenceError: 1,
            fluxNew: 100, fluxNewError: 1, fluxOld: 0, fluxOldError: 1, significance: 100)
        var change = EpochChange(candidate, kind: .moved, isOnSource: false)
        #expect(try EpochCutouts(of: change, new: new.image, old: old.image, order: pair.cutoutOrder).side >= 61)
        change.x = .nan
        #expect(throws: SkyError.self) {
            try EpochCutouts(of: change, new: new.image, old: old.image, order: pair.cutoutOrder)
        }
        (change.x, change.xOld) = (5000, -1e30)
        #expect(try EpochCutouts(of: change, new: new.image, old: old.image, order: pair.cutoutOrder).new.count > 100)
    }
}
