/// From when on a difference counts.
public struct DifferenceSettings: Hashable, Codable, Sendable {
    /// Least significance of a change that is reported.
    public var threshold = 5.5
    /// Least significance of a detection that may complete a moving source's track, not reported otherwise.
    public var trackThreshold = 4.5
    /// Least significance of a change that is reported because one image alone shows a source there, beyond doubt, and the other
    /// shows none. The difference has the noise of both, and a faint source half as much of a chance in it; that a source is there
    /// need not be proved again, only that it is not in both.
    public var soleThreshold = 4.5
    /// Signal to noise from which an image alone shows a source beyond doubt.
    public var presence = 4.8
    /// Signal to noise below which it shows none.
    public var absence = 2.5

    public init() {}

    /// Whether a change of this significance is reported.
    func reports(_ candidate: DifferenceCandidate) -> Bool {
        let significance = abs(candidate.significance)
        return significance >= threshold || (significance >= soleThreshold && isSole(candidate))
    }

    /// Whether the source is in one image only.
    private func isSole(_ candidate: DifferenceCandidate) -> Bool {
        let (new, old) = (
            candidate.fluxNew / candidate.fluxNewError, candidate.fluxOld / candidate.fluxOldError
        )
        let (there, elsewhere) = candidate.significance > 0 ? (new, old) : (old, new)
        return there >= presence && abs(elsewhere) < absence
    }

    /// Whether anybody may want to know of it.
    func keeps(_ candidate: DifferenceCandidate) -> Bool {
        abs(candidate.significance) >= min(threshold, trackThreshold) || reports(candidate)
    }

    /// No peak below is looked at.
    var lowest: Double { min(threshold, trackThreshold, soleThreshold) }
}
