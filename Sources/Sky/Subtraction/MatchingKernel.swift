/// The kernel that makes the old image look like the smoothed new one. It accounts for seeing, sensitivity and even the
/// elongation of stars. It is found by least squares on stars, as in Alard and Lupton (1998, ApJ 503, 325).
struct MatchingKernel {
    let radius: Int
    /// The weights, row by row.
    let values: [Float]
    /// The number of stars that were used.
    let stars: Int

    /// The ratio of new to old flux.
    var ratio: Double { values.reduce(0) { $0 + Double($1) } }

    /// The contribution of a star: its pixels after each of the basis' shapes.
    private struct Design {
        /// What each pixel has of all shapes, pixel after pixel.
        let rows: [Double]
        let targets: [Double]
        let weight: Double
        /// The same as equations: each round takes the sum of those that are left.
        let equations: NormalEquations

        init(rows: [Double], targets: [Double], weight: Double, count: Int) {
            (self.rows, self.targets, self.weight) = (rows, targets, weight)
            var equations = NormalEquations(count: count)
            for index in targets.indices {
                equations.add(rows[index * count..<(index + 1) * count], value: targets[index], weight: weight)
            }
            self.equations = equations
        }

        /// The mean square of the residuals, in units of the errors.
        func misfit(_ amounts: [Double]) -> Double {
            var sum = 0.0
            for index in targets.indices {
                var model = 0.0
                for term in amounts.indices { model += amounts[term] * rows[index * amounts.count + term] }
                sum += weight * (targets[index] - model) * (targets[index] - model)
            }
            return sum / Double(max(targets.count, 1))
        }
    }

    /// A Gaussian, which is used if no star gives a better kernel.
    init(sigma: Double, ratio: Double) {
        let basis = KernelBasis(sigma: sigma, stars: 0)
        let plain = basis.kernel([1])
        let sum = plain.reduce(0, +)
        radius = basis.radius
        values = plain.map { $0 / sum * Float(ratio) }
        stars = 0
    }

    /// Fits the kernel.
    ///
    /// - Parameters:
    ///   - stamps: The stars, with a rim of at least `reach` plus the kernel's radius around them.
    ///   - reach: The distance from a star's centre within which pixels count.
    ///   - noise: The noise of the smoothed new image, 1 sigma.
    init?(stamps: [StarStamp], basis: KernelBasis, reach: Int, noise: Double) {
        let count = basis.terms.count
        var designs = stamps.compactMap { Self.design($0, basis: basis, reach: reach, noise: noise) }
        guard !designs.isEmpty else { return nil }
        var amounts: [Double]?
        // Variable stars, and stars with a new source beside them, do not fit. Each round leaves out the worst.
        for _ in 0..<3 {
            var equations = NormalEquations(count: count)
            for design in designs { equations.add(design.equations) }
            guard let solution = equations.solved(ridge: 1e-7) else { return nil }
            amounts = solution
            let misfits = designs.map { $0.misfit(solution) }
            let limit = 4 * (RobustStatistics.median(misfits) ?? 0)
            let kept = designs.indices.filter { misfits[$0] <= limit }
            if kept.count == designs.count || kept.count < 3 { break }
            designs = kept.map { designs[$0] }
        }
        guard let amounts else { return nil }
        radius = basis.radius
        values = basis.kernel(amounts)
        stars = designs.count
        guard values.allSatisfy(\.isFinite), ratio > 0 else { return nil }
    }

    private static func design(_ stamp: StarStamp, basis: KernelBasis, reach: Int, noise: Double) -> Design? {
        let side = 2 * reach + 1
        let half = stamp.radius
        guard half >= reach + basis.radius, stamp.isClean(within: reach + basis.radius / 2) else { return nil }
        let wide = 2 * half + 1
        let count = basis.terms.count
        let places = (0..<side * side).filter { place in
            let (x, y) = (place % side - reach, place / side - reach)
            // The first pass goes along x in all rows that the second pass needs, and the second along y.
            return x * x + y * y <= reach * reach
        }
        var rows = [Double](repeating: 0, count: places.count * count)
        var first: [Float] = []
        var weights: [Float] = []
        for (number, term) in basis.terms.enumerated() {
            if term.x != weights {
                weights = term.x
                first = Self.filtered(
                    stamp.old, weights, (width: side, height: wide), stride: wide, start: half - reach, step: 1)
            }
            let second = Self.filtered(
                first, term.y, (width: side, height: side), stride: side, start: (half - reach) * side, step: side)
            for (row, place) in places.enumerated() { rows[row * count + number] = Double(second[place]) }
        }
        let peak = Double(stamp.smoothed[half * wide + half])
        let variance = noise * noise + 9e-6 * peak * peak
        let targets = places.map { place in
            Double(stamp.smoothed[(half - reach + place / side) * wide + half - reach + place % side])
        }
        return Design(rows: rows, targets: targets, weight: 1 / variance, count: count)
    }

    /// One direction of a filter: `size` values, made of those of `pixels` that lie up to the filter's radius before and behind, `step`
    /// apart.
    ///
    /// - Parameters:
    ///   - stride: from one row of `pixels` to the next.
    ///   - start: where in `pixels` the first value lies.
    private static func filtered(
        _ pixels: [Float], _ weights: [Float], _ size: (width: Int, height: Int), stride: Int, start: Int, step: Int
    ) -> [Float] {
        let radius = weights.count / 2
        var result = [Float](repeating: 0, count: size.width * size.height)
        result.withUnsafeMutableBufferPointer { result in
            pixels.withUnsafeBufferPointer { pixels in
                guard let result = result.baseAddress, let pixels = pixels.baseAddress else { return }
                for y in 0..<size.height {
                    let target = result + y * size.width
                    for tap in -radius...radius {
                        let source = pixels + (y * stride + start - tap * step)
                        let weight = weights[tap + radius]
                        for x in 0..<size.width { target[x] += weight * source[x] }
                    }
                }
            }
        }
        return result
    }
}
