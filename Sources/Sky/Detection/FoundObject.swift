import Glibc

/// An object as SEP describes it: sums over its pixels, in the order of the pixels, in SEP's precision.
///
/// The numbers are bit by bit those of SEP 1.2.1; a test compares them.
struct FoundObject {
    /// The numbers of its pixels.
    var pixels: [Int32]
    /// The threshold above which it was found.
    var threshold: Float
    var flags: Int16

    private(set) var filteredFlux: Float = 0
    private(set) var filteredPeak: Float = 0
    private(set) var flux: Float = 0
    private(set) var peak: Float = 0
    private(set) var (minX, maxX, minY, maxY) = (0, 0, 0, 0)
    /// The number of pixels that are above the threshold before the filter.
    private(set) var area = 0
    private(set) var (x, y) = (0.0, 0.0)
    private(set) var (a, b, theta): (Float, Float, Float) = (0, 0, 0)
    private(set) var (cxx, cyy, cxy): (Float, Float, Float) = (0, 0, 0)
    /// The part of its Gaussian that lies above the threshold.
    private(set) var visible: Float = 0

    /// SEP's flags for an object that was split off, that touches the edge of the image, and whose pixels lie in a line.
    static let split: Int16 = 1
    static let edge: Int16 = 2
    private static let line: Int16 = 8

    private static let smallest: Float = -1e30

    init(pixels: [Int32], threshold: Float, flags: Int16) {
        (self.pixels, self.threshold, self.flags) = (pixels, threshold, flags)
    }

    /// The sums that deblending needs, and the bounds.
    mutating func sum(_ list: PixelList, width: Int) {
        var (light, brightest, filteredBrightest) = (0.0, Self.smallest, Self.smallest)
        var (left, right, top, bottom) = (Int.max, 0, Int.max, 0)
        for pixel in pixels {
            let (y, x) = Int(list.places[Int(pixel)]).quotientAndRemainder(dividingBy: width)
            let (value, filtered) = (list.values[Int(pixel)], list.filtered[Int(pixel)])
            if brightest < value { brightest = value }
            if filteredBrightest < filtered { filteredBrightest = filtered }
            light += Double(filtered)
            (left, right, top, bottom) = (min(left, x), max(right, x), min(top, y), max(bottom, y))
        }
        (filteredFlux, filteredPeak, peak) = (Float(light), filteredBrightest, brightest)
        (minX, maxX, minY, maxY) = (left, right, top, bottom)
    }

    /// Measures the position and the shape.
    ///
    /// - Parameter keepsPlace: Whether an object that was split off keeps the position that it has. Its faint pixels, which were
    ///   given to it by chance, would move it.
    mutating func measure(_ list: PixelList, width: Int, keepsPlace: Bool) {
        sum(list, width: width)
        let level = Double(threshold)
        let half = (level + Double(peak)) / 2
        var (sumX, sumY, sumXX, sumYY, sumXY, total) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        var (above, aboveHalf) = (0, 0)
        for pixel in pixels {
            let (row, column) = Int(list.places[Int(pixel)]).quotientAndRemainder(dividingBy: width)
            // Small numbers leave more digits to the sums, which are added from products in single precision.
            let (x, y) = (Float(column - minX), Float(row - minY))
            let (value, light) = (list.values[Int(pixel)], list.filtered[Int(pixel)])
            total += Double(value)
            if Double(value) > level { above += 1 }
            if Double(value) > half { aboveHalf += 1 }
            sumX += Double(light * x)
            sumY += Double(light * y)
            sumXX += Double(light * x * x)
            sumYY += Double(light * y * y)
            sumXY += Double(light * x * y)
        }
        let light = Double(filteredFlux)
        var (meanX, meanY) = (sumX / light, sumY / light)
        var (xx, yy, xy): (Double, Double, Double)
        if keepsPlace, flags & Self.split != 0 {
            let (ownX, ownY) = (x - Double(minX), y - Double(minY))
            xx = sumXX / light + ownX * ownX - 2 * meanX * ownX
            yy = sumYY / light + ownY * ownY - 2 * meanY * ownY
            xy = sumXY / light + ownX * ownY - meanX * ownY - ownX * meanY
            (meanX, meanY) = (ownX, ownY)
        } else {
            xx = sumXX / light - meanX * meanX
            yy = sumYY / light - meanY * meanY
            xy = sumXY / light - meanX * meanY
        }
        var determinant = xx * yy - xy * xy
        if determinant < 0.00694 {
            xx += 0.0833333
            yy += 0.0833333
            determinant = xx * yy - xy * xy
            flags |= Self.line
        }
        let difference = xx - yy
        theta = Float(abs(difference) > 0 ? atan2(2 * xy, difference) / 2 : Double.pi / 4)
        let root = (0.25 * difference * difference + xy * xy).squareRoot()
        let mean = 0.5 * (xx + yy)
        (area, flux) = (above, Float(total))
        (x, y) = (meanX + Double(minX), meanY + Double(minY))
        (a, b) = (Float((mean + root).squareRoot()), Float((mean - root).squareRoot()))
        (cxx, cyy, cxy) = (Float(yy / determinant), Float(xx / determinant), Float(-2 * xy / determinant))
        let ratio = level / half
        guard ratio > 0 else {
            visible = 1
            return
        }
        let lost = Double(aboveHalf) - Double(above)
        visible = Float(
            (lost < 0 ? lost : -1) / (2 * Double.pi * log(ratio < 1 ? ratio : 0.99) * Double(a) * Double(b)))
        if visible > 1 { visible = 1 }
    }
}
