/// A source that moves straight and evenly through three or more images.
public struct MoverTrack: Hashable, Codable, Sendable {
    /// The number of the track, from 1; the rows of the comparisons that belong to it have the same number.
    public var number: Int
    /// The rate in arcseconds an hour; in pixels without a WCS, and per interval between two images without times.
    public var rate: Double
    /// The direction in degrees from north through east.
    public var positionAngle: Double
    /// The images in which the source was seen: 0 for the reference, then those of the comparisons in their order, from 1.
    public var epochs: [Int]
    /// Mean flux in the reference's units, and its error.
    public var flux: Double
    public var fluxError: Double
    /// Mean square distance of the places from the straight line, in units of their errors.
    public var misfit: Double
}
