import Glibc

/// A source that is not what it was: one row of a comparison's table.
///
/// Fluxes are in the new image's units, both of them: the old image's are multiplied with the ratio of sensitivities.
public struct EpochChange: Hashable, Codable, Sendable {
    /// What happened.
    public enum Kind: String, Hashable, Codable, Sendable, CaseIterable {
        /// A point source where there was none, or on a galaxy.
        case appeared
        /// A point source that is gone, or gone from its galaxy.
        case vanished
        /// Fainter by a point source's light, on something that is still there: a supernova before its galaxy, say.
        case faded
        /// A point source of both images with another flux.
        case changed
        /// A point source that is elsewhere.
        case moved
    }

    public var kind: Kind
    /// Place in the new image, pixels counted from 1.
    public var x: Double
    public var y: Double
    /// Place in the old image, pixels counted from 1: that of the same point of the sky, and of a moved source where it was.
    public var xOld: Double
    public var yOld: Double
    /// Right ascension and declination of the place in the new image, in degrees; `nil` without a WCS.
    public var alpha: Double?
    public var delta: Double?
    /// Error of the place along one axis in pixels, 1 sigma.
    public var positionError: Double
    /// Fluxes at the place in the two images, and their errors (1 sigma), with whatever lies under the source. Of a moved
    /// source, at its places.
    public var fluxNew: Double
    public var fluxNewError: Double
    public var fluxOld: Double
    public var fluxOldError: Double
    /// What the point source itself has become brighter, negative for fainter, and the error.
    public var fluxDifference: Double
    public var fluxDifferenceError: Double
    /// `fluxDifference` in units of its error. Of a moved source, that of its appearance.
    public var significance: Double
    /// Whether it lies on a source that both images have: a galaxy, or a star that changes.
    public var isOnSource: Bool
    /// Of a moved source, in arcseconds an hour; in pixels where the images have no WCS, and for an interval between images
    /// where their times are not known.
    public var rate: Double?
    /// Direction of the motion in degrees from north through east; from the old image's y axis towards -x without a WCS.
    public var positionAngle: Double?
    /// Number of the track that joins three or more images, from 1.
    public var track: Int?

    package init(_ candidate: DifferenceCandidate, kind: Kind, isOnSource: Bool) {
        self.kind = kind
        self.isOnSource = isOnSource
        (x, y, xOld, yOld) = (candidate.x, candidate.y, candidate.xOld, candidate.yOld)
        (alpha, delta, positionError) = (candidate.alpha, candidate.delta, candidate.positionError)
        (fluxNew, fluxNewError) = (candidate.fluxNew, candidate.fluxNewError)
        (fluxOld, fluxOldError) = (candidate.fluxOld, candidate.fluxOldError)
        (fluxDifference, fluxDifferenceError) = (candidate.fluxDifference, candidate.fluxDifferenceError)
        significance = candidate.significance
    }

    /// A flux as a magnitude, or what it must at least be where the source is not seen.
    public struct Magnitude: Hashable, Sendable {
        /// Magnitude; of an unseen source that of three errors' flux.
        public var value: Double
        /// 1 sigma; `nil` of an unseen source.
        public var error: Double?
    }

    /// Pogson's magnitude of a flux with its error to first order; a limit below three sigma; `nil` without an error.
    ///
    /// - Parameter zeroPoint: magnitude of one unit of flux in the new image.
    public static func magnitude(_ flux: Double, _ error: Double, zeroPoint: Double) -> Magnitude? {
        guard flux.isFinite, error.isFinite, error > 0 else { return nil }
        if flux < 3 * error { return Magnitude(value: zeroPoint - 2.5 * log10(3 * error), error: nil) }
        return Magnitude(value: zeroPoint - 2.5 * log10(flux), error: 2.5 / log(10.0) * error / flux)
    }
}
