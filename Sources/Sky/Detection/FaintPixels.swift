import Glibc

/// The pixels of a split object that belong to none of its branches. Each is given to one of them by chance, the more probably the
/// brighter a Gaussian of that branch is at the pixel (SExtractor's manual, "Deblending"). The random numbers are those of SEP.
struct FaintPixels {
    /// The state of the random numbers, which SEP starts anew in each call.
    private var seed: UInt32 = 1

    /// What of a branch decides how bright its Gaussian is at a pixel.
    private struct Core {
        let x, y: Double
        let cxx, cyy, cxy, visible, amplitude: Float
    }

    /// No Gaussian is brighter than so many times the brightest pixel of its branch.
    private static let brightest = 4.0
    /// Beyond this exponent nothing of a Gaussian is left.
    private static let farthest: Float = 70
    private static let faintest = 1e-31

    /// - Parameters:
    ///   - root: The object.
    ///   - branches: At least one.
    /// - Returns: The branches with their share of the pixels; `nil` if a pixel has no nearest branch.
    mutating func share(
        _ root: FoundObject, among branches: [FoundObject], _ list: PixelList, width: Int
    ) -> [FoundObject]? {
        var branches = branches
        var cores: [Core] = []
        let stride = root.maxX - root.minX + 1
        var isTaken = [Bool](repeating: false, count: stride * (root.maxY - root.minY + 1))
        func place(_ pixel: Int32) -> (x: Int, y: Int, index: Int) {
            let (y, x) = Int(list.places[Int(pixel)]).quotientAndRemainder(dividingBy: width)
            return (x, y, (y - root.minY) * stride + x - root.minX)
        }
        for index in branches.indices {
            branches[index].measure(list, width: width, keepsPlace: false)
            branches[index].threshold = root.threshold
            for pixel in branches[index].pixels { isTaken[place(pixel).index] = true }
            let branch = branches[index]
            let exponent = Float(
                Double(branch.pixels.count)
                    / (2 * Double.pi * Double(branch.visible) * Double(branch.a) * Double(branch.b)))
            let limit = Self.brightest * Double(branch.filteredPeak)
            var amplitude = exponent < Self.farthest ? branch.threshold * expf(exponent) : Float(limit)
            if Double(amplitude) > limit { amplitude = Float(limit) }
            cores.append(
                Core(
                    x: branch.x, y: branch.y, cxx: branch.cxx, cyy: branch.cyy, cxy: branch.cxy,
                    visible: branch.visible, amplitude: amplitude))
        }
        var sums = [Float](repeating: 0, count: cores.count)
        for pixel in root.pixels {
            let (x, y, index) = place(pixel)
            guard !isTaken[index] else { continue }
            var sum: Float = 0
            var nearest: (index: Int, distance: Float) = (-1, 1e31)
            for (index, core) in cores.enumerated() {
                let (dx, dy) = (Float(Double(x) - core.x), Float(Double(y) - core.y))
                let square = core.cxx * dx * dx + core.cyy * dy * dy + core.cxy * dx * dy
                let distance = Float(0.5 * Double(square) / Double(core.visible))
                if distance < Self.farthest { sum += core.amplitude * expf(-distance) }
                sums[index] = sum
                if distance < nearest.distance { nearest = (index, distance) }
            }
            var owner = nearest.index
            if Double(sum) > Self.faintest {
                let drawn = sum * Float(rand_r(&seed)) / Float(RAND_MAX)
                owner = sums.firstIndex { !($0 < drawn) } ?? owner
            }
            guard owner >= 0 else { return nil }
            branches[owner].pixels.append(pixel)
        }
        return branches
    }
}
