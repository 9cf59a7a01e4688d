import Testing

@testable import Sky

@Suite struct DifferenceSettingsTests {
    /// A candidate by its significance, and the signal to noise at its place in each image.
    private func candidate(_ significance: Double, new: Double, old: Double) -> DifferenceCandidate {
        DifferenceCandidate(
            x: 10, y: 10, xOld: 10, yOld: 10, positionError: 0.1, fluxDifference: significance, fluxDifferenceError: 1,
            fluxNew: new, fluxNewError: 1, fluxOld: old, fluxOldError: 1, significance: significance)
    }

    @Test func `a strong difference is always reported`() {
        let settings = DifferenceSettings()
        for (new, old) in [(5.5, 0.0), (50, 44.5), (0, 5.5)] {
            #expect(settings.reports(candidate(new > old ? 5.5 : -5.5, new: new, old: old)))
        }
    }

    @Test func `a weaker difference is reported only if exactly one image has a source`() {
        let settings = DifferenceSettings()
        #expect(settings.reports(candidate(4.6, new: 6.5, old: 0.2)))
        #expect(settings.reports(candidate(-4.6, new: -0.3, old: 6.5)))
        #expect(!settings.reports(candidate(4.6, new: 9, old: 2.6)), "there is something in the other")
        #expect(!settings.reports(candidate(4.6, new: 4.7, old: -1.8)), "noise in both")
        #expect(!settings.reports(candidate(4.6, new: 6.5, old: -2.6)), "a hole in the other")
        #expect(!settings.reports(candidate(4.3, new: 6.5, old: 0.2)))
        #expect(!settings.reports(candidate(-4.6, new: 6.5, old: 0.2)), "in the wrong image")
    }

    @Test(arguments: [(900, 4.8), (4096, 5.38), (20_000, 5.92), (1, 4.8), (100_000, 6)])
    func `images with more pixels need a higher significance`(side: Int, presence: Double) {
        let settings = DifferenceSettings(ImageInfo(width: side, height: side, bitpix: -32, hdu: 0, hasWCS: false))
        #expect(abs(settings.presence - presence) < 0.03)
    }

    @Test func `a hole in one image is not reported as a source in the other`() {
        let settings = DifferenceSettings()
        // These are differences on images of nothing but noise.
        for (significance, new, old) in [(5.61, 3.3, -3.4), (-5.75, -5.22, 2.48), (5.77, 2.78, -4.9)] {
            #expect(!settings.reports(candidate(significance, new: new, old: old)))
        }
        #expect(settings.reports(candidate(9, new: 7, old: -4)), "what is bright enough is a source beside a hole, too")
        #expect(candidate(3, new: 0, old: -4).evidence == 0)
        // The other image is far below the sky at this place.
        #expect(!settings.reports(candidate(13, new: 9, old: -7)) && settings.reports(candidate(30, new: 25, old: -7)))
    }

    @Test func `a difference that neither image shows is not reported`() {
        let settings = DifferenceSettings()
        var faint = candidate(6, new: 2.9, old: 0.5)
        #expect(!settings.reports(faint))
        (faint.significance, faint.fluxNew, faint.fluxOld) = (-6, 0.5, 2.9)
        #expect(!settings.reports(faint))
        #expect(settings.reports(candidate(6, new: 3.1, old: 0.5)))
    }

    @Test func `a candidate that may complete a track is kept and not reported`() {
        let settings = DifferenceSettings()
        #expect(settings.keeps(candidate(4.6, new: 4, old: -2)) && !settings.reports(candidate(4.6, new: 4, old: -2)))
        #expect(!settings.keeps(candidate(4.4, new: 4, old: 0)))
        #expect(!settings.keeps(candidate(.nan, new: .nan, old: .nan)))
    }
}
