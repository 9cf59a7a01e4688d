import Glibc

/// Finds pixels whose light is not from the sky, because they are brighter than their neighbours by more than any star can be.
/// These are hot pixels, and cosmic rays in frames that were not resampled.
///
/// Wherever in a pixel the centre of a Gaussian star of standard deviation s lies, the four neighbours of any pixel have on
/// average at least exp(-1 / 2 s^2) of the light of that pixel. The same holds for any sum of stars and of wider sources. A
/// pixel whose neighbours have less than that, with all the possible noise, is not such a sum. (L.A.Cosmic, van Dokkum 2001,
/// PASP 113, 1420, makes the same test with a Laplacian and a limit that the user chooses; here the stars' width gives the
/// limit.)
struct SharpPixels {
    /// The least mean of the four neighbours of a pixel, as a share of the pixel's light.
    private let share: Float
    /// Electrons per unit of the image; 0 if it is unknown.
    private let gain: Double

    /// Stars may be narrower than the measured width by this factor.
    private static let narrowest = 0.75
    /// The least excess of a pixel over the light that stars can have there, in units of its error.
    private static let significance: Float = 6
    /// The least ratio of a sharp pixel's light to that of a star, because the photons of the brightest stars scatter.
    private static let excess: Float = 1.1
    /// The number of layers of a cosmic ray, which are removed from the outside.
    private static let rounds = 3

    /// - Parameters:
    ///   - fwhm: The full width at half maximum of the stars in pixels.
    ///   - gain: Electrons per unit of the image; 0 if it is unknown.
    init(fwhm: Double, gain: Double) {
        self.gain = gain
        let sigma = max(Self.narrowest * fwhm / Gaussian.fwhm, 0.3)
        share = Float(exp(-1 / (2 * sigma * sigma)))
    }

    /// Marks the sharp pixels, and replaces each by the mean of the pixels around it.
    ///
    /// - Returns: The places of the sharp pixels, and their original values.
    ///
    /// - Parameters:
    ///   - values: The values of a rectangle of `width` columns above the background.
    ///   - mask: What is wrong with the values.
    ///   - noise: The noise of the values (1 sigma), if it is known better than from the values themselves.
    @discardableResult
    func clean(
        _ values: inout [Float], _ mask: inout [PixelMask], width: Int, noise known: Float? = nil
    ) -> [(index: Int, value: Float)] {
        let height = values.count / width
        let plane = PixelArray(width: width, height: height, values: values)
        let noise = known ?? NoiseGrid(plane, mask: mask).sigma
        guard noise > 0, noise.isFinite else { return [] }
        let error = noise * (1 + 1 / (4 * share * share)).squareRoot()
        // The variance per unit of light. If the gain is unknown, it is that for a noise of three electrons, so that a star
        // does not count as a hot pixel because its photons scatter.
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
        // All sharp pixels are marked now, so none of them is used in the replacement of another.
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

    /// The pixels that share an edge or a corner with one.
    private static func around(_ index: Int, _ width: Int, _ height: Int) -> [Int] {
        let (x, y) = (index % width, index / width)
        return (max(y - 1, 0)...min(y + 1, height - 1)).flatMap { row in
            (max(x - 1, 0)...min(x + 1, width - 1)).map { row * width + $0 }
        }.filter { $0 != index }
    }
}
