import Base

/// Which numbers of an HDU are the image, and how they become its pixels.
///
/// It travels with every task and belongs to the key of its result, because two layers of one HDU are two images.
public struct ImageLayer: Hashable, Codable, Sendable {
    /// The plane of a cube, from 1; `nil` for the only one, or the first. With more than three axes the third counts fastest.
    public var plane: Int?
    /// One colour of a colour camera's frame; `nil` for all pixels.
    public var bayer: BayerGrid?
    /// The values of a mask that mark a bad pixel; the pixels are 1 there and 0 elsewhere. `nil` for any other image.
    package var flags: MaskRule?
    /// How the values become pixels if 32-bit floats cannot hold them; `nil` if they can.
    package var scale: PixelScale?

    /// The numbers of planes that a request may name.
    public static let planes = 1...1_000_000

    /// A layer that is a plane, or a colour of one. By default it is all pixels of the only plane, or of the first.
    public init(plane: Int? = nil, bayer: BayerGrid? = nil) {
        (self.plane, self.bayer) = (plane, bayer)
    }

    /// Whether the layer is all pixels of the only plane, or of the first.
    public var isPlain: Bool { self == ImageLayer() }

    /// The words that follow an image's name: `[plane 2]`, `[G1]`.
    package var words: String {
        (plane.map { "[plane \($0)]" } ?? "") + (bayer.map { "[\($0.colour.rawValue)]" } ?? "")
    }

    /// The same plane and colour of a companion of this image.
    var ofCompanion: ImageLayer { ImageLayer(plane: plane, bayer: bayer) }

    /// - Throws: `.badInput` with the limits, in the words of the command line.
    package func validate() throws(SkyError) {
        if let plane, !ImageLayer.planes.contains(plane) {
            throw SkyError(
                .badInput,
                "plane \(plane): it must be \(ImageLayer.planes.lowerBound) to \(ImageLayer.planes.upperBound)")
        }
        try flags?.validate()
        try scale?.validate()
    }
}
