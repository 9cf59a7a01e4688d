/// A choice of settings for a purpose.
public enum DetectionPreset: String, CaseIterable, Sendable {
    /// SExtractor's own defaults: the sources its users know.
    case sextractor
    /// Faint stars: a filter as wide as the image's stars, and a threshold of five standard deviations of what comes out.
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
            // The filtered noise is known: one pixel above five sigma is no accident.
            configuration.minimumArea = 1
        }
        return configuration
    }
}
