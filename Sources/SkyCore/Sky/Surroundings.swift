/// The pixels around one source, without its neighbours: what belongs to another source, or has no data, is replaced by the
/// pixel on the opposite side of the source, and by the sky where that is no better (SExtractor's `MASK_TYPE CORRECT`).
///
/// A source without neighbours is measured where it is: then there is nothing to copy.
struct Surroundings {
    /// The copy, `width` pixels a row; empty where there are no neighbours.
    private var copy: [Float] = []
    /// The noise of its pixels, where that is known.
    private var noiseCopy: [Float] = []
    /// Corner of the copy in the rectangle.
    private var corner = (x: 0, y: 0)
    private var size: (width: Int, height: Int)
    private let rectangle: UnsafePointer<Float>
    private let noises: UnsafePointer<Float>?
    /// Whether anything had to be replaced.
    var hasNeighbours: Bool { !copy.isEmpty }

    /// - Parameter radius: how far from the centroid pixels are asked for.
    init(_ photometer: Photometer, _ object: Detection, id: Int32, radius: Double) {
        let (width, height) = (photometer.width, photometer.height)
        (rectangle, noises, size) = (photometer.pixels, photometer.noises, (width, height))
        let reach = radius + 2
        let columns = max(0, Int(object.x - reach))..<max(0, min(width, Int(object.x + reach) + 2))
        let lines = max(0, Int(object.y - reach))..<max(0, min(height, Int(object.y + reach) + 2))
        let (mask, segments) = (photometer.mask, photometer.segments)
        func isForeign(_ index: Int) -> Bool {
            mask[index] != 0 || (segments[index] != 0 && segments[index] != id)
        }
        /// Without a branch for each pixel: most sources have no neighbours, and all of their pixels are looked at.
        func hasForeign(_ y: Int) -> Bool {
            var foreign: UInt32 = 0
            for index in y * width + columns.lowerBound..<y * width + columns.upperBound {
                let segment = segments[index]
                foreign |= UInt32(mask[index]) | ((segment == 0 ? 0 : 1) & (segment == id ? 0 : 1))
            }
            return foreign != 0
        }
        guard !columns.isEmpty, lines.contains(where: hasForeign) else { return }
        corner = (columns.lowerBound, lines.lowerBound)
        size = (columns.count, lines.count)
        copy.reserveCapacity(columns.count * lines.count)
        for y in lines {
            for x in columns {
                let index = y * width + x
                guard isForeign(index) else {
                    copy.append(rectangle[index])
                    if let noises { noiseCopy.append(noises[index]) }
                    continue
                }
                // The rounding is SExtractor's.
                let opposite = (x: Int(2 * object.x + 0.49999) - x, y: Int(2 * object.y + 0.49999) - y)
                let isInside = (0..<width).contains(opposite.x) && (0..<height).contains(opposite.y)
                let other = opposite.y * width + opposite.x
                let isBetter = isInside && !isForeign(other)
                copy.append(isBetter ? rectangle[other] : 0)
                if let noises { noiseCopy.append(noises[isBetter ? other : index]) }
            }
        }
    }

    /// Calls `body` with the pixels and the place of a point of the rectangle among them.
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

    /// A place among the pixels as one of the rectangle.
    func inRectangle(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
        (x + Double(corner.x), y + Double(corner.y))
    }
}
