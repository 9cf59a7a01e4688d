import Foundation
import Testing
import Transport

@testable import Sky

@Suite struct EpochSeriesTests {
    typealias Star = PaintedEpoch.Star
    let study = EpochStudy()

    /// Three nights with `movers`, each by its place at the start and its way between two nights.
    private func nights(_ movers: [(start: Star, dx: Double, dy: Double)], others: [Star] = []) -> [PaintedEpoch] {
        (0..<3).map { night in
            var epoch = PaintedEpoch()
            (epoch.fwhm, epoch.seed) = ([3.2, 3.6, 2.9][night], UInt64(10 + night))
            (epoch.dx, epoch.dy, epoch.turn) = ([0, 5.2, -7.7][night], [0, -3.1, 4.4][night], [0, 0.1, -0.2][night])
            epoch.extra = movers.map {
                Star(
                    x: $0.start.x + $0.dx * Double(night), y: $0.start.y + $0.dy * Double(night), flux: $0.start.flux)
            }
            if night > 0 { epoch.extra += others }
            return epoch
        }
    }

    private let movers: [(start: Star, dx: Double, dy: Double)] = [
        (Star(x: 90, y: 100, flux: 5000), 20, 15), (Star(x: 300, y: 80, flux: 3500), -9, 22),
        (Star(x: 200, y: 330, flux: 9000), 6, -4),
    ]

    @Test func `three epochs link movers with rate and direction, and leave fixed sources alone`() throws {
        let stays = Star(x: 250, y: 200, flux: 8000)
        let epochs = nights(movers, others: [stays])
        let scans = try epochs.map { try study.scan($0) }
        let comparisons = try scans[1...].map { try $0.compared(with: scans[0]) }
        let series = EpochSeries(comparisons, times: [0, 1800, 3600])
        #expect(series.hasTimes)
        #expect(series.tracks.count == 3, "\(series)")
        for comparison in series.comparisons {
            #expect(comparison.changes.count { $0.kind == .moved } == 3)
            #expect(comparison.changes.count { $0.kind == .appeared } == 1)
            #expect(comparison.changes.count == 4, "\(comparison.changes)")
        }
        // 25 pixels of half a second of arc in half an hour.
        let change = try #require(
            series.comparisons[0].near(epochs[1].extra[0], in: epochs[1]).first)
        let (rate, angle) = (try #require(change.rate), try #require(change.positionAngle))
        #expect(abs(rate - 25) < 0.5)
        // x runs to the west and y to the north.
        #expect(abs(angle - (360 - 53.13)) < 1)
        #expect(abs(change.xOld - 91) < 0.3 && abs(change.yOld - 101) < 0.3)
        #expect(change.track != nil)

        let again = EpochSeries(Array(comparisons.reversed()), times: [0, 3600, 1800])
        #expect(
            again.tracks.map(\.rate).sorted().map { ($0 * 1000).rounded() }
                == series.tracks.map(\.rate).sorted().map { ($0 * 1000).rounded() })
    }

    @Test func `two epochs pair what vanished with what appeared, by flux`() throws {
        let epochs = nights(movers)
        let scans = try epochs[..<2].map { try study.scan($0) }
        let series = EpochSeries([try scans[1].compared(with: scans[0])])
        #expect(series.tracks.isEmpty && !series.hasTimes)
        let changes = series.comparisons[0].changes
        #expect(changes.count == 3 && changes.allSatisfy { $0.kind == .moved && $0.track == nil })
        // Without times the rate is in arcseconds from one image to the next.
        let rates = changes.compactMap(\.rate).sorted()
        #expect(rates.count == 3 && zip(rates, [3.606, 11.885, 12.5]).allSatisfy { abs($0 - $1) < 0.2 })
    }

    @Test func `images without coordinates are compared by their stars, in pixels`() throws {
        let epochs = nights(movers).map { epoch in
            var epoch = epoch
            epoch.hasWCS = false
            return epoch
        }
        let scans = try epochs.map { try study.scan($0) }
        let series = EpochSeries(try scans[1...].map { try $0.compared(with: scans[0]) })
        #expect(series.tracks.count == 3)
        #expect(series.comparisons.count == scans.count - 1 && series.comparisons.allSatisfy { !$0.usesSky })
        #expect(series.tracks.contains { abs($0.rate - 25) < 0.5 })
    }

    @Test func `results in any order, sent over a wire, are the same comparison`() throws {
        let epochs = nights(movers)
        let (new, old) = (try study.scan(epochs[1], sector: 128), try study.scan(epochs[0], sector: 128))
        let pair = try EpochPair(new: Epoch(catalogue: new.catalogue), old: Epoch(catalogue: old.catalogue))
        let sent = try WireCoder.decode(EpochPair.self, from: WireCoder.encode(pair))
        #expect(sent == pair)
        let results = try new.differences(from: old, pair)
        func merged(_ results: [DifferenceResult]) -> EpochComparison {
            EpochComparison(merging: results, pair: pair, new: new.catalogue, old: old.catalogue)
        }
        let one = merged(results)
        #expect(one == merged(results.reversed() + results))
        #expect(try WireCoder.decode(EpochComparison.self, from: WireCoder.encode(one)) == one)
        #expect(try WireCoder.decode([DifferenceResult].self, from: WireCoder.encode(results)) == results)
        let order = pair.order(
            for: Sector(
                index: 0, core: PixelRect(x: 0, y: 0, width: 64, height: 64),
                padded: PixelRect(x: 0, y: 0, width: 64, height: 64)))
        #expect(try WireCoder.decode(DifferenceOrder.self, from: WireCoder.encode(order)) == order)
    }

    @Test func `a series without comparisons is empty`() {
        #expect(EpochSeries([]).comparisons.isEmpty)
        #expect(EpochSeries([], times: [nil, 5, .nan]).tracks.isEmpty)
    }

    @Test func `a polynomial without a value is not decoded`() {
        let text = #"{"degree":3,"x0":0,"y0":0,"scale":1,"coefficients":[1,2]}"#
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(BivariatePolynomial.self, from: Data(text.utf8))
        }
    }
}
