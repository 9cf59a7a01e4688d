/// The level and the noise of the sky among an image's pixels. It works even if most pixels are not sky, because the stars and
/// the light of a cluster are all above it.
struct SkyLevel: Hashable {
    /// The most frequent value, found by halving: it takes the half of the values that lie closest together, then the closest
    /// half of these (Bickel and Fruhwirth 2006, Computational Statistics and Data Analysis 50, 3500), until an eighth is left.
    let level: Double
    /// The noise (1 sigma), from the values below the level, where there is no light of sources. It is above 0.
    let sigma: Double

    private static let halvings = 3
    private static let fewest = 8

    /// - Parameter sample: The values in ascending order, all finite.
    init(sorted sample: [Double]) {
        var part = sample[...]
        for _ in 0..<Self.halvings where part.count >= Self.fewest {
            let half = (part.count + 1) / 2
            var best = part.startIndex
            for start in part.startIndex...part.endIndex - half
            where part[start + half - 1] - part[start] < part[best + half - 1] - part[best] {
                best = start
            }
            part = part[best..<best + half]
        }
        level = part.isEmpty ? 0 : part[part.startIndex + part.count / 2]
        let middle = level
        let below = RobustStatistics.median(sample.prefix { $0 < middle }.map { middle - $0 }) ?? 0
        // The numbers may have no noise; then their own range decides what is visible.
        let range = (sample.last ?? 0) - (sample.first ?? 0)
        let noise = below > 0 ? below * RobustStatistics.sigmasPerDeviation : range / 100
        sigma = max(noise, abs(level) * 1e-9, 1e-30)
    }
}
