import Base

/// A rendered frame, what was painted into it, and the header that describes it.
public struct SyntheticSky: Sendable {
    /// Columns.
    public let width: Int
    /// Rows.
    public let height: Int
    /// ADU, row by row, `width` times `height` values.
    public let pixels: [Float]
    /// How the pixels are stored in the file.
    public let format: PixelFormat
    /// Everything in the frame: stars, galaxies, transients, movers, trails, cosmic rays.
    public let truth: [TruthSource]
    /// The header's cards after the mandatory ones.
    public let header: [FITSCard]

    /// Writes the frame as a FITS file and its truth beside it (`field.fits` and
    /// `field_truth.csv`). Each file appears whole or not at all.
    ///
    /// - Returns: the name of the truth file.
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
