import Base

/// One image to scan.
package struct SkyRequest: Codable, Sendable {
    package var image: ImageReference
    package var configuration: ScanConfiguration
    /// Longest side of the picture in pixels; `nil` for no picture.
    package var pictureSide: Int?
    /// Whether the node that draws the picture encodes it (JPEG), as the command can read it. `nil` as `false`, in requests of
    /// versions before 0.2.
    package var encodesPicture: Bool?
    /// The check images that are written beside the catalogue; `nil` for none.
    package var checkImages: [CheckImage]?
    /// Whether results of earlier scans may answer; `nil` as `true`.
    package var usesCache: Bool?
    /// What the user plans after the scan, so that a scan that would be useless for it can be avoided; `nil` for nothing.
    package var purpose: ScanPurpose?
    /// Whether the picture is drawn before the sectors are scanned, so that no node waits for it at the end. `nil` as `false`, in
    /// requests of versions before 0.2, whose jobs number their tasks in the other order.
    package var drawsFirst: Bool?
    /// The sector whose first attempt fails, as a rehearsal; `nil` for none.
    package var failSector: Int?

    package init(image: ImageReference, configuration: ScanConfiguration) {
        self.image = image
        self.configuration = configuration
        (drawsFirst, encodesPicture) = (true, true)
    }

    /// - Throws: `SkyError` of kind `badInput`, in the words of the command line.
    package func validate() throws(SkyError) {
        try configuration.validate()
        // This check comes first, because its error names the option that the user gave.
        try image.injection?.validate()
        try purpose?.validate()
        try validateDetection()
        try image.validate()
        if let pictureSide, !ImagePreview.sides.contains(pictureSide) {
            throw SkyError(
                .badInput, "the side of a picture must lie between 16 and \(ImagePreview.largestSide) pixels")
        }
        if let checkImages, checkImages.isEmpty || Set(checkImages).count != checkImages.count {
            throw SkyError(.badInput, "check images are named once each")
        }
        if let failSector, !(0..<SectorGrid.sectorLimit).contains(failSector) {
            throw SkyError(.badInput, "--fail-sector takes a number from 1 to \(SectorGrid.sectorLimit)")
        }
    }
}
