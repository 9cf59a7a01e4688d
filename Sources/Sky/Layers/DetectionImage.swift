import Base

/// The image on which sources are found, where that is another than the one on which they are measured (SExtractor's dual-image
/// mode).
///
/// Positions, shapes, footprints, CLEAN and the Kron radius are the detection image's, everything else the measured image's.
/// Weights and masks belong to the measured image; nobody says how much a pixel of this one is worth.
package struct DetectionImage: Codable, Sendable {
    /// The file; when it has been looked at, with the HDU, the layer and the contents that were found.
    package var image: Companions.Image
    /// What lies beneath its sources; `nil` until it has been measured.
    package var background: BackgroundMap?

    package init(_ image: Companions.Image) { self.image = image }

    /// As one that is scanned by itself: its background is measured like any image's, and is found among earlier results.
    package func reference(holder: PixelHolder?) -> ImageReference {
        var reference = ImageReference(path: image.path, hdu: image.hdu, layer: image.layer, content: image.content)
        reference.holder = holder
        return reference
    }

    /// The file, as a catalogue names it.
    package func file(_ info: ImageInfo) -> CatalogueTable.CompanionFile {
        CatalogueTable.CompanionFile(
            keyword: CatalogueTable.CompanionFile.detection, path: image.path,
            digest: info.detection?.content?.hexadecimal)
    }

    /// Checked as each image of a message is.
    package func validate() throws(SkyError) {
        try ImageReference.validate(path: image.path, hdu: image.hdu)
        try image.layer?.validate()
        try image.content?.validate()
        try SkyError.unless(
            image.layer?.bayer == nil && image.layer?.flags == nil && image.layer?.scale == nil,
            "a detection image is a plane, not a colour, a mask or scaled values")
    }
}

/// What a look at a detection image found.
public struct FoundDetection: Hashable, Codable, Sendable {
    /// The HDU that holds it.
    public var hdu: Int
    /// What of the HDU it is; `nil` for all of its only plane, or the first.
    public var layer: ImageLayer?
    /// What the file holds.
    public var content: FileContent?

    package func validate() throws(SkyError) {
        try SkyError.unless(ImageInfo.hdus.contains(hdu), "an HDU that cannot be asked for")
        try layer?.validate()
        try content?.validate()
    }
}
