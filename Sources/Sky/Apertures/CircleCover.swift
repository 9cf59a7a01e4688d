/// How much of each pixel of a line lies in a circle.
///
/// Of a pixel near the rim, the parts whose centres lie in the circle count. The numbers are bit by bit those of SEP 1.2.1
/// (`sep_sum_circle`, `sep_windowed`), which adds one part after the other.
struct CircleCover {
    /// Half of the diagonal of a pixel, and a little more.
    private static let halfDiagonal = 0.7072

    /// The squares of the radius, and of the radii within which a pixel lies in the circle as a whole, and beyond which it does
    /// not touch the circle.
    private let square, inner, outer: Double
    private let radius: Double
    private let capacity: Int
    private let memory: UnsafeMutablePointer<PixelParts>
    private let sharesOfCounts: UnsafeMutablePointer<Double>

    private(set) var box = ApertureBox(x: 0, y: 0, reachX: 0, reachY: 0, width: 0, height: 0)
    private var count = 0
    /// The centre's place among the columns, and its line.
    private var place = 0.0
    private var centre = 0.0
    /// The columns of the box.
    var columns: UnsafePointer<PixelParts> { UnsafePointer(memory) }
    /// The share of each pixel of the line that was looked at last, by its place in the box.
    let shares: UnsafeMutablePointer<Double>

    /// Calls `body` with the cover of a circle that has no place yet.
    ///
    /// - Parameters:
    ///   - radius: In pixels, from 0 to ``AperturePixels/largestRadius``.
    ///   - width: The width of the image.
    static func withCover<Result>(radius: Double, width: Int, _ body: (inout CircleCover) -> Result) -> Result {
        // A box of the width 2 r + 1 begins and ends within a pixel.
        let capacity = min(width, Int(2 * radius) + 4)
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: capacity * (MemoryLayout<PixelParts>.stride + MemoryLayout<Double>.stride)
                + (PixelParts.count * PixelParts.count + 1) * MemoryLayout<Double>.stride,
            alignment: MemoryLayout<PixelParts>.alignment)
        defer { memory.deallocate() }
        var cover = CircleCover(radius: radius, memory, capacity: capacity)
        return body(&cover)
    }

    private init(radius: Double, _ raw: UnsafeMutableRawPointer, capacity: Int) {
        self.radius = radius
        square = radius * radius
        let (low, high) = (radius - Self.halfDiagonal, radius + Self.halfDiagonal)
        (inner, outer) = (low > 0 ? low * low : 0, high * high)
        self.capacity = capacity
        memory = raw.bindMemory(to: PixelParts.self, capacity: capacity)
        sharesOfCounts = (raw + capacity * MemoryLayout<PixelParts>.stride).bindMemory(
            to: Double.self, capacity: PixelParts.count * PixelParts.count + 1 + capacity)
        shares = sharesOfCounts + PixelParts.count * PixelParts.count + 1
        var share = 0.0
        for count in 0...PixelParts.count * PixelParts.count {
            sharesOfCounts[count] = share
            share += PixelParts.share
        }
    }

    /// Places the circle at a point of an image.
    mutating func move(toX x: Double, y: Double, width: Int, height: Int) {
        box = ApertureBox(x: x, y: y, reachX: radius, reachY: radius, width: width, height: height)
        count = min(box.columns.count, capacity)
        (place, centre) = (x - Double(box.columns.lowerBound), y)
        for index in 0..<count {
            (memory + index).initialize(to: PixelParts(distance: Double(box.columns.lowerBound + index) - x))
        }
    }

    /// Looks at a line of the box.
    ///
    /// - Returns: The distance of the line from the centre, its square, and the places in the box of the pixels that the circle may
    ///   touch; the shares of these are in ``shares`` then.
    mutating func cover(line: Int) -> (line: PixelParts, places: Range<Int>) {
        let parts = PixelParts(distance: Double(line) - centre)
        let all = places(parts.square, outer) { $0 < $1 }
        let whole = places(parts.square, inner) { $0 <= $1 }
        let (first, end) = whole.isEmpty ? (all.upperBound, all.upperBound) : (whole.lowerBound, whole.upperBound)
        for place in all.lowerBound..<first { shares[place] = share(memory[place], parts) }
        for place in first..<end { shares[place] = 1 }
        for place in end..<all.upperBound { shares[place] = share(memory[place], parts) }
        return (parts, all)
    }

    /// The places in a line whose squared distance from the centre is within a limit. The distances fall and rise along the line,
    /// so that the places have no gaps. The root says where they begin and end, up to its rounding.
    private func places(
        _ lineSquare: Double, _ limit: Double, _ isWithin: (_ square: Double, _ limit: Double) -> Bool
    ) -> Range<Int> {
        let rest = limit - lineSquare
        guard count > 0, rest >= 0 else { return 0..<0 }
        let half = Double(Float(rest).squareRoot())
        var first = min(Int(max(place - half, 0)), count)
        var end = min(max(Int(place + half) + 1, first), count)
        while first > 0, isWithin(memory[first - 1].square + lineSquare, limit) { first -= 1 }
        while first < end, !isWithin(memory[first].square + lineSquare, limit) { first += 1 }
        while end < count, isWithin(memory[end].square + lineSquare, limit) { end += 1 }
        while end > first, !isWithin(memory[end - 1].square + lineSquare, limit) { end -= 1 }
        return first..<end
    }

    /// The share of a pixel near the rim.
    private func share(_ column: PixelParts, _ line: PixelParts) -> Double {
        let one = SIMD4<Int64>(repeating: 1)
        var counts = SIMD4<Int64>()
        for part in 0..<4 {
            counts &+= SIMD4<Int64>().replacing(with: one, where: column.squares + line.squares[part] .< square)
        }
        counts &+= SIMD4<Int64>().replacing(with: one, where: column.squares + line.lastSquare .< square)
        counts &+= SIMD4<Int64>().replacing(with: one, where: line.squares + column.lastSquare .< square)
        let count = counts.wrappedSum() &+ (column.lastSquare + line.lastSquare < square ? 1 : 0)
        return sharesOfCounts[Int(count)]
    }
}
