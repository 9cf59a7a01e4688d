/// How wide stars are on a part of an image: the widths of whatever is bright, alone and round.
package struct StarWidths: Hashable, Codable, Sendable {
    /// Full widths at half maximum in pixels, rising.
    package var values: [Float]

    /// Fewer say nothing.
    private static let leastStars = 5
    /// Only so many of a part, the brightest: more would not make it better.
    private static let mostStars = 500
    /// Signal to noise from which a width can be trusted.
    private static let signalToNoise = 20.0
    private static let largestElongation = 1.3

    /// What the stars are looked for with, before the filter is known.
    static func search(_ configuration: ScanConfiguration) -> ScanConfiguration {
        var search = configuration
        search.filter = .pyramid
        search.thresholdUnit = .pixel
        search.threshold = max(5, configuration.threshold)
        search.minimumArea = 5
        return search
    }

    /// The widths of those sources that look like stars.
    init(_ sources: [Source]) {
        let stars = sources.filter { source in
            source.flags == 0 && source.fwhm > 0 && source.b > 0
                && source.a / source.b < Self.largestElongation
                && source.fluxAuto > Self.signalToNoise * source.fluxErrorAuto
        }
        let bright = stars.sorted { ($0.fluxAuto, $0.y, $0.x) > ($1.fluxAuto, $1.y, $1.x) }.prefix(Self.mostStars)
        values = bright.map { Float($0.fwhm) }.sorted()
    }

    init(merging parts: [StarWidths]) {
        values = parts.flatMap(\.values).sorted()
    }

    /// Whether a worker can have measured these.
    var isSound: Bool {
        values.count <= Self.mostStars && values.allSatisfy { $0.isFinite && $0 > 0 }
    }

    /// The width that is most frequent: stars agree, galaxies and cosmic rays do not. `nil` where there are too few stars.
    var seeing: Double? {
        guard values.count >= Self.leastStars else { return nil }
        return Double(Self.halfSampleMode(values[...]))
    }

    /// A Gaussian as wide as the stars, in hundredths of a pixel; the pyramid where there are too few of them.
    var filter: DetectionFilter {
        guard let seeing else { return .pyramid }
        let widths = DetectionFilter.widths
        return .gaussian(fwhm: min(max((seeing * 100).rounded() / 100, widths.lowerBound), widths.upperBound))
    }

    /// The half-sample mode of rising values: halve the sample to its narrowest half, again and again (Bickel and Fruehwirth
    /// 2006, Computational Statistics and Data Analysis 50, 3500).
    private static func halfSampleMode(_ values: ArraySlice<Float>) -> Float {
        var rest = values
        while rest.count > 3 {
            let half = (rest.count + 1) / 2
            let starts = rest.startIndex...(rest.endIndex - half)
            let best = starts.min { values[$0 + half - 1] - values[$0] < values[$1 + half - 1] - values[$1] }
            let start = best ?? rest.startIndex
            rest = rest[start..<start + half]
        }
        guard rest.count == 3 else { return rest.reduce(0, +) / Float(max(1, rest.count)) }
        let (low, middle, high) = (rest[rest.startIndex], rest[rest.startIndex + 1], rest[rest.startIndex + 2])
        if middle - low == high - middle { return middle }
        return middle - low < high - middle ? (low + middle) / 2 : (middle + high) / 2
    }
}
