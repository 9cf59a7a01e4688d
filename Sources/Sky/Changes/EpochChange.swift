import Glibc

/// A source that has changed: one row of a comparison's table.
///
/// Both fluxes are in the new image's units: the old image's flux is multiplied with the ratio of sensitivities.
public struct EpochChange: Hashable, Codable, Sendable {
    /// What happened.
    public enum Kind: String, Hashable, Codable, Sendable, CaseIterable {
        /// A point source where there was none, alone or on a galaxy.
        case appeared
        /// A point source that has vanished, alone or from its galaxy.
        case vanished
        /// Fainter by the light of a point source, on a source that is still there, such as a supernova before its galaxy.
        case faded
        /// A point source in both images whose flux has changed.
        case changed
        /// A point source that is in another place.
        case moved
    }

    public var kind: Kind
    /// Place in the new image, pixels counted from 1.
    public var x: Double
    public var y: Double
    /// Place in the old image, pixels counted from 1: the same point of the sky, or the earlier place of a moved source.
    public var xOld: Double
    public var yOld: Double
    /// Right ascension and declination of the place in the new image, in degrees; `nil` without a WCS.
    public var alpha: Double?
    public var delta: Double?
    /// Error of the place along one axis in pixels, 1 sigma.
    public var positionError: Double
    /// The fluxes at the place in the two images, and their errors (1 sigma), including the light under the source. For a moved
    /// source they are those at its two places.
    public var fluxNew: Double
    public var fluxNewError: Double
    public var fluxOld: Double
    public var fluxOldError: Double
    /// By how much the point source itself has become brighter, negative for fainter; below, the error.
    public var fluxDifference: Double
    public var fluxDifferenceError: Double
    /// `fluxDifference` in units of its error. For a moved source it is that of its appearance.
    public var significance: Double
    /// Whether it lies on a source that both images have: a galaxy, or a star that changes.
    public var isOnSource: Bool
    /// The rate of a moved source in arcseconds an hour. It is in pixels if the images have no WCS, and per interval between
    /// images if their times are not known.
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

    /// A flux as a magnitude, or a lower limit of the magnitude if the source is not seen.
    public struct Magnitude: Hashable, Sendable {
        /// The magnitude; for an unseen source that of three times the flux's error.
        public var value: Double
        /// The error (1 sigma); `nil` for an unseen source.
        public var error: Double?
    }

    /// Pogson's magnitude of a flux with its error to first order. Below three sigma it is a limit; without an error it is
    /// `nil`.
    ///
    /// - Parameter zeroPoint: The magnitude of one unit of flux in the new image.
    public static func magnitude(_ flux: Double, _ error: Double, zeroPoint: Double) -> Magnitude? {
        guard flux.isFinite, error.isFinite, error > 0 else { return nil }
        if flux < 3 * error { return Magnitude(value: zeroPoint - 2.5 * log10(3 * error), error: nil) }
        return Magnitude(value: zeroPoint - 2.5 * log10(flux), error: 2.5 / log(10.0) * error / flux)
    }
}
