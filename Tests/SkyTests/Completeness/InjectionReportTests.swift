import Foundation
import Testing

@testable import Sky

/// What is said of injected stars.
@Suite struct InjectionReportTests {
    private let info = ImageInfo(width: 500, height: 500, bitpix: -32, hdu: 0, hasWCS: false)

    private func source(_ x: Double, _ y: Double, flux: Double = 1, aperture: Double = 1) -> Source {
        var source = Source(x: x, y: y, sector: 0)
        (source.fluxAuto, source.fluxesAperture, source.fluxErrorsAperture) = (flux, [aperture], [0.1])
        return source
    }

    private func catalogue(_ sources: [Source], _ stars: [InjectedStar]? = nil) -> Catalogue {
        Catalogue(info: info, sources: sources, truncated: 0, filter: .pyramid, injected: stars)
    }

    private func report(_ stars: [InjectedStar], now: [Source], before: [Source], count: Int? = nil) -> InjectionReport
    {
        let injection = Injection(count: count ?? stars.count, faintest: 1, brightest: 100, fwhm: 3)
        return InjectionReport([(injection, catalogue(now, stars))], plain: catalogue(before), zeroPoint: 25)
    }

    @Test func `an injected star is matched with the nearest source within its own width`() {
        let stars = [
            InjectedStar(number: 1, x: 50, y: 50, flux: 90), InjectedStar(number: 2, x: 150, y: 50, flux: 90),
            InjectedStar(number: 3, x: 250, y: 50, flux: 90),
        ]
        let report = report(
            stars, now: [source(52, 50, flux: 1), source(50.5, 50, flux: 45), source(150, 53.1), source(250, 52.9)],
            before: [])
        #expect(report.radius == 3)
        #expect(report.stars.map { $0.match?.x } == [50.5, nil, 250])
        #expect(report.bins.first?.stars == 3 && report.bins.first?.found == 2)
        #expect(abs((report.stars[0].error(\.fluxes, zeroPoint: 25) ?? 0) - 2.5 * log10(2)) < 1e-9)
    }

    @Test func `a star on top of a source counts as blended, and not for its flux`() {
        let stars = [
            InjectedStar(number: 1, x: 50, y: 50, flux: 90), InjectedStar(number: 2, x: 150, y: 50, flux: 90),
        ]
        let old = [source(51, 50), source(151, 50)]
        let report = report(stars, now: old + [source(50, 50)], before: old)
        let bin = report.bins.first
        #expect(bin?.stars == 0 && bin?.found == 0 && bin?.completeness == nil)
        #expect(bin?.blended == 2 && bin?.blendedFound == 1 && bin?.automatic == nil)
    }

    @Test func `stars without pixels or results are not counted`() {
        var masked = InjectedStar(number: 1, x: 50, y: 50, flux: 90)
        masked.isMasked = true
        let report = report(
            [masked, InjectedStar(number: 2, x: 150, y: 50, flux: 2)], now: [source(50, 50)], before: [], count: 4)
        #expect(report.unseen == 3)
        #expect(report.bins.reduce(0) { $0 + $1.stars } == 1 && report.bins.allSatisfy { $0.found == 0 })
    }

    @Test func `bins divide the range, and median and scatter are those of the found stars`() {
        let stars = (0..<50).map { InjectedStar(number: $0 + 1, x: 10 * Double($0) + 5, y: 5, flux: 99) }
        let faint = InjectedStar(number: 51, x: 5, y: 105, flux: 1.001)
        let offsets = [-0.1, -0.05, 0, 0.05, 5]
        let now = stars.enumerated().map { index, star in
            source(star.x, 5, flux: 99 * pow(10, -0.4 * offsets[index % 5]), aperture: 99)
        }
        let report = report(stars + [faint], now: now, before: [])
        #expect(report.bins.count == 10 && report.bins.first?.low == 20 && report.bins.last?.high == 25)
        let errors = report.bins.first?.automatic
        #expect(abs(errors?.median ?? 1) < 1e-9 && abs((errors?.scatter ?? 0) - 1.4826 * 0.05) < 1e-9)
        #expect(abs(report.bins.first?.aperture?.median ?? 1) < 1e-9)
        #expect(report.bins.last?.stars == 1 && report.bins.last?.found == 0)
        let lines = String(decoding: report.csv(), as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 52 && lines[1].hasPrefix("1,1,5.0000,5.0000,,,20.0109,99,0,0,1,5.0000,5.0000,"))
        #expect(lines.allSatisfy { $0.split(separator: ",", omittingEmptySubsequences: false).count == 20 })
        #expect(lines[51].hasSuffix(",0,0,0,,,,,,,,,"))
        let plot = InjectionPlot(report, title: "a < b").svg
        let parser = XMLReader(plot)
        #expect(parser.isSound && parser.count("circle") > 0 && parser.count("circle") < 40)
        #expect(String(decoding: plot, as: UTF8.self).contains("a &lt; b"))
    }

    @Test func `stars of one brightness make one bin`() {
        let injection = Injection(count: 1, faintest: 10, brightest: 10, fwhm: 3)
        let stars = [InjectedStar(number: 1, x: 50, y: 50, flux: 10)]
        let report = InjectionReport([(injection, catalogue([], stars))], plain: catalogue([]), zeroPoint: 0)
        #expect(report.bins.count == 1 && report.bins.first?.stars == 1)
        #expect(XMLReader(InjectionPlot(report, title: "").svg).isSound)
        #expect(InjectionReport([], plain: catalogue([]), zeroPoint: 0).bins.map(\.stars) == [0])
    }

    @Test(arguments: [
        // 81 of 263: Newcombe 1998, Statistics in Medicine 17, 857; the others by hand.
        (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1), (5, 10, 0.2366, 0.7634), (81, 263, 0.2553, 0.3662), (0, 0, 0, 1),
    ])
    func `Wilson's interval agrees with the literature`(found: Int, of all: Int, low: Double, high: Double) {
        let interval = WilsonInterval(found, of: all)
        #expect(abs(interval.low - low) < 2e-4 && abs(interval.high - high) < 2e-4, "\(interval)")
    }

    @Test func `the curve never rises, and gives the magnitude where it crosses a level`() throws {
        func report(_ shares: [(found: Int, stars: Int)]) -> [InjectionReport.Bin] {
            shares.enumerated().map { index, share in
                var bin = InjectionReport.Bin(low: Double(index), high: Double(index) + 1)
                (bin.stars, bin.found) = (share.stars, share.found)
                return bin
            }
        }
        let curve = CompletenessCurve(report([(10, 10), (9, 10), (10, 10), (0, 0), (6, 10), (4, 10), (0, 10)]))
        // The second and the third are one: 95 %.
        let ninety = try #require(curve.magnitude(at: 0.9))
        #expect(abs(ninety - (2.5 + 2 * 0.05 / 0.35)) < 1e-9)
        #expect(curve.magnitude(at: 0.5) == 5)
        #expect(CompletenessCurve(report([(1, 10), (0, 10)])).magnitude(at: 0.5) == nil, "never reached")
        #expect(CompletenessCurve(report([(10, 10), (9, 10)])).magnitude(at: 0.5) == nil, "never left")
        #expect(CompletenessCurve([]).magnitude(at: 0.5) == nil)
    }

    @Test func `ticks are round numbers`() {
        let ticks = PlotPanel.ticks(-0.13...0.13, about: 6)
        #expect(ticks.decimals == 2 && ticks.values.map { ($0 * 100).rounded() } == [-10, -5, 0, 5, 10])
        #expect(PlotPanel.ticks(18...24, about: 8).values == [18, 19, 20, 21, 22, 23, 24])
        #expect(PlotPanel.ticks(1...1, about: 8).values.isEmpty)
    }
}

extension Source {
    fileprivate var fluxes: Double? { fluxAuto }
}
