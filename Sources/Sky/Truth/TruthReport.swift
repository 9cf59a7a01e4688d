/// How well a catalogue recovers the truth of a synthetic frame.
public struct TruthReport: Hashable, Sendable {
    /// The truth of one range of signal to noise, and how much of it was found.
    public struct Bin: Hashable, Sendable {
        /// Signal to noise from `low`, inclusive.
        public var low: Double
        /// Signal to noise up to `high`, exclusive.
        public var high: Double
        /// True sources in the range.
        public var total = 0
        /// The number of these that match a source of the catalogue of their own.
        public var found = 0
        /// The share that was found; `nil` for an empty bin.
        public var completeness: Double? { total > 0 ? Double(found) / Double(total) : nil }
    }

    /// The bins by signal to noise: 5-7, 7-10, 10-20, more.
    public private(set) var bins = [(5.0, 7.0), (7, 10), (10, 20), (20, .infinity)].map { Bin(low: $0.0, high: $0.1) }
    /// True sources of any brightness.
    public private(set) var truths: Int
    /// True sources of any brightness that were found.
    public private(set) var matched = 0
    /// Sources of the catalogue.
    public private(set) var detections: Int
    /// Sources of the catalogue with a true source of at least `believable` signal to noise nearby.
    public private(set) var genuine = 0
    /// Median distance in pixels between truth and catalogue at a signal to noise above 20; `nil` without any.
    public private(set) var positionError: Double?
    /// The same for the windowed positions.
    public private(set) var windowedError: Double?

    /// The largest distance of a match, in pixels.
    public static let radius = 2.0
    /// Signal to noise from which a true source can explain a detection; below, it is itself part of the noise.
    public static let believable = 1.5

    /// Compares the sources of a catalogue with the truth of the sky.
    ///
    /// Cosmic rays and trails are left out. A catalogue should not have them, and a detection that only they explain is not
    /// genuine.
    ///
    /// The brightest true source chooses first and takes the nearest source that is still free, so that a faint
    /// neighbour cannot claim a bright star's detection.
    public init(sources: [Source], truth: [TruthSource]) {
        let truth = truth.filter(\.kind.isCelestial)
        truths = truth.count
        detections = sources.count
        let found = PositionIndex(sources.map { ($0.x, $0.y) }, cell: Self.radius)
        var free = [Bool](repeating: true, count: sources.count)
        var errors: [Double] = []
        var windowed: [Double] = []
        for source in truth.sorted(by: { $0.flux > $1.flux }) {
            let match = found.nearest(x: source.x, y: source.y) { free[$0] }
            let bin = bins.firstIndex { $0.low <= source.signalToNoise && source.signalToNoise < $0.high }
            if let bin { bins[bin].total += 1 }
            guard let match else { continue }
            free[match.index] = false
            matched += 1
            if let bin { bins[bin].found += 1 }
            guard source.signalToNoise > 20 else { continue }
            errors.append(match.distance)
            let found = sources[match.index]
            let (dx, dy) = (found.xWindow - source.x, found.yWindow - source.y)
            windowed.append((dx * dx + dy * dy).squareRoot())
        }
        let believable = truth.filter { $0.signalToNoise >= Self.believable }
        let known = PositionIndex(believable.map { ($0.x, $0.y) }, cell: Self.radius)
        genuine = sources.count { known.nearest(x: $0.x, y: $0.y) { _ in true } != nil }
        (positionError, windowedError) = (RobustStatistics.median(errors), RobustStatistics.median(windowed))
    }

    /// Share of the catalogue that is genuine; `nil` for an empty catalogue.
    public var purity: Double? { detections > 0 ? Double(genuine) / Double(detections) : nil }

    /// The report as a few short lines for people.
    public var lines: [String] {
        var lines = ["found \(matched) of \(truths) true sources with \(detections) detections"]
        for bin in bins where bin.total > 0 {
            let range = bin.high == .infinity ? "above \(Int(bin.low))" : "\(Int(bin.low)) to \(Int(bin.high))"
            let share = Self.percent(bin.completeness)
            lines.append("  S/N \(Self.padded(range, 8))  \(share) complete  (\(bin.found) of \(bin.total))")
        }
        if purity != nil {
            lines.append("  purity        \(Self.percent(purity))           (\(genuine) of \(detections))")
        }
        if let positionError, let windowedError {
            lines.append(
                "  position error \(DecimalText.fixed(positionError, 3)) px, windowed "
                    + "\(DecimalText.fixed(windowedError, 3)) px  (median, S/N above 20)")
        }
        return lines
    }

    private static func percent(_ share: Double?) -> String {
        let text = share.map { DecimalText.fixed(100 * $0, 1) + " %" } ?? "-"
        return String(repeating: " ", count: max(7 - text.count, 0)) + text
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(width - text.count, 0))
    }
}
