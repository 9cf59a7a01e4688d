import Base

/// A rendered frame, the sources that were painted into it, and the header that describes it.
public struct SyntheticSky: Sendable {
    /// Columns.
    public let width: Int
    /// Rows.
    public let height: Int
    /// The values in ADU, row by row, `width` times `height` of them.
    public let pixels: [Float]
    /// How the pixels are stored in the file.
    public let format: PixelFormat
    /// The truth: stars, galaxies, transients, movers, trails, cosmic rays.
    public let truth: [TruthSource]
    /// The header's cards after the mandatory ones.
    public let header: [FITSCard]

    /// Writes the frame as a FITS file and its truth beside it (`field.fits` and `field_truth.csv`). Each file appears
    /// completely or not at all.
    ///
    /// - Returns: The name of the truth file.
    /// - Throws: `SkyError` naming the file and the reason.
    @discardableResult
    public func write(to path: String) throws(SkyError) -> String {
        try FITSWriter.write(to: path) { writer in
            let coding = PixelCoding(format, for: pixels)
            writer.image(width: width, height: height, coding: coding)
            for card in header { writer.card(card) }
            writer.pixels(pixels, coding: coding)
        }
        let truthPath = TruthCatalogue.path(beside: path)
        try TruthCatalogue.write(truth, to: truthPath)
        return truthPath
    }
}
