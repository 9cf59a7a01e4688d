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
        var rows: [[Double]]
        var targets: [Double]
        var weights: [Double]

        func equations(_ count: Int) -> NormalEquations {
            var equations = NormalEquations(count: count)
            for index in rows.indices { equations.add(rows[index], value: targets[index], weight: weights[index]) }
            return equations
        }

        /// The mean square of the residuals, in units of the errors.
        func misfit(_ amounts: [Double]) -> Double {
            var sum = 0.0
            for index in rows.indices {
                var model = 0.0
                for term in amounts.indices { model += amounts[term] * rows[index][term] }
                sum += weights[index] * (targets[index] - model) * (targets[index] - model)
            }
            return sum / Double(max(rows.count, 1))
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
            for design in designs { equations.add(design.equations(count)) }
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
        var design = Design(rows: [], targets: [], weights: [])
        var images: [[Float]] = []
        for term in basis.terms {
            // The first pass goes along x in all rows that the second pass needs, and the second along y.
            var first = [Float](repeating: 0, count: wide * side)
            for y in 0..<wide {
                for x in 0..<side {
                    var sum: Float = 0
                    let start = y * wide + half - reach + x
                    for tap in -basis.radius...basis.radius {
                        sum += term.x[tap + basis.radius] * stamp.old[start - tap]
                    }
                    first[y * side + x] = sum
                }
            }
            var second = [Float](repeating: 0, count: side * side)
            for y in 0..<side {
                for tap in -basis.radius...basis.radius {
                    let weight = term.y[tap + basis.radius]
                    let start = (half - reach + y - tap) * side
                    for x in 0..<side { second[y * side + x] += weight * first[start + x] }
                }
            }
            images.append(second)
        }
        let peak = Double(stamp.smoothed[half * wide + half])
        let variance = noise * noise + 9e-6 * peak * peak
        for y in 0..<side {
            for x in 0..<side where (x - reach) * (x - reach) + (y - reach) * (y - reach) <= reach * reach {
                design.rows.append(images.map { Double($0[y * side + x]) })
                design.targets.append(Double(stamp.smoothed[(half - reach + y) * wide + half - reach + x]))
                design.weights.append(1 / variance)
            }
        }
        return design
    }
}
