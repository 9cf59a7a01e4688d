/// The pixels of a source, as runs along lines.
package struct Footprint: Hashable, Codable, Sendable {
    /// The source to which the pixels belong.
    package var source: Key
    /// Row and first column in the image, counted from 0, and length of each run.
    package var runs: [Int32]

    /// A key that distinguishes a source from others before sources are numbered. It is the same in every sector that saw the
    /// source.
    package struct Key: Hashable, Codable, Sendable {
        package var x: Double
        package var y: Double
        package var flux: Double
        package var area: Int

        package init(_ source: Source) { (x, y, flux, area) = (source.x, source.y, source.fluxIsophotal, source.area) }
    }

    /// - Parameters:
    ///   - pixels: Indices into `rect`, a rectangle of the image.
    init(_ source: Source, pixels: ArraySlice<Int32>, rect: PixelRect) {
        self.source = Key(source)
        runs = []
        let width = Int32(clamping: rect.width)
        var (start, length) = (Int32(-1), Int32(0))
        func close() {
            guard length > 0 else { return }
            runs += [start / width + Int32(clamping: rect.y), start % width + Int32(clamping: rect.x), length]
        }
        for pixel in pixels.sorted() {
            if pixel == start + length, length > 0, pixel % width != 0 {
                length += 1
            } else {
                close()
                (start, length) = (pixel, 1)
            }
        }
        close()
    }

    /// Calls `body` with the place in the image, row by row, of every pixel of an image of `width` columns.
    func forEachPixel(width: Int, _ body: (Int) -> Void) {
        for place in stride(from: 0, to: runs.count, by: 3) {
            let first = Int(runs[place]) * width + Int(runs[place + 1])
            for index in first..<first + Int(runs[place + 2]) { body(index) }
        }
    }
}
