/// What the comparison of one sector found.
public struct DifferenceResult: Hashable, Codable, Sendable {
    /// Index of the sector in the new image's grid.
    public var sector: Int
    /// The differences, strongest first.
    public var candidates: [DifferenceCandidate]
    /// Candidates that were refused, by reason.
    public var refused: RefusalCounts
    /// Candidates beyond the limit of a sector, which were not listed.
    public var omitted: Int
    /// The number of pixels of the core that both images have; below, the number of all pixels of the core.
    public var comparedPixels: Int
    public var corePixels: Int
    /// The number of stars that matched the seeing; 0 if a Gaussian was used instead.
    public var stars: Int
    /// The outcomes of injected stars; stars where one of the images has no pixels are left out.
    public var injected: [InjectedChange.Outcome]
    /// The difference itself, if the order asks for it and both images have pixels.
    public var planes: DifferencePixels?

    /// Why a difference is not a change.
    public enum Refusal: String, Hashable, Codable, Sendable, CaseIterable {
        /// It is beside a bright star that moved by a fraction of a pixel: as much too dark as too bright.
        case dipole
        /// It is too sharp or too ragged for a point source: a cosmic ray, a bad pixel, a trail.
        case shape
        /// It is beside pixels that one image does not have, or that are saturated.
        case edge
        /// Its light has no end: a halo, a gradient.
        case surroundings
        /// It is in one column or row of the detector with others.
        case line
    }

    /// The largest number of candidates of a sector. More candidates show that something is wrong with the images and not with
    /// the sky.
    static let mostCandidates = 1000

    package init(sector: Int, corePixels: Int) {
        self.sector = sector
        self.corePixels = corePixels
        (candidates, refused, omitted, comparedPixels, stars) = ([], RefusalCounts(), 0, 0, 0)
        injected = []
    }
}
