import Base
import Fixtures
import Testing

@testable import Sky

@Suite struct HostileEpochTests {
    typealias Star = PaintedEpoch.Star
    let study = EpochStudy()
    private let old = PaintedEpoch()

    /// A pair that any images can be compared by.
    private func pair() throws -> (pair: EpochPair, old: ScannedEpoch) {
        var again = PaintedEpoch()
        again.seed = 3
        let (first, second) = (try study.scan(again), try study.scan(old))
        return (
            try EpochPair(new: Epoch(catalogue: first.catalogue), old: Epoch(catalogue: second.catalogue)), second
        )
    }

    @Test func `an image of nothing but NaN differs nowhere`() throws {
        let (pair, old) = try pair()
        var empty = PaintedEpoch()
        empty.spoil = { canvas in for index in canvas.pixels.indices { canvas.pixels[index] = .nan } }
        let new = try study.scan(empty)
        #expect(new.catalogue.sources.isEmpty)
        let results = try new.differences(from: old, pair)
        #expect(!results.isEmpty && results.allSatisfy { $0.candidates.isEmpty && $0.comparedPixels == 0 })
        let error = SkyError.thrown { () throws(SkyError) in
            try EpochPair(new: Epoch(catalogue: new.catalogue), old: Epoch(catalogue: old.catalogue))
        }
        #expect(error?.message.contains("too few sources") == true)
    }

    @Test func `an image of one value differs nowhere`() throws {
        let (pair, old) = try pair()
        var flat = PaintedEpoch()
        flat.spoil = { canvas in for index in canvas.pixels.indices { canvas.pixels[index] = 7 } }
        let results = try study.scan(flat).differences(from: old, pair)
        #expect(!results.isEmpty)
        #expect(results.allSatisfy { $0.candidates.count <= DifferenceResult.mostCandidates })
    }

    @Test func `an image of another part of the sky is refused`() throws {
        var elsewhere = PaintedEpoch()
        elsewhere.field = PaintedEpoch.stars(140, seed: 77)
        let (new, before) = (try study.scan(elsewhere), try study.scan(old))
        let error = SkyError.thrown { () throws(SkyError) in
            try EpochPair(new: Epoch(catalogue: new.catalogue), old: Epoch(catalogue: before.catalogue))
        }
        #expect(error?.message.contains("no stars in common") == true)
    }

    @Test func `images that do not match the order are refused`() throws {
        let (pair, old) = try pair()
        let order = pair.order(
            for: Sector(
                index: 4, core: PixelRect(x: 400, y: 0, width: 64, height: 64),
                padded: PixelRect(x: 400, y: 0, width: 64, height: 64)))
        #expect(throws: SkyError.self) {
            try DifferenceScan(new: old.image, old: old.image, order: order).run()
        }
    }

    @Test func `a million candidates make a comparison in bounded time`() throws {
        let (pair, old) = try pair()
        var random = RandomStream(seed: 6, purpose: 6)
        let results = (0..<1000).map { sector in
            var result = DifferenceResult(sector: sector, corePixels: 100)
            result.candidates = (0..<(sector < 30 ? 1000 : 0)).map { _ in
                let (x, y, s) = (random.uniform(0, 20_000), random.uniform(0, 20_000), random.uniform(-20, 20))
                return DifferenceCandidate(
                    x: x, y: y, xOld: x, yOld: y, positionError: 0.2, fluxDifference: s * 50, fluxDifferenceError: 50,
                    fluxNew: max(s, 0) * 50, fluxNewError: 50, fluxOld: max(-s, 0) * 50, fluxOldError: 50,
                    significance: s)
            }
            return result
        }
        let comparison = EpochComparison(merging: results, pair: pair, new: old.catalogue, old: old.catalogue)
        #expect(comparison.changes.count > 10_000)
        let series = EpochSeries([comparison, comparison])
        #expect(series.comparisons.count == 2)
    }

    @Test func `a sector lists only so many candidates`() throws {
        let (pair, old) = try pair()
        var spotted = PaintedEpoch()
        spotted.extra = (0..<1600).map { Star(x: 8 + Double($0 % 40) * 10, y: 8 + Double($0 / 40) * 10, flux: 20_000) }
        let new = try study.scan(spotted, sector: nil)
        let results = try new.differences(from: old, pair)
        #expect(results[0].candidates.count <= DifferenceResult.mostCandidates)
    }
}
