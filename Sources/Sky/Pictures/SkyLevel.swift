/// Level and noise of the sky among an image's pixels, also where most of them are not the sky: a cluster's stars and light
/// are all above it.
struct SkyLevel: Hashable {
    /// The most frequent value, by halving: of the values the half that lies closest together, of these again
    /// (Bickel and Fruhwirth 2006, Computational Statistics and Data Analysis 50, 3500), until an eighth is left.
    let level: Double
    /// 1 sigma of the noise, by what lies below the level: no light does. Above 0.
    let sigma: Double

    private static let halvings = 3
    private static let fewest = 8

    /// - Parameter sample: values in ascending order, all finite.
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
        // Numbers without noise: their own range tells what can be seen.
        let range = (sample.last ?? 0) - (sample.first ?? 0)
        let noise = below > 0 ? below * RobustStatistics.sigmasPerDeviation : range / 100
        sigma = max(noise, abs(level) * 1e-9, 1e-30)
    }
}
