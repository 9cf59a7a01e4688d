import Base

/// The image in which sources are found, if it differs from the one in which they are measured (SExtractor's dual-image mode).
///
/// Positions, shapes, footprints, CLEAN and the Kron radius come from the detection image, everything else from the measured
/// image. Weights and masks belong to the measured image; the detection image has none.
package struct DetectionImage: Codable, Sendable {
    /// The file. Once its header has been read, the HDU, the layer and the content are known too.
    package var image: Companions.Image
    /// The background beneath its sources; `nil` until it has been measured.
    package var background: BackgroundMap?

    package init(_ image: Companions.Image) { self.image = image }

    /// The same image as one that is scanned by itself. So its background is measured like any image's, and can be found among
    /// earlier results.
    package func reference(holder: PixelHolder?) -> ImageReference {
        var reference = ImageReference(path: image.path, hdu: image.hdu, layer: image.layer, content: image.content)
        reference.holder = holder
        return reference
    }

    /// Checks it as each image of a message is checked.
    package func validate() throws(SkyError) {
        try ImageReference.validate(path: image.path, hdu: image.hdu)
        try image.layer?.validate()
        try image.content?.validate()
        try SkyError.unless(
            image.layer?.bayer == nil && image.layer?.flags == nil && image.layer?.scale == nil,
            "a detection image is a plane, not a colour, a mask or scaled values")
    }
}

/// What the header of a detection image tells.
public struct FoundDetection: Hashable, Codable, Sendable {
    /// The HDU that holds it.
    public var hdu: Int
    /// The part of the HDU that it is; `nil` for all of the only plane, or of the first.
    public var layer: ImageLayer?
    /// What the file holds.
    public var content: FileContent?

    package func validate() throws(SkyError) {
        try SkyError.unless(ImageInfo.hdus.contains(hdu), "an HDU that cannot be asked for")
        try layer?.validate()
        try content?.validate()
    }
}
