import Base

/// An image with the sources that were found in it, as a JPEG file.
public struct Picture: Sendable {
    private(set) var raster: Raster
    /// Picture pixels along one side of a preview pixel.
    private let scale: Int
    /// Image pixels along one side of a preview pixel.
    private let binning: Int

    /// Small images are enlarged until their longest side has this many pixels, so that the marks can be told apart.
    private static let comfortableSide = 900
    /// Smallest semi-axis of a mark, in picture pixels.
    private static let smallestMark = 5.0
    /// The width of a mark's line, in picture pixels.
    private static let line = 1.3
    /// The number of pixels that a small mark covers.
    private static let markArea = 100.0
    /// Marks of larger semi-axes are drawn fainter: a few wide ellipses must not outshine what they surround.
    private static let wideMark = 30.0

    /// Sky blue and orange differ for colour-blind readers as well (Okabe and Ito 2008, "Color Universal Design").
    private static let clean = Raster.Ink(red: 0.34, green: 0.85, blue: 1, opacity: 0.9)
    private static let flagged = Raster.Ink(red: 1, green: 0.66, blue: 0.15, opacity: 0.9)
    private static let grid = Raster.Ink(red: 1, green: 1, blue: 1, opacity: 0.16)

    /// Draws the sources' Kron ellipses over the preview, flagged ones in a second colour, y upwards.
    ///
    /// - Parameter sectors: The sectors whose cores are outlined faintly; empty for none.
    /// - Throws: `SkyError` if the preview's size and pixels do not agree, or its file is damaged.
    public init(_ preview: ImagePreview, sources: [Source], sectors: [Sector] = []) throws(SkyError) {
        let greys = try preview.greys()
        binning = preview.binning
        let longest = max(preview.width, preview.height)
        scale = (Self.comfortableSide + longest - 1) / longest
        raster = Raster(width: preview.width * scale, height: preview.height * scale)
        drawImage(greys, width: preview.width)
        for sector in sectors { drawBorder(of: sector.core) }
        // Where marks are dense, fainter lines keep the stars visible.
        let covered = Double(sources.count) * Self.markArea / Double(raster.width * raster.height)
        let fade = Float(min(max(1.15 - covered, 0.45), 1))
        let rings = raster.rings(radius: Self.smallestMark, line: Self.line)
        for source in sources { draw(source, fade: fade, rings) }
    }

    /// Columns of the picture.
    public var width: Int { raster.width }
    /// Rows of the picture.
    public var height: Int { raster.height }

    /// The picture as a JPEG file.
    public func jpeg() throws(SkyError) -> [UInt8] { try JPEGCodec.encode(raster) }

    /// Writes the picture completely, or not at all.
    ///
    /// - Parameter overwriting: Whether it takes the place of any file, and not only of an earlier picture.
    /// - Throws: `SkyError` naming the file and the reason.
    public func write(to path: String, overwriting: Bool = false) throws(SkyError) {
        try AtomicFile.write(jpeg(), to: path, as: .picture, overwrites: overwriting)
    }

    private mutating func drawImage(_ greys: [UInt8], width: Int) {
        for y in 0..<raster.height {
            let row = (raster.height - 1 - y) / scale * width
            raster.setGreys(greys[row..<row + width], scale: scale, y: y)
        }
    }

    /// Picture pixels along one side of an image pixel.
    private var magnification: Double { Double(scale) / Double(binning) }

    private mutating func draw(_ source: Source, fade: Float, _ smallest: RingStamps) {
        guard var mark = SourceEllipse(source, minimumRadius: 0) else { return }
        // FITS counts from the centre of the first pixel, which is 1 and at the bottom; the raster counts from the top, at 0.
        mark.x = (mark.x - 0.5) * magnification - 0.5
        mark.y = Double(raster.height) - (mark.y - 0.5) * magnification - 0.5
        mark.major = max(mark.major * magnification, Self.smallestMark)
        mark.minor = max(mark.minor * magnification, Self.smallestMark)
        mark.degrees = -mark.degrees
        var ink = source.flags == 0 ? Self.clean : Self.flagged
        ink.opacity *= fade * Float(max(min(Self.wideMark / mark.major, 1), 0.3))
        if mark.major == Self.smallestMark, mark.minor == Self.smallestMark {
            raster.stroke(smallest, x: mark.x, y: mark.y, ink: ink)
        } else {
            raster.stroke(mark, line: Self.line, ink: ink)
        }
    }

    /// Draws the right and the upper border of a core; the other borders belong to its neighbours or are the picture's own.
    private mutating func drawBorder(of core: PixelRect) {
        let columns = span(core.x, core.width)
        let rows = span(core.y, core.height)
        if columns.upperBound < raster.width {
            for row in rows { blendGrid(column: columns.upperBound, row: row) }
        }
        if rows.upperBound < raster.height {
            for column in columns { blendGrid(column: column, row: rows.upperBound) }
        }
    }

    private mutating func blendGrid(column: Int, row: Int) {
        raster.blend(Self.grid, coverage: 1, x: column, y: raster.height - 1 - row)
    }

    /// The picture's pixels along one axis of a core, limited to those that any picture has, because a core may have invalid
    /// numbers.
    private func span(_ start: Int, _ size: Int) -> Range<Int> {
        func place(_ position: Double) -> Int {
            Int(min(max(position * magnification, 0), Double(ImagePreview.largestSide)))
        }
        let first = place(Double(start))
        return first..<max(place(Double(start) + Double(size)), first)
    }
}
