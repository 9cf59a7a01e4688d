/// A choice of settings for a purpose.
public enum DetectionPreset: String, CaseIterable, Sendable {
    /// SExtractor's own defaults, which give the sources that its users know.
    case sextractor
    /// For faint stars: a filter as wide as the image's stars, and a threshold of five standard deviations of the filtered
    /// noise.
    case sensitive

    /// The settings.
    public var configuration: ScanConfiguration {
        var configuration = ScanConfiguration()
        switch self {
        case .sextractor: break
        case .sensitive:
            configuration.filter = .seeing
            configuration.thresholdUnit = .filtered
            configuration.threshold = 5
            // The noise after the filter is known, so even one pixel above five sigma is not there by chance.
            configuration.minimumArea = 1
        }
        return configuration
    }
}
