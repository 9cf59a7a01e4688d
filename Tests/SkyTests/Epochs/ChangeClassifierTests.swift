import Testing

@testable import Sky

@Suite struct ChangeClassifierTests {
    private let study = EpochStudy()

    private func candidate(_ significance: Double, new: Double, old: Double, at place: Double) -> DifferenceCandidate {
        DifferenceCandidate(
            x: place, y: place, xOld: place, yOld: place, positionError: 0.1, fluxDifference: significance,
            fluxDifferenceError: 1, fluxNew: new, fluxNewError: 1, fluxOld: old, fluxOldError: 1,
            significance: significance)
    }

    /// Both catalogues with a galaxy at 200 and a star at 100.
    private func classifier() throws -> ChangeClassifier {
        var again = PaintedEpoch()
        again.seed = 3
        let (first, second) = (try study.scan(again), try study.scan(PaintedEpoch()))
        let pair = try EpochPair(new: Epoch(catalogue: first.catalogue), old: Epoch(catalogue: second.catalogue))
        func made(_ catalogue: Catalogue) -> Catalogue {
            var catalogue = catalogue
            var (galaxy, star) = (Source(x: 202, y: 201, sector: 0), Source(x: 100.1, y: 100, sector: 0))
            (galaxy.xWindow, galaxy.yWindow, galaxy.fwhm, galaxy.halfLightRadius) = (202, 201, 9, 6)
            (star.xWindow, star.yWindow, star.fwhm, star.halfLightRadius) = (100.1, 100, 3.2, 1.9)
            catalogue.sources = [galaxy, star]
            return catalogue
        }
        return ChangeClassifier(new: made(first.catalogue), old: made(second.catalogue), pair: pair)
    }

    @Test func `a loss on a source that stays is faded, and otherwise vanished`() throws {
        let classifier = try classifier()
        let faded = classifier.change(candidate(-9, new: 40, old: 49, at: 204))
        #expect(faded.kind == .faded && faded.isOnSource)
        let vanished = classifier.change(candidate(-9, new: 0.4, old: 9.4, at: 300))
        #expect(vanished.kind == .vanished && !vanished.isOnSource)
        #expect(
            classifier.change(candidate(-9, new: 0.4, old: 9.4, at: 204)).kind == .vanished, "nothing is left there")
        #expect(classifier.change(candidate(9, new: 49, old: 40, at: 204)).kind == .appeared)
        #expect(classifier.change(candidate(-9, new: 40, old: 49, at: 100)).kind == .changed)
    }
}
