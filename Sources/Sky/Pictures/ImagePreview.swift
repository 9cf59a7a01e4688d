import Base

/// An image made small enough to look at: 8-bit grey, stretched for the eye.
public struct ImagePreview: Hashable, Codable, Sendable {
    /// Columns of the preview.
    public var width: Int
    /// Rows of the preview.
    public var height: Int
    /// Image pixels along one side of a preview pixel.
    public var binning: Int
    /// Grey values row by row; the first row is the image's first, at the bottom of a picture. None where `jpeg` has them.
    public var pixels: [UInt8]
    /// The grey values as a JPEG file, its upper row the image's first; `nil` where `pixels` has them.
    public var jpeg: [UInt8]?

    /// The largest side of a preview: 16 MiB of grey and 48 MiB of colour.
    static let largestSide = 4096
    /// The number of image pixels that are in memory at a time. They are still in the processor's cache when they are averaged,
    /// and no strip needs memory that the system has to clear first.
    private static let stripPixels = 1 << 17

    /// Reads the image in strips of rows, averages blocks of `binning` squared pixels, and stretches the result. Pixels without
    /// a value (NaN) do not count; a block of only such pixels is black.
    ///
    /// - Parameters:
    ///   - width: The number of columns of the image.
    ///   - height: The number of rows of the image.
    ///   - maximumSide: The longest side of the preview, 16 to 4096.
    ///   - read: A function that returns the pixels of a rectangle, row by row.
    /// - Throws: `SkyError` if the sizes are not valid or `read` fails.
    public init(
        width: Int, height: Int, maximumSide: Int = 1600, read: (PixelRect) throws(SkyError) -> [Float]
    ) throws(SkyError) {
        guard (16...Self.largestSide).contains(maximumSide) else {
            throw SkyError(
                .badInput, "the picture's side must be 16 to \(Self.largestSide) pixels, not \(maximumSide)")
        }
        guard width > 0, height > 0, width <= Int(Int32.max), height <= Int(Int32.max) else {
            throw SkyError(.badInput, "an image of \(width) x \(height) pixels cannot be drawn")
        }
        binning = (max(width, height) + maximumSide - 1) / maximumSide
        self.width = (width + binning - 1) / binning
        self.height = (height + binning - 1) / binning
        var means = [Float](repeating: .nan, count: self.width * self.height)
        var sums = [Float](repeating: 0, count: width)
        // A strip holds whole blocks, so that no block is split between two strips.
        let stripRows = max(Self.stripPixels / width / binning, 1) * binning
        for start in stride(from: 0, to: height, by: stripRows) {
            let rect = PixelRect(x: 0, y: start, width: width, height: min(stripRows, height - start))
            let strip = try read(rect)
            guard strip.count == rect.width * rect.height else {
                throw SkyError(.failed, "\(strip.count) pixels came for \(rect.width) x \(rect.height)")
            }
            Self.average(strip, binning: binning, sums: &sums, into: &means, fromRow: start / binning)
        }
        pixels = GreyStretch(samplesOf: means).apply(to: means)
    }

    /// Averages the blocks of a strip that begins with the preview's row `first`.
    ///
    /// - Parameter sums: Room for a row of the image.
    private static func average(
        _ strip: [Float], binning: Int, sums: inout [Float], into means: inout [Float], fromRow first: Int
    ) {
        let width = sums.count
        let columns = (width + binning - 1) / binning
        let rows = strip.count / width
        strip.withUnsafeBufferPointer { strip in
            for top in stride(from: 0, to: rows, by: binning) {
                let block = strip[top * width..<min(top + binning, rows) * width]
                // First down, for each column of the image, and then across: the first loop goes over whole rows, and is done
                // for several pixels at a time.
                for start in stride(from: block.startIndex, to: block.endIndex, by: width) {
                    add(strip[start..<start + width], to: &sums, isFirst: start == block.startIndex)
                }
                let target = (first + top / binning) * columns
                for column in 0..<columns {
                    let across = column * binning..<min((column + 1) * binning, width)
                    var sum = Float(0)
                    for index in across { sum += sums[index] }
                    let count = block.count / width * across.count
                    // The sum of a block with a NaN or an infinity is one, too.
                    means[target + column] = abs(sum) < 1e30 ? sum / Float(count) : mean(of: block, across, width)
                }
            }
        }
    }

    /// Adds the values of a row to the sums of their columns.
    private static func add(_ row: Slice<UnsafeBufferPointer<Float>>, to sums: inout [Float], isFirst: Bool) {
        let row = UnsafeBufferPointer(rebasing: row)
        sums.withUnsafeMutableBufferPointer { sums in
            let count = min(row.count, sums.count)
            if isFirst {
                for index in 0..<count { sums[index] = row[index] }
            } else {
                for index in 0..<count { sums[index] += row[index] }
            }
        }
    }

    /// The mean of the values in some columns of these rows, without those that are missing or as large as none is; NaN where
    /// all are.
    private static func mean(
        of rows: Slice<UnsafeBufferPointer<Float>>, _ columns: Range<Int>, _ width: Int
    ) -> Float {
        var (total, count) = (Float(0), Float(0))
        for column in columns {
            var sum = Float(0)
            for index in stride(from: rows.startIndex + column, to: rows.endIndex, by: width)
            where abs(rows[index]) < 1e30 {
                sum += rows[index]
                count += 1
            }
            total += sum
        }
        return count > 0 ? total / count : .nan
    }
}

extension ImagePreview {
    /// The sides that a request may ask for, in pixels.
    static let sides = 16...largestSide

    /// The same, with its pixels as a JPEG file: about a quarter of the bytes to send and to keep.
    ///
    /// - Throws: `SkyError` if size and pixels do not agree, or there is no memory for it.
    package func encoded() throws(SkyError) -> ImagePreview {
        guard jpeg == nil else { return self }
        var encoded = self
        encoded.jpeg = try JPEGCodec.encode(
            greys(), width: width, height: height, quality: JPEGCodec.draftQuality)
        encoded.pixels = []
        return encoded
    }

    /// The grey values row by row, decoded where they are a JPEG file.
    ///
    /// - Throws: `SkyError` if that is damaged, or size and pixels do not agree.
    func greys() throws(SkyError) -> [UInt8] {
        let sides = 1...Self.largestSide
        guard sides.contains(width), sides.contains(height), binning > 0,
            jpeg == nil ? pixels.count == width * height : pixels.isEmpty
        else {
            throw SkyError(.failed, "the preview of \(width) x \(height) pixels has \(pixels.count)")
        }
        guard let jpeg else { return pixels }
        return try JPEGCodec.greys(of: jpeg, width: width, height: height)
    }

    /// Whether this can be the picture of an image. Whether a JPEG file is one of this size is seen when it is decoded.
    package func isSound(of info: ImageInfo) -> Bool {
        guard (1...max(info.width, info.height)).contains(binning) else { return false }
        guard width == (info.width - 1) / binning + 1, height == (info.height - 1) / binning + 1,
            width <= ImagePreview.largestSide, height <= ImagePreview.largestSide
        else { return false }
        guard let jpeg else { return pixels.count == width * height }
        return pixels.isEmpty && jpeg.count <= Self.largestFile(of: width * height) && JPEGCodec.isFile(jpeg)
    }

    /// More bytes than any JPEG file has of this many grey pixels.
    private static func largestFile(of pixels: Int) -> Int { 2 * pixels + 4096 }
}
