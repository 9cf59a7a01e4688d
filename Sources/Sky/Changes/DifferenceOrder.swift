/// What one sector's comparison has to be told: some kilobytes, besides the two images and their backgrounds.
public struct DifferenceOrder: Hashable, Codable, Sendable {
    /// Of the new image.
    public let sector: Sector
    /// Where the old image's pixels are.
    package let alignment: EpochAlignment
    /// New over old flux in the middle of the sector.
    package let ratio: Double
    /// Full widths at half maximum of the stars, in pixels.
    package let newSeeing: Double
    package let oldSeeing: Double
    /// Values from which pixels are saturated; `nil` for none.
    package let newSaturation: Double?
    package let oldSaturation: Double?
    /// Electrons per unit of the new image; 0 where unknown.
    package let gain: Double
    /// The old image's size.
    package let oldInfo: ImageInfo
    /// The stars that show how the seeing differs, brightest first; a few may lie outside the sector.
    package let stars: [ReferenceStar]
    /// Stars to be put into the sector's new image, to see whether they are found.
    package let injected: [InjectedChange]
    /// Their full width at half maximum in pixels, where the image's own stars do not show how they look: what was measured, whatever
    /// somebody says.
    let injectedWidth: Double
    /// Whether they have that width whatever the stars show: those may be galaxies.
    let injectsNarrowest: Bool
    /// Where the random numbers of their photons start.
    let injectionSeed: UInt64
    /// Whether the difference itself is to be told, pixel by pixel.
    package var tellsPixels: Bool?
}
