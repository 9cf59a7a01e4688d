import Glibc

/// How wide stars are on a part of an image: the widths of all sources that are bright, isolated, round and more than a single
/// pixel.
package struct StarWidths: Hashable, Codable, Sendable {
    /// Full widths at half maximum in pixels, rising.
    package var values: [Float]

    /// The largest number of stars of a part of an image; the brightest count.
    private static let mostStars = 500
    /// Signal to noise from which a width can be trusted.
    private static let signalToNoise = 20.0
    private static let largestElongation = 1.5
    /// A hot pixel has all of its light in itself; a star as wide as two pixels has a fifth of it in its brightest pixel.
    static let largestConcentration = 0.55

    /// The configuration of the search for stars before the filter is known.
    package static func search(_ configuration: ScanConfiguration) -> ScanConfiguration {
        var search = configuration
        search.filter = .pyramid
        search.thresholdUnit = .pixel
        search.threshold = max(5, configuration.threshold)
        search.minimumArea = 5
        (search.columns, search.checkParts, search.localBackground) = (nil, nil, nil)
        return search
    }

    /// The parts of an image whose stars are measured before a scan. They depend on the image's size alone, so that the filter
    /// does not depend on how the image is cut into sectors.
    ///
    /// - Returns: At most four parts, the image's quarters or the middles of them.
    package static func samples(width: Int, height: Int) -> [PixelRect] {
        func stretches(_ length: Int) -> [(start: Int, length: Int)] {
            let count = length > sampleSide ? 2 : 1
            return (0..<count).map { number in
                let (from, to) = (number * length / count, (number + 1) * length / count)
                let taken = min(to - from, sampleSide)
                return (from + (to - from - taken) / 2, taken)
            }
        }
        return stretches(height).flatMap { row in
            stretches(width).map { PixelRect(x: $0.start, y: row.start, width: $0.length, height: row.length) }
        }
    }

    /// A part of this side has some hundred stars in a usual image.
    private static let sampleSide = 1024

    /// The widths of those sources of a part of an image that look like stars.
    package init(sample sources: [Source]) {
        let bright = sources.filter(Self.looksLikeStar)
            .sorted { ($0.fluxAuto, $0.y, $0.x) > ($1.fluxAuto, $1.y, $1.x) }.prefix(Self.mostStars)
        values = bright.map { Float($0.fwhm) }.sorted()
    }

    /// The widths of all those sources that look like stars.
    package init(_ sources: [Source]) {
        values = sources.filter(Self.looksLikeStar).map { Float($0.fwhm) }.sorted()
    }

    package init(merging parts: [StarWidths]) {
        values = parts.flatMap(\.values).sorted()
    }

    /// Whether a source is bright, isolated, round and more than a single pixel.
    static func looksLikeStar(_ source: Source) -> Bool {
        source.flags == 0 && source.fwhm > 0 && source.b > 0 && source.a / source.b < largestElongation
            && source.fluxAuto > signalToNoise * source.fluxErrorAuto
            && source.peak < largestConcentration * source.fluxAuto
    }

    /// Whether a worker can have measured these widths.
    package var isSound: Bool {
        values.count <= Self.mostStars && values.allSatisfy { $0.isFinite && $0 > 0 }
    }

    /// The width on which the narrowest of them agree. It is the width of the stars, because nothing but artefacts is narrower
    /// than these. Galaxies have widths of all kinds, and there are more of them than stars in a deep image, so the most
    /// frequent width would be theirs.
    ///
    /// The result is the narrowest peak in the density of the widths' logarithms that stands out from its surroundings, unless
    /// many sources are narrower still.
    ///
    /// - Returns: `nil` if too few agree on any width.
    package var seeing: Seeing? {
        let logarithms = values.filter { $0.isFinite && $0 > 0 }.map { log(Double($0)) }
        guard logarithms.count >= Self.leastValues, let peak = Self.narrowestPeak(logarithms) else { return nil }
        var middle = peak.place
        var members: [Double] = []
        for _ in 0..<5 {
            members = logarithms.filter { abs($0 - middle) < Self.reach }
            guard members.count >= Self.leastStars else { return nil }
            middle = members[members.count / 2]
        }
        let sigma =
            (RobustStatistics.median(members.map { abs($0 - middle) }) ?? 0) * RobustStatistics.sigmasPerDeviation
        let fwhm = exp(middle)
        return Seeing(
            fwhm: fwhm, error: fwhm * Self.standardError(sigma, members.count), stars: members.count,
            isClear: peak.isClear)
    }

    /// The standard error of the median of `count` values: sqrt(pi / 2) times that of their mean.
    private static func standardError(_ sigma: Double, _ count: Int) -> Double {
        sigma * (Double.pi / 2 / Double(count)).squareRoot()
    }

    /// The widths of the stars of two images, from the stars that both have. These are the sources on whose width both images
    /// together agree. Otherwise they are those as wide as stars in an image whose width of stars is known.
    ///
    /// - Parameters:
    ///   - pairs: The same sources in the one image and in the other.
    ///   - alone: The width of each image by itself.
    /// - Returns: `nil` if too few agree.
    package static func seeing(
        of pairs: [(first: Source, second: Source)], alone: (first: Seeing?, second: Seeing?) = (nil, nil)
    ) -> (first: Seeing, second: Seeing)? {
        let stars = pairs.filter { looksLikeStar($0.first) && looksLikeStar($0.second) }
        // The mean is the geometric one, because a galaxy is wider than a star in each image.
        var both = StarWidths([])
        both.values = stars.map { Float(($0.first.fwhm * $0.second.fwhm).squareRoot()) }.sorted()
        if let mean = both.seeing {
            let members = stars.filter { abs(log(($0.first.fwhm * $0.second.fwhm).squareRoot() / mean.fwhm)) < reach }
            if let found = middles(members, isClear: mean.isClear) { return found }
        }
        for known in [(\(first: Source, second: Source).first, alone.first), (\.second, alone.second)] {
            guard let width = known.1?.fwhm else { continue }
            let members = stars.filter { abs(log($0[keyPath: known.0].fwhm / width)) < reach }
            if let found = middles(members, isClear: false) { return found }
        }
        return nil
    }

    private static func middles(
        _ stars: [(first: Source, second: Source)], isClear: Bool
    ) -> (first: Seeing, second: Seeing)? {
        func middle(_ widths: [Double]) -> Seeing? {
            guard widths.count >= leastStars, let spread = RobustStatistics.spread(widths) else { return nil }
            let error = standardError(spread.sigma, widths.count)
            return Seeing(fwhm: spread.middle, error: error, stars: widths.count, isClear: isClear)
        }
        guard let first = middle(stars.map(\.first.fwhm)), let second = middle(stars.map(\.second.fwhm)) else {
            return nil
        }
        return (first, second)
    }

    /// With fewer sources, or fewer stars that agree, there is no result.
    private static let leastValues = 5
    private static let leastStars = 4
    /// The largest distance of the logarithms of two widths that agree.
    private static let reach = 0.1
    /// Standard deviation of the kernel of the density, in the logarithm of the width.
    private static let kernel = 0.05
    private static let bin = 0.01
    /// The half-width of a peak, and below, of the surroundings beside it, in the logarithm.
    private static let core = 0.08
    private static let side = 0.24
    /// The smallest height of a peak, in stars of exactly the same width.
    private static let leastDensity = 3.0
    /// The number of stars in a peak beyond those beside it, in units of their scatter. The first limit is for any peak, the
    /// second for a clear one, and the third for one that counts even if it is low compared with the highest.
    private static let leastExcess = 2.0
    private static let clearExcess = 5.0
    private static let highExcess = 4.0
    private static let lowShare = 0.25
    /// The largest share of sources that may be narrower, and below, that share for a clear peak.
    private static let mostNarrower = 0.3
    private static let clearNarrower = 0.1

    private static func narrowestPeak(_ logarithms: [Double]) -> (place: Double, isClear: Bool)? {
        guard let low = logarithms.first, let high = logarithms.last else { return nil }
        let rim = 4 * Int((kernel / bin).rounded())
        // Single precision has widths from e^-104 to e^89, which gives some twenty thousand bins.
        let bins = Int(((high - low) / bin).rounded()) + 1
        var density = [Double](repeating: 0, count: bins + 2 * rim)
        let weights = (-rim...rim).map { exp(-0.5 * pow(Double($0) * bin / kernel, 2)) }
        for value in logarithms {
            let place = Int(((value - low) / bin).rounded())
            for (offset, weight) in weights.enumerated() { density[place + offset] += weight }
        }
        let highest = density.max() ?? 0
        let count = Double(logarithms.count)
        for index in density.indices.dropFirst().dropLast()
        where density[index] >= leastDensity && density[index] > density[index - 1]
            && density[index] >= density[index + 1]
        {
            let place = low + Double(index - rim) * bin
            let inside = Double(logarithms.count { abs($0 - place) < core })
            let beside = Double(logarithms.count { (core..<side).contains(abs($0 - place)) })
            let narrower = Double(logarithms.count { $0 < place - 2 * core })
            guard narrower <= max(2, mostNarrower * count) else { return nil }
            // The surroundings on both sides together are twice as wide as the peak.
            let excess = (inside - beside / 2) / (beside / 2 + 1).squareRoot()
            guard inside >= Double(leastStars), excess >= leastExcess,
                excess >= highExcess || density[index] >= lowShare * highest
            else { continue }
            return (place, excess >= clearExcess && narrower <= clearNarrower * count)
        }
        return nil
    }

    /// A Gaussian as wide as the stars, in hundredths of a pixel; the pyramid if there are too few stars.
    package var filter: DetectionFilter {
        guard let seeing else { return .pyramid }
        return .asWide(as: seeing.fwhm)
    }
}

extension DetectionFilter {
    /// The Gaussian for stars of a width, rounded to hundredths of a pixel and within the widths that a filter may have.
    static func asWide(as fwhm: Double) -> DetectionFilter {
        .gaussian(fwhm: min(max((fwhm * 100).rounded() / 100, widths.lowerBound), widths.upperBound))
    }
}

extension ScanConfiguration {
    /// The width of the stars among some sources: the given one, or else the measured one; `nil` if there are too few stars.
    ///
    /// - Parameter isDual: Whether the sources were found in another image. The given width is that of the other image's
    ///   stars then.
    package func seeing(of sources: [Source], isDual: Bool) -> Seeing? {
        (isDual ? nil : seeing).map(Seeing.init(given:)) ?? StarWidths(sources).seeing
    }
}
