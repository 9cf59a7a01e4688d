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

    /// Writes the frame as a FITS file and its truth beside it (`field.fits` and `field_truth.csv`). Both appear completely, or
    /// neither does.
    ///
    /// - Parameter overwriting: Whether they take the places of any files, and not only of an earlier frame and its truth.
    /// - Returns: The name of the truth file.
    /// - Throws: `SkyError` naming the file and the reason.
    @discardableResult
    public func write(to path: String, overwriting: Bool = false) throws(SkyError) -> String {
        let files = StagedFiles(overwrites: overwriting)
        try FITSWriter.write(to: path, as: .frame, among: files) { writer in
            let coding = PixelCoding(format, for: pixels)
            writer.image(width: width, height: height, coding: coding)
            for card in header { writer.card(card) }
            writer.pixels(pixels, coding: coding)
        }
        let truthPath = TruthCatalogue.path(beside: path)
        try files.write(TruthCatalogue.bytes(truth), to: truthPath, as: .truth)
        try files.place()
        return truthPath
    }
}

extension OutputKind {
    /// A synthetic frame.
    package static let frame = OutputKind("synthetic frame", isFITS: true) { start in
        start.headers(1).contains { cards in cards.contains { $0.hasSuffix("/ " + FrameHeader.mark) } }
    }
}
