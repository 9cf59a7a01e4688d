/// What the comparison of one sector needs beside the two images and their backgrounds: some kilobytes.
public struct DifferenceOrder: Hashable, Codable, Sendable {
    /// The sector of the new image.
    public let sector: Sector
    /// The map from pixels of the new image to those of the old one.
    package let alignment: EpochAlignment
    /// New over old flux in the middle of the sector.
    package let ratio: Double
    /// Full widths at half maximum of the stars, in pixels.
    package let newSeeing: Double
    package let oldSeeing: Double
    /// The values from which pixels are saturated; `nil` for none.
    package let newSaturation: Double?
    package let oldSaturation: Double?
    /// Electrons per unit of the new image; 0 if it is unknown.
    package let gain: Double
    /// The old image's size.
    package let oldInfo: ImageInfo
    /// The stars that show how the seeing differs, brightest first; a few may lie outside the sector.
    package let stars: [ReferenceStar]
    /// Stars to be added to the sector's new image, to see whether they are found.
    package let injected: [InjectedChange]
    /// The full width at half maximum of these stars in pixels, if the image's own stars do not show their shape. It is the
    /// measured width, even if the user gave another one.
    let injectedWidth: Double
    /// Whether these stars have that width regardless of the image's own stars, because those may be galaxies.
    let injectsNarrowest: Bool
    /// The seed of the random numbers of their photons.
    let injectionSeed: UInt64
    /// Whether the result should have the difference itself, pixel by pixel.
    package var tellsPixels: Bool?
}
