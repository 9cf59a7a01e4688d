import Glibc

/// The residual that a difference has where a bright source is in both images, because no kernel and no alignment is perfect.
/// It is measured on the image's own sources, so nothing has to be assumed about the camera.
struct ResidualModel {
    /// A local maximum of the light that both smoothed images have.
    struct Peak {
        var x: Int
        var y: Int
        var height: Float
    }

    /// The residual as a share of a source's peak, by the distance from it in whole pixels.
    private let shares: [Double]
    /// The variance of the source's own photons per unit of its height.
    private let photons: Double
    private let peaks: [Peak]

    /// Heights in units of the noise: from the first a source is used, and from the second its residual stands out.
    private static let faint: Float = 8
    private static let bright: Float = 150
    private static let leastStars = 6
    /// The least residual; below, the residual that is assumed if there are too few stars.
    private static let floor = 0.004
    private static let assumed = 0.03

    /// - Parameters:
    ///   - common: The light that both smoothed images have. Light in only one of them leaves no residual, but is the
    ///     difference.
    ///   - reach: The pixels around a source in which residuals are expected.
    ///   - photons: The variance per unit of height, if the gain is known.
    init(
        difference: PixelArray, common: PixelArray, noise: NoiseGrid, mask: [PixelMask], reach: Int, photons: Double?
    ) {
        let peaks = Self.peaks(of: common, above: Self.faint * noise.sigma)
        self.peaks = peaks
        let (width, height) = (difference.width, difference.height)
        let sigma = Double(max(noise.sigma, .leastNormalMagnitude))
        var rings = [[Double]](repeating: [], count: reach + 1)
        let bright = peaks.filter { $0.height > Self.bright * noise.sigma && mask[$0.y * width + $0.x].isEmpty }
        for peak in bright.sorted(by: { ($1.height, $0.y, $0.x) < ($0.height, $1.y, $1.x) }).prefix(60) {
            for y in max(0, peak.y - reach)...min(height - 1, peak.y + reach) {
                for x in max(0, peak.x - reach)...min(width - 1, peak.x + reach) {
                    let (dx, dy) = (Double(x - peak.x), Double(y - peak.y))
                    let ring = Int((dx * dx + dy * dy).squareRoot().rounded())
                    guard ring <= reach, mask[y * width + x].isEmpty else { continue }
                    let residual = Double(difference.values[y * width + x] - noise.level(x: x, y: y))
                    rings[ring].append(max(residual * residual - sigma * sigma, 0).squareRoot() / Double(peak.height))
                }
            }
        }
        if bright.count >= Self.leastStars {
            // Two thirds of a normal distribution lie within one sigma.
            shares = rings.map { ring in
                let sorted = ring.sorted()
                let share = sorted.isEmpty ? 0 : sorted[min(sorted.count * 68 / 100, sorted.count - 1)]
                return max(share, 0)
            }
        } else {
            shares = (0...reach).map { Self.assumed * exp(-Double($0 * $0) / Double(max(reach * reach, 1)) * 8) }
        }
        let centre = max(shares.first ?? 0, Self.floor)
        self.photons = photons ?? Self.photons(peaks, difference, noise, mask, sigma: sigma, share: centre)
    }

    /// The variance per height that explains the residuals of sources of medium brightness.
    private static func photons(
        _ peaks: [Peak], _ difference: PixelArray, _ noise: NoiseGrid, _ mask: [PixelMask], sigma: Double,
        share: Double
    ) -> Double {
        let middling = peaks.filter { peak in
            Double(peak.height) > 15 * sigma && Double(peak.height) < 250 * sigma
                && mask[peak.y * difference.width + peak.x].isEmpty
        }
        guard middling.count >= 10 else { return sigma * 0.1 }
        let residuals = middling.map { peak -> (square: Double, height: Double) in
            let residual = Double(
                difference.values[peak.y * difference.width + peak.x] - noise.level(x: peak.x, y: peak.y))
            return (residual * residual, Double(peak.height))
        }
        func middle(_ photons: Double) -> Double {
            RobustStatistics.median(
                residuals.map {
                    $0.square / (sigma * sigma + photons * $0.height + share * share * $0.height * $0.height)
                }) ?? 0
        }
        // The median of the square of a normal deviate is 0.455.
        var (low, high) = (0.0, 30 * sigma)
        for _ in 0..<40 {
            let photons = (low + high) / 2
            if middle(photons) > 0.455 { low = photons } else { high = photons }
        }
        return high
    }

    /// The variances to be added to that of the noise, for every pixel.
    func variances(common: PixelArray) -> PixelArray {
        let perHeight = Float(photons)
        var result = PixelArray(
            width: common.width, height: common.height, values: common.values.map { perHeight * max($0, 0) })
        let reach = shares.count - 1
        for peak in peaks {
            let height = Double(peak.height)
            for y in max(0, peak.y - reach)...min(common.height - 1, peak.y + reach) {
                for x in max(0, peak.x - reach)...min(common.width - 1, peak.x + reach) {
                    let (dx, dy) = (Double(x - peak.x), Double(y - peak.y))
                    let ring = Int((dx * dx + dy * dy).squareRoot().rounded())
                    guard ring <= reach else { continue }
                    let index = y * common.width + x
                    let share = max(shares[ring] * height, Self.floor * Double(max(common.values[index], 0)))
                    result.values[index] = max(result.values[index], 0) + Float(share * share)
                }
            }
        }
        return result
    }

    private static func peaks(of plane: PixelArray, above floor: Float) -> [Peak] {
        var peaks: [Peak] = []
        let (width, height) = (plane.width, plane.height)
        guard width > 2, height > 2, floor > 0 else { return [] }
        plane.values.withUnsafeBufferPointer { values in
            for y in 1..<height - 1 {
                for x in 1..<width - 1 {
                    let index = y * width + x
                    let value = values[index]
                    guard value > floor, value >= values[index - 1], value > values[index + 1],
                        value >= values[index - width], value > values[index + width],
                        value >= values[index - width - 1], value > values[index + width + 1],
                        value >= values[index - width + 1], value > values[index + width - 1]
                    else { continue }
                    peaks.append(Peak(x: x, y: y, height: value))
                }
            }
        }
        return peaks
    }
}
