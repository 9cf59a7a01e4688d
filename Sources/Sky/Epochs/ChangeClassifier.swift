/// Decides the kind of a change, by whether the catalogues have a source at its place.
struct ChangeClassifier {
    private let new: Side
    private let old: Side

    /// One image's sources.
    private struct Side {
        let sources: [Source]
        let index: NeighbourIndex
        let seeing: Double

        init(_ catalogue: Catalogue, seeing: Double, reach: Double) {
            sources = catalogue.sources
            self.seeing = seeing
            var index = NeighbourIndex(cell: reach)
            for (number, source) in sources.enumerated() { index.add(number, (source.xWindow, source.yWindow)) }
            self.index = index
        }

        /// The source whose centre is nearest, and its distance.
        func nearest(x: Double, y: Double) -> (source: Source, distance: Double)? {
            index.near((x, y)).map { number -> (source: Source, distance: Double) in
                let (dx, dy) = (sources[number].xWindow - x, sources[number].yWindow - y)
                return (sources[number], (dx * dx + dy * dy).squareRoot())
            }.min { $0.distance < $1.distance }
        }

        /// Whether the source is no wider than a star.
        func isPoint(_ source: Source) -> Bool {
            source.fwhm > 0 && source.fwhm < ChangeClassifier.widestStar * seeing
        }
    }

    /// The largest width of a star in units of the seeing.
    private static let widestStar = 1.3
    /// The distance from a galaxy's centre within which light counts as the galaxy's, in half-light radii; below, the largest
    /// such distance in pixels.
    private static let hostRadii = 2.5
    private static let hostReach = 40.0

    init(new: Catalogue, old: Catalogue, pair: EpochPair) {
        self.new = Side(new, seeing: pair.newSeeing, reach: Self.hostReach)
        self.old = Side(old, seeing: pair.oldSeeing, reach: Self.hostReach)
    }

    /// The row of a candidate.
    func change(_ candidate: DifferenceCandidate) -> EpochChange {
        let brighter = candidate.significance > 0
        // A source that appears is compared with the old image's sources, and one that vanishes with those that are left.
        let side = brighter ? old : new
        let place = brighter ? (x: candidate.xOld, y: candidate.yOld) : (x: candidate.x, y: candidate.y)
        let found = side.nearest(x: place.x, y: place.y)
        let rest = brighter ? candidate.fluxOld / candidate.fluxOldError : candidate.fluxNew / candidate.fluxNewError
        let gone: EpochChange.Kind = brighter ? .appeared : .vanished
        guard let found else { return EpochChange(candidate, kind: gone, isOnSource: false) }
        let tolerance = min(max(3 * candidate.positionError + 0.3, 1), 0.6 * side.seeing)
        if found.distance <= tolerance, rest > 3, side.isPoint(found.source) {
            return EpochChange(candidate, kind: .changed, isOnSource: true)
        }
        let isOn = found.distance < Self.hostRadii * max(found.source.halfLightRadius, side.seeing / 2)
        let isOnSource = isOn && rest > 3
        return EpochChange(candidate, kind: !brighter && isOnSource ? .faded : gone, isOnSource: isOnSource)
    }
}
