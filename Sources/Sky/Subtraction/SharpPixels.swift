import Glibc

/// Pixels that are no light from the sky: brighter beside their neighbours than any star can make them. Hot pixels, and cosmic
/// rays on frames that were not resampled.
///
/// A Gaussian star of standard deviation s has, wherever in a pixel its centre is, in the four pixels beside another on average
/// at least exp(-1 / 2 s^2) of what that one has; so has any sum of stars and of what is wider. What is below that, with all
/// the noise there may be, is no such sum. (L.A.Cosmic, van Dokkum 2001, PASP 113, 1420, asks the same by a Laplacian, with a
/// limit to be chosen; here the stars' width gives it.)
struct SharpPixels {
    /// The least that the four neighbours of a pixel have on average, as a share of what it has.
    private let share: Float
    /// Electrons per unit of the image; 0 where unknown.
    private let gain: Double

    /// Stars of this part of the measured width are thought possible.
    private static let narrowest = 0.75
    /// Of a pixel's excess over what stars can make, in units of its error.
    private static let significance: Float = 6
    /// How much brighter than stars can make it, at least: the photons of the brightest stars scatter.
    private static let excess: Float = 1.1
    /// A cosmic ray is peeled from outside: so many layers.
    private static let rounds = 3

    /// - Parameters:
    ///   - fwhm: full width at half maximum of the stars in pixels.
    ///   - gain: electrons per unit of the image; 0 where unknown.
    init(fwhm: Double, gain: Double) {
        self.gain = gain
        let sigma = max(Self.narrowest * fwhm / Gaussian.fwhm, 0.3)
        share = Float(exp(-1 / (2 * sigma * sigma)))
    }

    /// Marks them, and puts in their place what lies around them.
    ///
    /// - Returns: Where they were, and what they had.
    ///
    /// - Parameters:
    ///   - values: of a rectangle of `width` columns above the background.
    ///   - mask: what is wrong with them.
    ///   - noise: of the values, where it is known better than from these (1 sigma).
    @discardableResult
    func clean(
        _ values: inout [Float], _ mask: inout [PixelMask], width: Int, noise known: Float? = nil
    ) -> [(index: Int, value: Float)] {
        let height = values.count / width
        let plane = PixelPlane(width: width, height: height, values: values)
        let noise = known ?? NoiseGrid(plane, mask: mask).sigma
        guard noise > 0, noise.isFinite else { return [] }
        let error = noise * (1 + 1 / (4 * share * share)).squareRoot()
        // Variance per unit of light. Where nobody knows, as if the noise were of three electrons: a star is not to be taken
        // for a hot pixel because its photons scatter.
        let photons = gain > 0 ? Float(1 / gain) : 0.3 * noise
        var found: [Int] = []
        // Most pixels are no brighter than the noise.
        let least = Self.significance * error
        var candidates: [Int] = []
        for index in values.indices where values[index] > least && mask[index].isEmpty { candidates.append(index) }
        for _ in 0..<Self.rounds {
            let sharp = candidates.filter { index in
                guard let beside = Self.mean(beside: index, width, height, values, mask) else { return false }
                let most = max(beside, 0) / share
                let scatter = (error * error + most * photons * (1 + 1 / (4 * share))).squareRoot()
                return values[index] - most > Self.significance * scatter && values[index] > Self.excess * most
            }
            guard !sharp.isEmpty else { break }
            for index in sharp { mask[index].insert(.sharp) }
            found += sharp
            candidates.removeAll { mask[$0].contains(.sharp) }
        }
        // All are known now: none takes its place from another.
        let repaired = found.map { index in
            Self.mean(of: Self.around(index, width, height), values, mask) ?? 0
        }
        let removed = found.map { (index: $0, value: values[$0]) }
        for (index, value) in zip(found, repaired) { values[index] = value }
        return removed
    }

    private static func mean(of places: [Int], _ values: [Float], _ mask: [PixelMask]) -> Float? {
        var (sum, count): (Float, Float) = (0, 0)
        for place in places where mask[place].isEmpty {
            sum += values[place]
            count += 1
        }
        return count > 0 ? sum / count : nil
    }

    /// The same of the pixels that share an edge with one, without a list of them: this is asked of every bright pixel.
    private static func mean(
        beside index: Int, _ width: Int, _ height: Int, _ values: [Float], _ mask: [PixelMask]
    ) -> Float? {
        let (y, x) = index.quotientAndRemainder(dividingBy: width)
        var (sum, count): (Float, Float) = (0, 0)
        func add(_ place: Int) {
            guard mask[place].isEmpty else { return }
            sum += values[place]
            count += 1
        }
        if x > 0 { add(index - 1) }
        if x < width - 1 { add(index + 1) }
        if y > 0 { add(index - width) }
        if y < height - 1 { add(index + width) }
        return count > 0 ? sum / count : nil
    }

    /// Those that share an edge or a corner.
    private static func around(_ index: Int, _ width: Int, _ height: Int) -> [Int] {
        let (x, y) = (index % width, index / width)
        return (max(y - 1, 0)...min(y + 1, height - 1)).flatMap { row in
            (max(x - 1, 0)...min(x + 1, width - 1)).map { row * width + $0 }
        }.filter { $0 != index }
    }
}
