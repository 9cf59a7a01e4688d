/// What the comparison of one sector found.
public struct DifferenceResult: Hashable, Codable, Sendable {
    /// Index of the sector in the new image's grid.
    public var sector: Int
    /// What differs, strongest first.
    public var candidates: [DifferenceCandidate]
    /// Candidates that were refused, by reason.
    public var refused: RefusalCounts
    /// Candidates beyond the limit of a sector, which were not listed.
    public var omitted: Int
    /// Pixels of the core that both images have, and of the core in all.
    public var comparedPixels: Int
    public var corePixels: Int
    /// Stars that the seeing was matched with; 0 where a Gaussian had to do.
    public var stars: Int
    /// What became of injected stars; those where one of the images has nothing are left out.
    public var injected: [InjectedChange.Outcome]
    /// The difference itself, where it was asked for and both images have something.
    public var planes: DifferencePlanes?

    /// Why a difference is none.
    public enum Refusal: String, Hashable, Codable, Sendable, CaseIterable {
        /// Beside a bright star that moved by a fraction of a pixel: as much too dark as too bright.
        case dipole
        /// Too sharp or too ragged for a point source: a cosmic ray, a bad pixel, a trail.
        case shape
        /// Beside pixels that one image has not, or that are saturated.
        case edge
        /// Light that does not end: a halo, a gradient.
        case surroundings
        /// In one column or row of the detector with others.
        case line
    }

    /// Most candidates of a sector: more say that something is wrong with the images and not with the sky.
    static let mostCandidates = 1000

    package init(sector: Int, corePixels: Int) {
        self.sector = sector
        self.corePixels = corePixels
        (candidates, refused, omitted, comparedPixels, stars) = ([], RefusalCounts(), 0, 0, 0)
        injected = []
    }
}
