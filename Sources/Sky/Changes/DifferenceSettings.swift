import Glibc

/// From when on a difference counts.
public struct DifferenceSettings: Hashable, Codable, Sendable {
    /// Least evidence of a change that is reported, in standard deviations.
    public var threshold = 5.5
    /// Least significance of a detection that may complete a moving source's track, not reported otherwise.
    public var trackThreshold = 4.5
    /// Least evidence of a change that is reported because one image alone shows a source there, and the other shows none. The
    /// difference has the noise of both, and a faint source less of a chance in it; that there is a source need not be proved
    /// by it, only that it is not in both.
    public var soleThreshold = 4.4
    /// Signal to noise from which an image alone shows a source.
    public var presence = 5.4
    /// Signal to noise below which it shows none.
    public var absence = 2.5

    /// Signal to noise below which a source is said to be fainter than something.
    private static let seen = 3.0
    /// Signal to noise below which a place is no sky.
    private static let hole = -5.0

    public init() {}

    /// - Parameter info: Of the new image: the more pixels it has, the more of them chance lifts, and the less a source of some
    ///   brightness can be told from that.
    init(_ info: ImageInfo) {
        presence = Self.presence(pixels: Double(info.width) * Double(info.height))
    }

    /// The deviate that so many pixels of noise exceed two times in three images. Noise is smoothed, so that ten or twenty pixels are
    /// one draw; and the difference has to stand out, too. `make epochs` counts what comes of it.
    private static func presence(pixels: Double) -> Double {
        var (low, high) = (4.8, 6.0)
        for _ in 0..<30 {
            let middle = (low + high) / 2
            if erfc(middle / 2.0.squareRoot()) / 2 * pixels > 0.65 { low = middle } else { high = middle }
        }
        return high
    }

    /// Whether a change is reported.
    package func reports(_ candidate: DifferenceCandidate) -> Bool {
        let evidence = candidate.evidence
        // What neither image shows by itself is noise in both, of opposite sign.
        guard candidate.there >= Self.seen else { return false }
        // The sky is nowhere darker than dark: the other image is spoilt there.
        guard candidate.elsewhere > Self.hole || candidate.there > -3 * candidate.elsewhere else { return false }
        return evidence >= threshold || (evidence >= soleThreshold && isSole(candidate))
    }

    /// Whether the source is in one image only.
    private func isSole(_ candidate: DifferenceCandidate) -> Bool {
        candidate.there >= presence && abs(candidate.elsewhere) < absence
    }

    /// Whether anybody may want to know of it.
    func keeps(_ candidate: DifferenceCandidate) -> Bool {
        abs(candidate.significance) >= min(threshold, trackThreshold) || reports(candidate)
    }

    /// No peak below is looked at.
    var lowest: Double { min(threshold, trackThreshold, soleThreshold) }
}

extension DifferenceCandidate {
    /// Signal to noise of what lies at the place in the image that is brighter there.
    package var there: Double { significance > 0 ? fluxNew / fluxNewError : fluxOld / fluxOldError }
    /// The same in the other image.
    var elsewhere: Double { significance > 0 ? fluxOld / fluxOldError : fluxNew / fluxNewError }

    /// By how much a change is likelier than none, as a deviate of the normal distribution.
    ///
    /// No source is darker than nothing. Where the other image is below its sky, a change explains that as badly as no change does:
    /// the logarithm of the ratio of likelihoods, with neither flux below zero, is half of the square of the significance less that
    /// of the hole. A hole in one image beside a bump of noise in the other is no source.
    var evidence: Double {
        let hole = min(elsewhere, 0)
        let square = significance * significance - hole * hole
        return square > 0 ? square.squareRoot() : 0
    }
}
