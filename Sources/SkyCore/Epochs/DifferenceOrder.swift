/// What one sector's comparison has to be told: some kilobytes, besides the two images and their backgrounds.
public struct DifferenceOrder: Hashable, Codable, Sendable {
    /// Of the new image.
    public let sector: Sector
    /// Where the old image's pixels are.
    let alignment: EpochAlignment
    /// New over old flux in the middle of the sector.
    let ratio: Double
    /// Full widths at half maximum of the stars, in pixels.
    let newSeeing: Double
    let oldSeeing: Double
    /// Values from which pixels are saturated; `nil` for none.
    let newSaturation: Double?
    let oldSaturation: Double?
    /// Electrons per unit of the new image; 0 where unknown.
    let gain: Double
    /// The old image's size.
    let oldInfo: ImageInfo
    /// The stars that show how the seeing differs, brightest first; a few may lie outside the sector.
    let stars: [ReferenceStar]
    /// Stars to be put into the sector's new image, to see whether they are found.
    let injected: [InjectedChange]
    /// Their full width at half maximum in pixels, where the image's own stars do not show how they look: what was measured, whatever
    /// somebody says.
    let injectedWidth: Double
    /// Whether they have that width whatever the stars show: those may be galaxies.
    let injectsNarrowest: Bool
    /// Where the random numbers of their photons start.
    let injectionSeed: UInt64
    /// Whether the difference itself is to be told, pixel by pixel.
    var tellsPixels: Bool?
}
