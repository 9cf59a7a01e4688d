import Testing

@testable import Sky

@Suite struct TruthReportTests {
    private func star(_ x: Double, _ y: Double, snr: Double) -> TruthSource {
        TruthSource(
            kind: .star, x: x, y: y, alpha: 0, delta: 0, magnitude: 0, flux: snr * 100, signalToNoise: snr)
    }

    private func source(_ x: Double, _ y: Double) -> Source { Source(x: x, y: y, sector: 0) }

    @Test func `completeness is counted in bins of signal to noise`() {
        let truth =
            [star(10, 10, snr: 6), star(20, 10, snr: 8), star(30, 10, snr: 8), star(40, 10, snr: 15)]
            + [star(50, 10, snr: 20), star(60, 10, snr: 1)]
        let report = TruthReport(sources: [source(10.5, 10), source(20, 11.9), source(50, 10.25)], truth: truth)
        #expect(report.bins.map(\.total) == [1, 2, 1, 1])
        #expect(report.bins.map(\.found) == [1, 1, 0, 1])
        #expect(report.bins[1].completeness == 0.5)
        #expect(report.matched == 3)
    }

    @Test func `a source beyond two pixels is no match`() {
        let report = TruthReport(sources: [source(12.01, 10)], truth: [star(10, 10, snr: 30)])
        #expect(report.matched == 0)
        #expect(report.purity == 0)
        #expect(TruthReport(sources: [source(12, 10)], truth: [star(10, 10, snr: 30)]).matched == 1)
    }

    @Test func `one detection counts for one true source, the brighter`() {
        let truth = [star(10, 10, snr: 6), star(11, 10, snr: 50)]
        let report = TruthReport(sources: [source(10.2, 10)], truth: truth)
        #expect(report.matched == 1)
        #expect(report.bins.map(\.found) == [0, 0, 0, 1])
    }

    @Test func `matching crosses the borders of the cells and of zero`() {
        let truth = [star(3.9, 4.1, snr: 30), star(-0.5, 0.5, snr: 30)]
        let report = TruthReport(sources: [source(4.1, 3.9), source(0.5, -0.5)], truth: truth)
        #expect(report.matched == 2)
    }

    @Test func `a detection on a source that is too faint does not count as genuine`() {
        let report = TruthReport(
            sources: [source(10, 10), source(20, 20)], truth: [star(10, 10, snr: 1.4), star(20, 20, snr: 1.6)])
        #expect(report.purity == 0.5)
    }

    @Test func `the position error is the median of the bright matches`() {
        let truth = (1...5).map { star(Double($0) * 10, 10, snr: 40) } + [star(90, 10, snr: 10)]
        let sources = [0.1, 0.2, 0.3, 0.4, 1.5].enumerated().map { source(Double($0 + 1) * 10 + $1, 10) }
        var report = TruthReport(sources: sources + [source(91.9, 10)], truth: truth)
        #expect(abs((report.positionError ?? 0) - 0.3) < 1e-9)
        #expect(abs((report.windowedError ?? 0) - 0.3) < 1e-9)
        let windowed = sources.map { source in
            var source = source
            source.xWindow -= 0.1
            return source
        }
        report = TruthReport(sources: windowed, truth: truth)
        #expect(abs((report.windowedError ?? 0) - 0.2) < 1e-9)
    }

    @Test func `the lines read well`() {
        let truth = [star(10, 10, snr: 6), star(20, 10, snr: 40), star(30, 10, snr: 40)]
        let report = TruthReport(sources: [source(20, 10.5), source(99, 99)], truth: truth)
        #expect(
            report.lines == [
                "found 1 of 3 true sources with 2 detections",
                "  S/N 5 to 7      0.0 % complete  (0 of 1)",
                "  S/N above 20   50.0 % complete  (1 of 2)",
                "  purity         50.0 %           (1 of 2)",
                "  position error 0.500 px, windowed 0.500 px  (median, S/N above 20)",
            ])
        #expect(TruthReport(sources: [], truth: []).lines == ["found 0 of 0 true sources with 0 detections"])
    }

    @Test func `positions that no image has are matched with nothing`() {
        let report = TruthReport(
            sources: [source(.nan, 1), source(.infinity, 1), source(1e300, -1e300)], truth: [star(1, 1, snr: 30)])
        #expect(report.matched == 0)
        #expect(report.detections == 3)
    }

    @Test func `cosmic rays and trails are neither missed nor found`() {
        func blemish(_ kind: TruthSource.Kind, _ x: Double) -> TruthSource {
            TruthSource(kind: kind, x: x, y: 10, alpha: 0, delta: 0, magnitude: 0, flux: 1e5, signalToNoise: 300)
        }
        let truth = [star(10, 10, snr: 30), blemish(.cosmic, 11), blemish(.trail, 40), blemish(.cosmic, 60)]
        let report = TruthReport(sources: [source(10, 10), source(40, 10), source(60, 10)], truth: truth)
        #expect(report.truths == 1)
        #expect(report.matched == 1)
        #expect(report.bins.map(\.total) == [0, 0, 0, 1])
        // A detection that only a blemish explains is not genuine.
        #expect(report.genuine == 1)
        let changing = TruthReport(sources: [source(11, 10)], truth: [blemish(.transient, 11), blemish(.mover, 90)])
        #expect(changing.truths == 2 && changing.matched == 1)
    }
}
