/// The pixels around one source, without its neighbours. A pixel that belongs to another source or has no data is replaced by
/// the pixel on the opposite side of the source, or by the sky if that pixel is no better (SExtractor's `MASK_TYPE CORRECT`).
///
/// A source without neighbours is measured in place, without a copy.
struct Surroundings {
    /// The copy, `width` pixels in a row; empty if there are no neighbours.
    private var copy: [Float] = []
    /// The noise of the copy's pixels, if it is known.
    private var noiseCopy: [Float] = []
    /// The corner of the copy in the rectangle.
    private var corner = (x: 0, y: 0)
    private var size: (width: Int, height: Int)
    private let rectangle: UnsafePointer<Float>
    private let noises: UnsafePointer<Float>?
    /// Whether anything had to be replaced.
    var hasNeighbours: Bool { !copy.isEmpty }
    /// The number of pixels that had to be replaced.
    private(set) var replaced = 0

    /// - Parameter radius: The distance from the centroid within which pixels are needed.
    init(_ photometer: Photometer, _ object: Detection, id: Int32, radius: Double) {
        let (width, height) = (photometer.width, photometer.height)
        (rectangle, noises, size) = (photometer.pixels, photometer.noises, (width, height))
        let reach = radius + 2
        let columns = ApertureBox.range(around: object.x, reach: reach, of: width)
        let lines = ApertureBox.range(around: object.y, reach: reach, of: height)
        guard !columns.isEmpty, !lines.isEmpty else { return }
        photometer.map.search(columns: columns, lines: lines)
        let (mask, segments) = (photometer.mask, photometer.map.segments)
        /// Avoids a branch for each pixel, because all pixels are tested although most lines have no neighbours.
        func hasForeign(_ y: Int) -> Bool {
            var foreign: UInt32 = 0
            for index in y * width + columns.lowerBound..<y * width + columns.upperBound {
                let segment = segments[index]
                foreign |= UInt32(mask[index]) | ((segment == 0 ? 0 : 1) & (segment == id ? 0 : 1))
            }
            return foreign != 0
        }
        guard let firstForeign = lines.first(where: hasForeign) else { return }
        (corner, size) = ((columns.lowerBound, lines.lowerBound), (columns.count, lines.count))
        copy = Self.part(of: rectangle, width: width, columns: columns, lines: lines)
        if let noises { noiseCopy = Self.part(of: noises, width: width, columns: columns, lines: lines) }
        for y in firstForeign..<lines.upperBound where y == firstForeign || hasForeign(y) {
            replaced += replaceForeign(y, photometer, object, id: id, columns: columns, lines: lines)
        }
    }

    /// Copies a part of the rectangle.
    private static func part(
        of pixels: UnsafePointer<Float>, width: Int, columns: Range<Int>, lines: Range<Int>
    ) -> [Float] {
        [Float](unsafeUninitializedCapacity: columns.count * lines.count) { copy, count in
            count = columns.count * lines.count
            guard var target = copy.baseAddress else { return }
            for y in lines {
                target.initialize(from: pixels + y * width + columns.lowerBound, count: columns.count)
                target += columns.count
            }
        }
    }

    /// Replaces the foreign pixels in a line of the copy.
    ///
    /// - Returns: Their number.
    private mutating func replaceForeign(
        _ y: Int, _ photometer: Photometer, _ object: Detection, id: Int32, columns: Range<Int>, lines: Range<Int>
    ) -> Int {
        let (width, height) = (photometer.width, photometer.height)
        let (mask, segments) = (photometer.mask, photometer.map.segments)
        func isForeign(_ index: Int) -> Bool {
            mask[index] != 0 || (segments[index] != 0 && segments[index] != id)
        }
        // The rounding is SExtractor's.
        let mirror = (x: Int(2 * object.x + 0.49999), y: Int(2 * object.y + 0.49999) - y)
        let first = (y - lines.lowerBound) * columns.count
        var count = 0
        for x in columns where isForeign(y * width + x) {
            count += 1
            let opposite = (x: mirror.x - x, y: mirror.y)
            let isInside = (0..<width).contains(opposite.x) && (0..<height).contains(opposite.y)
            let other = opposite.y * width + opposite.x
            // The part that is copied has been searched already.
            if isInside, !columns.contains(opposite.x) || !lines.contains(opposite.y) {
                photometer.map.search(columns: opposite.x..<opposite.x + 1, lines: opposite.y..<opposite.y + 1)
            }
            let isBetter = isInside && !isForeign(other)
            let place = first + x - columns.lowerBound
            copy[place] = isBetter ? rectangle[other] : 0
            if let noises, isBetter { noiseCopy[place] = noises[other] }
        }
        return count
    }

    /// Calls `body` with the pixels, and with the place of a point of the rectangle among them.
    func withPixels<Result>(
        around point: (x: Double, y: Double),
        _ body: (
            _ pixels: UnsafePointer<Float>, _ noises: UnsafePointer<Float>?, _ width: Int, _ height: Int, _ x: Double,
            _ y: Double
        ) -> Result
    ) -> Result {
        guard hasNeighbours else { return body(rectangle, noises, size.width, size.height, point.x, point.y) }
        return copy.withUnsafeBufferPointer { copy in
            noiseCopy.withUnsafeBufferPointer { noiseCopy in
                body(
                    copy.baseAddress ?? rectangle, noises == nil ? nil : noiseCopy.baseAddress, size.width,
                    size.height, point.x - Double(corner.x), point.y - Double(corner.y))
            }
        }
    }

    /// The place in the rectangle of a place among the pixels.
    func inRectangle(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
        (x + Double(corner.x), y + Double(corner.y))
    }
}
