/// What a look at an image's header tells: enough to cut it into sectors.
public struct ImageInfo: Hashable, Codable, Sendable {
    /// Columns (`NAXIS1`).
    public var width: Int
    /// Rows (`NAXIS2`).
    public var height: Int
    /// Number type on disk (`BITPIX`, after cfitsio's BSCALE/BZERO equivalence).
    public var bitpix: Int
    /// The HDU that holds the image, 0 for the primary.
    public var hdu: Int
    /// Whether a celestial WCS was found, so that sources get `ALPHA_J2000` and `DELTA_J2000`.
    public var hasWCS: Bool
    /// Why they get none although the header has some, in a line of words; `nil` where they do, or where it has none.
    public var missingCoordinates: String?
    /// The header's cards but END, 80 characters each; `nil` where only the rest matters.
    public var header: [String]?
    /// Images of the sky in the file, by HDU, from this one on; `nil` where only this one matters.
    public var images: [Int]?
    /// Images in it that are not scanned, as they are taken for weights, errors and the like, in words.
    public var auxiliaries: [String]?
    /// What the HDU holds where that is more than one plane.
    public var cube: ImageCube?
    /// What of the HDU the image is, with what had to be found out first; `nil` for all of its only plane.
    public var layer: ImageLayer?
    /// Where it lies in the sky; `nil` where only the rest matters, and without coordinates.
    package var place: SkyCircle?
    /// The mask and the weights that the file itself has for it, where they were asked for and there are any.
    package var ownCompanions: Companions?
    /// What the file holds, where that was asked for.
    public var content: FileContent?
    /// What the files of its noise image and its mask hold, and in which HDU.
    public var noiseContent: FileContent?
    public var noiseHDU: Int?
    public var maskContent: FileContent?
    public var maskHDU: Int?
    /// The image on which its sources are found, where that is another.
    public var detection: FoundDetection?
    /// The node that looked, where it can read pixels for others.
    package var holder: PixelHolder?

    public init(width: Int, height: Int, bitpix: Int, hdu: Int, hasWCS: Bool) {
        self.width = width
        self.height = height
        self.bitpix = bitpix
        self.hdu = hdu
        self.hasWCS = hasWCS
    }
}
