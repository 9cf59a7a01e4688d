/// Level and noise of the sky in the meshes of a rectangle, by SExtractor's rule (Bertin and Arnouts 1996, A&AS 117, 393,
/// section 3; the manual, "Modeling the background"): a histogram of the pixels within two standard deviations of their mean is
/// clipped at three standard deviations around its median until nothing changes. The level is the mode, 2.5 times the median less
/// 1.5 times the mean, or the median where the two differ much.
///
/// The numbers are bit by bit those of SEP 1.2.1's `sep_background` without its filter; a test compares them. Sums that depend on
/// their order have SEP's order, but for four meshes at the same time, because each addition of a sum waits for the one before. Sums
/// over histograms are sums of whole numbers, which do not depend on the order, so that bins are only added or taken out where the
/// limits change.
struct MeshStatistics {
    /// The level of each mesh, row by row, in units of the image. NaN marks a mesh with fewer than half of its pixels usable.
    private(set) var levels: [Float] = []
    /// The noise (1 sigma) of each mesh; NaN for such a mesh.
    private(set) var sigmas: [Float] = []

    /// Histograms have so many bins at most.
    private static let mostBins = 4096
    /// The histogram covers so many standard deviations to either side of the mean.
    private static let reach = 5.0
    /// Bins for each pixel: SEP wants four pixels in a bin at the mode.
    private static let binsPerPixel = (2 / Double.pi).squareRoot() * 5 / 4
    /// Smaller values are no pixels for SEP.
    private static let smallest: Float = {
        let limit = Float(-1e30)
        return Double(limit) > -1e30 ? limit : limit.nextUp
    }()

    private typealias Pointers = (
        UnsafePointer<Float>, UnsafePointer<Float>, UnsafePointer<Float>, UnsafePointer<Float>
    )

    /// - Parameters:
    ///   - pixels: The pixels of the rectangle row by row, NaN for a missing one.
    ///   - mesh: The side of a mesh in pixels. The last meshes of a row and of a column may be smaller.
    init(_ pixels: [Float], width: Int, mesh: Int) {
        let height = pixels.count / width
        let columns = (width - 1) / mesh + 1
        levels.reserveCapacity(columns * ((height - 1) / mesh + 1))
        sigmas.reserveCapacity(levels.capacity)
        var histogram = MeshHistogram(bins: Self.mostBins, width: mesh)
        pixels.withUnsafeBufferPointer { pixels in
            guard let start = pixels.baseAddress else { return }
            for top in stride(from: 0, to: height, by: mesh) {
                let (row, rows) = (start + top * width, min(mesh, height - top))
                var column = 0
                while column < columns {
                    // Meshes that are narrower, or not four, are measured alone, as four times the same one.
                    let isGroup = (column + 4) * mesh <= width
                    let left = row + column * mesh
                    let side = isGroup ? mesh : 0
                    let size = isGroup ? mesh : min(mesh, width - column * mesh)
                    let places = (left, left + side, left + 2 * side, left + 3 * side)
                    let clipped = Clipped(places, width: size, rows: rows, stride: width)
                    for lane in 0..<(isGroup ? 4 : 1) {
                        append(clipped, lane, left + lane * side, size, rows, stride: width, &histogram)
                    }
                    column += isGroup ? 4 : 1
                }
            }
        }
    }

    /// Mean and standard deviation of the pixels of four meshes that are within two standard deviations of their mean.
    private struct Clipped {
        var means: SIMD4<Double>
        var sigmas: SIMD4<Double>
        var counts: SIMD4<Int32>
        /// Whether at least half of the pixels are usable.
        var isGood: SIMDMask<SIMD4<Int32>>

        init(_ places: Pointers, width: Int, rows: Int, stride: Int) {
            let all = Sums(
                places, width: width, rows: rows, stride: stride, from: SIMD4(repeating: smallest),
                to: SIMD4(repeating: .infinity))
            isGood = SIMD4<Float>(all.counts) .>= SIMD4(repeating: Float(Double(width * rows) * 0.5))
            let (means, sigmas) = all.moments
            let clipped = Sums(
                places, width: width, rows: rows, stride: stride, from: SIMD4<Float>(means - 2 * sigmas),
                to: SIMD4<Float>(means + 2 * sigmas))
            (self.means, self.sigmas) = clipped.moments
            counts = clipped.counts
        }
    }

    /// Sums over the pixels of four meshes that lie between two limits.
    private struct Sums {
        var values = SIMD4<Double>()
        var squares = SIMD4<Double>()
        var counts = SIMD4<Int32>()

        init(
            _ places: Pointers, width: Int, rows: Int, stride: Int, from low: SIMD4<Float>, to high: SIMD4<Float>
        ) {
            var (values, squares, counts) = (SIMD4<Double>(), SIMD4<Double>(), SIMD4<Int32>())
            for row in 0..<rows {
                let start = row &* stride
                for place in start..<start &+ width {
                    let pixels = SIMD4(places.0[place], places.1[place], places.2[place], places.3[place])
                    // A comparison with NaN is false. To add 0 leaves a sum as it is.
                    let isInside = (pixels .>= low) .& (pixels .<= high)
                    let inside = SIMD4<Double>(SIMD4<Float>().replacing(with: pixels, where: isInside))
                    values += inside
                    squares += inside * inside
                    counts.replace(with: counts &+ 1, where: isInside)
                }
            }
            (self.values, self.squares, self.counts) = (values, squares, counts)
        }

        /// The means and the standard deviations.
        var moments: (means: SIMD4<Double>, sigmas: SIMD4<Double>) {
            let counts = SIMD4<Double>(counts)
            let means = values / counts
            let variances = squares / counts - means * means
            let sigmas = SIMD4<Double>().replacing(with: variances, where: variances .> 0).squareRoot()
            return (means, sigmas)
        }
    }

    private mutating func append(
        _ clipped: Clipped, _ lane: Int, _ place: UnsafePointer<Float>, _ width: Int, _ rows: Int, stride: Int,
        _ histogram: inout MeshHistogram
    ) {
        guard clipped.isGood[lane] else {
            levels.append(.nan)
            sigmas.append(.nan)
            return
        }
        let (mean, sigma) = (clipped.means[lane], clipped.sigmas[lane])
        let bins = min(Int(Self.binsPerPixel * Double(clipped.counts[lane]) + 1), Self.mostBins)
        let step = sigma > 0 ? Float(2 * Self.reach * sigma / Double(bins)) : 1
        let zero = Float(mean - Self.reach * sigma)
        histogram.fill(place, width: width, rows: rows, stride: stride, bins: bins, zero: zero, step: step)
        let found = histogram.mode(mean: Double(Float(mean)))
        levels.append(Float(Double(zero) + found.mode * Double(step)))
        sigmas.append(Float(found.sigma * Double(step)))
    }
}
