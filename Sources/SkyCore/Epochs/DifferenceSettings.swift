/// From when on a difference counts.
public struct DifferenceSettings: Hashable, Codable, Sendable {
    /// Least significance of a change that is reported.
    public var threshold = 5.5
    /// Least significance of a detection that may complete a moving source's track, not reported otherwise.
    public var trackThreshold = 4.5

    public init() {}
}
