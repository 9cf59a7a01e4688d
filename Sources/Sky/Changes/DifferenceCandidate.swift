/// A place where the images differ in the way that a point source causes.
public struct DifferenceCandidate: Hashable, Codable, Sendable {
    /// Pixels of the new image, counted from 1.
    public var x: Double
    public var y: Double
    /// The same place in the old image, counted from 1.
    public var xOld: Double
    public var yOld: Double
    /// Right ascension and declination in degrees; `nil` without a WCS.
    public var alpha: Double?
    public var delta: Double?
    /// Error of the position along one axis in pixels, 1 sigma.
    public var positionError: Double
    /// New minus old flux in the new image's units, and its error (1 sigma), of the point source alone and not of the light
    /// under it. The error is the one for no change at all: the source's own photons are not in it.
    public var fluxDifference: Double
    public var fluxDifferenceError: Double
    /// Fluxes at the place in both images, in the new image's units, and their errors.
    public var fluxNew: Double
    public var fluxNewError: Double
    public var fluxOld: Double
    public var fluxOldError: Double
    /// The difference in units of its error, which includes the expected residual of bright neighbours; negative if the new
    /// image is fainter.
    public var significance: Double
}
