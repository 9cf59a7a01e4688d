import Base
import Fixtures
import Glibc
import Testing

@testable import Sky

@Suite struct EpochDepthTests {
    let study = EpochStudy()
    private let old = PaintedEpoch()

    private var night: PaintedEpoch {
        var epoch = PaintedEpoch()
        (epoch.dx, epoch.dy, epoch.seed) = (3.3, -2.6, 2)
        return epoch
    }

    private func depth(
        _ new: ScannedEpoch, _ old: ScannedEpoch, injected: Int = 300, seeing: Double? = nil, seed: UInt64 = 1
    ) throws -> (depth: EpochDepth, pair: EpochPair, outcomes: [InjectedChange.Outcome]) {
        let given = seeing.map { Seeing(given: $0) }
        let pair = try EpochPair(
            new: Epoch(catalogue: new.catalogue, seeing: given), old: Epoch(catalogue: old.catalogue, seeing: given),
            injected: injected, seed: seed)
        let results = try new.differences(from: old, pair)
        let comparison = EpochComparison(merging: results, pair: pair, new: new.catalogue, old: old.catalogue)
        return (try #require(comparison.depth), pair, results.flatMap(\.injected))
    }

    @Test func `two good nights see nearly all bright stars, and half of those a little above the noise`() throws {
        let (depth, _, outcomes) = try depth(study.scan(night), study.scan(old))
        #expect(depth.injected > 280 && depth.injected == outcomes.count && depth.found < depth.injected)
        #expect(try #require(depth.share) > 0.93 && !depth.isBlind)
        let ratio = try #require(depth.signalToNoise)
        // The difference has the noise of both: about 4.5 to 5.5 times the square root of two.
        #expect(ratio > 5 && ratio < 9, "\(ratio)")
        #expect(try #require(depth.flux) > 0)
    }

    @Test func `a comparison with a wrong star width reports that it is blind`() throws {
        let (new, before) = (try study.scan(night), try study.scan(old))
        #expect(try depth(new, before, seeing: 1.2).depth.isBlind)
        #expect(try !depth(new, before, seeing: 3.2).depth.isBlind)
    }

    @Test func `a width that leaves no stars is refused with that reason`() throws {
        let (new, before) = (try study.scan(night), try study.scan(old))
        let error = SkyError.thrown { () throws(SkyError) in
            try EpochPair(
                new: Epoch(catalogue: new.catalogue, seeing: Seeing(given: 14)),
                old: Epoch(catalogue: before.catalogue, seeing: Seeing(given: 14)))
        }
        #expect(error?.message.contains("too few sources that can be stars") == true, "\(String(describing: error))")
    }

    @Test func `the result for injected stars is the same for painted stars`() throws {
        let (new, before) = (try study.scan(night), try study.scan(old))
        let (_, pair, outcomes) = try depth(new, before, injected: 60, seed: 5)
        // Those far from each other, painted into the frame itself.
        var chosen: [InjectedChange.Outcome] = []
        for star in outcomes where abs(star.x - 209) < 190 && abs(star.y - 209) < 190 {
            if chosen.allSatisfy({ hypot($0.x - star.x, $0.y - star.y) > 40 }) { chosen.append(star) }
        }
        #expect(chosen.count > 25 && chosen.contains(where: \.isFound) && chosen.contains { !$0.isFound })
        let painted = chosen
        var spoilt = night
        spoilt.spoil = { canvas in
            for star in painted {
                MoffatProfile(fwhm: 3.2).paint(x: star.x, y: star.y, flux: star.flux, floor: 0.01, on: &canvas)
            }
        }
        let again = try study.scan(spoilt)
        let results = try again.differences(from: before, pair)
        let rows = EpochComparison(merging: results, pair: pair, new: again.catalogue, old: before.catalogue).changes
        let agreeing = chosen.count { star in
            rows.contains { hypot($0.x - 1 - star.x, $0.y - 1 - star.y) < 1.6 && $0.significance > 0 } == star.isFound
        }
        #expect(agreeing >= chosen.count - 2, "\(agreeing) of \(chosen.count)")
    }

    @Test func `injected stars leave no trace, and no result depends on them`() throws {
        let (new, before) = (try study.scan(night), try study.scan(old))
        var results = try depth(new, before).pair
        let with = try new.differences(from: before, results)
        results = try EpochPair(new: Epoch(catalogue: new.catalogue), old: Epoch(catalogue: before.catalogue))
        let without = try new.differences(from: before, results)
        #expect(!without.isEmpty)
        #expect(with.map(\.candidates) == without.map(\.candidates) && without.allSatisfy { $0.injected.isEmpty })
        // Each star has the same result in whatever order, and with whatever others.
        let few = try depth(new, before, injected: 300).pair
        var count = 0
        let sectors = try SectorGrid(info: new.catalogue.info, configuration: new.configuration).sectors
        #expect(!sectors.isEmpty)
        for sector in sectors {
            let order = few.order(for: sector)
            let turned = DifferenceOrder(
                sector: order.sector, alignment: order.alignment, ratio: order.ratio, newSeeing: order.newSeeing,
                oldSeeing: order.oldSeeing, newSaturation: order.newSaturation, oldSaturation: order.oldSaturation,
                gain: order.gain, oldInfo: order.oldInfo, stars: order.stars, injected: order.injected.reversed(),
                injectedWidth: order.injectedWidth, injectsNarrowest: false, injectionSeed: order.injectionSeed)
            let one = try DifferenceScan(new: new.image, old: before.image, order: order).run()
            let other = try DifferenceScan(new: new.image, old: before.image, order: turned).run()
            #expect(one.injected == other.injected.reversed())
            count += one.injected.count
        }
        #expect(count > 0, "some sectors have stars")
    }

    @Test func `stars fill an image and the range of brightness evenly, each with its own number`() {
        let info = TestFrame(width: 400, height: 300, seed: 1).info
        let stars = InjectedChange.all(200, seed: 7, info: info)
        #expect(stars.count == 200 && stars.map(\.number) == Array(1...200))
        #expect(
            stars == InjectedChange.all(200, seed: 7, info: info)
                && stars != InjectedChange.all(200, seed: 8, info: info))
        for left in [0.0, 200] {
            for low in [0.0, 150] {
                let share = stars.count { (left..<left + 200).contains($0.x) && (low..<low + 150).contains($0.y) }
                #expect((25...75).contains(share))
            }
        }
        #expect(stars.count { $0.signalToNoise >= 10 } == 118 || stars.count { $0.signalToNoise >= 10 } == 117)
        #expect(
            InjectedChange.all(0, seed: 1, info: info).isEmpty && InjectedChange.all(-4, seed: 1, info: info).isEmpty)
        #expect(InjectedChange.all(.max, seed: 1, info: info).count == InjectedChange.countLimit)
        for star in stars { #expect(PixelRect(x: 0, y: 0, width: 400, height: 300).contains(star.pixel)) }
    }

    @Test func `orders and results with bad injected stars are refused`() throws {
        let (_, pair, _) = try depth(study.scan(night), study.scan(old), injected: 5)
        let rect = PixelRect(x: 0, y: 0, width: 420, height: 420)
        let order = pair.order(for: Sector(index: 0, core: rect, padded: rect))
        #expect(order.injected.count == 5)
        func refuses(_ change: (InjectedChange) -> InjectedChange, width: Double = 3) -> Bool {
            let other = DifferenceOrder(
                sector: order.sector, alignment: order.alignment, ratio: order.ratio, newSeeing: order.newSeeing,
                oldSeeing: order.oldSeeing, newSaturation: nil, oldSaturation: nil, gain: order.gain,
                oldInfo: order.oldInfo, stars: order.stars, injected: order.injected.map(change), injectedWidth: width,
                injectsNarrowest: false,
                injectionSeed: 1)
            return SkyError.thrown { () throws(SkyError) in try other.validate() } != nil
        }
        #expect(!refuses { $0 })
        #expect(refuses({ $0 }, width: .nan))
        for value in [Double.nan, .infinity, -1, 1e300, 430] {
            #expect(refuses { InjectedChange(number: $0.number, x: value, y: 3, signalToNoise: 20) })
            #expect(refuses { InjectedChange(number: $0.number, x: 3, y: value, signalToNoise: 20) })
        }
        for value in [Double.nan, .infinity, 0, 1e9] {
            #expect(refuses { InjectedChange(number: $0.number, x: $0.x, y: $0.y, signalToNoise: value) })
        }
        #expect(refuses { InjectedChange(number: .max, x: $0.x, y: $0.y, signalToNoise: 5) })
        var result = DifferenceResult(sector: 0, corePixels: rect.area)
        func outcome(_ index: Int, flux: Double = 10, shift: Double = 0) -> InjectedChange.Outcome {
            let star = order.injected[index]
            return InjectedChange.Outcome(
                number: star.number, x: star.x + shift, y: star.y, signalToNoise: star.signalToNoise, flux: flux,
                isFound: true)
        }
        result.injected = [outcome(0), outcome(3)]
        #expect(result.isSound(of: order))
        for wrong in [
            [outcome(0), outcome(0)], [outcome(0, flux: .nan)], [outcome(0, flux: -1)], [outcome(0, shift: 1)],
        ] {
            result.injected = wrong
            #expect(!result.isSound(of: order))
        }
    }
}
