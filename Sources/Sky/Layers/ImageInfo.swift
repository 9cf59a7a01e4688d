/// What an image's header tells: enough to cut the image into sectors.
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
    /// Why sources get no coordinates although the header has some, in one line of words; `nil` if they get them, or if the
    /// header has none.
    public var missingCoordinates: String?
    /// The header's cards without END, 80 characters each; `nil` if only the rest matters.
    public var header: [String]?
    /// The HDUs of the file's images of the sky from this one on; `nil` if only this one matters.
    public var images: [Int]?
    /// The images of the file that are not scanned because they seem to be weights, errors and the like, in words.
    public var auxiliaries: [String]?
    /// The cube that the HDU holds, if it has more than one plane.
    public var cube: ImageCube?
    /// The part of the HDU that the image is, with the scale that was found from its values; `nil` for all of its only plane.
    public var layer: ImageLayer?
    /// The circle of the sky that the image covers; `nil` if only the rest matters, or without coordinates.
    package var place: SkyCircle?
    /// The mask and the weights for the image in its own file, if the request asks for them and there are any.
    package var ownCompanions: Companions?
    /// What the file holds, if the request asks for it.
    public var content: FileContent?
    /// The contents of the noise image's file and the mask's file, and the HDU of each.
    public var noiseContent: FileContent?
    public var noiseHDU: Int?
    public var maskContent: FileContent?
    public var maskHDU: Int?
    /// The image in which its sources are found, if that is another one.
    public var detection: FoundDetection?
    /// The node that read the header, if it can read pixels for other nodes.
    package var holder: PixelHolder?

    public init(width: Int, height: Int, bitpix: Int, hdu: Int, hasWCS: Bool) {
        self.width = width
        self.height = height
        self.bitpix = bitpix
        self.hdu = hdu
        self.hasWCS = hasWCS
    }
}

extension ImageInfo {
    /// The largest number of pixels of an image: SEP counts them in 32 bits.
    static let pixelLimit = Int(Int32.max)

    /// Whether an image may have this size; safe for any numbers.
    package static func canBeScanned(width: Int, height: Int) -> Bool {
        let (count, overflow) = width.multipliedReportingOverflow(by: height)
        return width > 0 && height > 0 && !overflow && count < pixelLimit
    }

    /// Whether `rect` is a non-empty part of the image; safe for any numbers.
    package func contains(_ rect: PixelRect) -> Bool {
        rect.isInside(width: width, height: height)
    }
}
