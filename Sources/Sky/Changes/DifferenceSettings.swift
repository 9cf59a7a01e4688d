import Glibc

/// The limits from which a difference counts.
public struct DifferenceSettings: Hashable, Codable, Sendable {
    /// The least evidence of a change that is reported, in standard deviations.
    public var threshold = 5.5
    /// The least significance of a detection that may complete a moving source's track, and is not reported otherwise.
    public var trackThreshold = 4.5
    /// The least evidence of a change that is reported because one image alone shows a source there and the other shows none.
    /// The difference has the noise of both images, so a faint source is less visible in it. The difference need not prove that
    /// there is a source, but only that the source is not in both images.
    public var soleThreshold = 4.4
    /// The signal to noise from which an image alone shows a source.
    public var presence = 5.4
    /// The signal to noise below which an image shows no source.
    public var absence = 2.5

    /// The signal to noise from which an image shows enough light to report a change.
    private static let seen = 3.0
    /// The signal to noise below which a place is not sky.
    private static let hole = -5.0

    public init() {}

    /// - Parameter info: The size of the new image. In more pixels, chance makes higher peaks, which hide brighter sources.
    init(_ info: ImageInfo) {
        presence = Self.presence(pixels: Double(info.width) * Double(info.height))
    }

    /// The deviate that as many pixels of noise exceed in two of three images. The noise is smoothed, so ten or twenty pixels
    /// are one draw; and the difference has to stand out, too. `make epochs` counts the results.
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
        // A difference that neither image shows by itself is noise in both, of opposite sign.
        guard candidate.there >= Self.seen else { return false }
        // The sky is nowhere darker than dark, so the other image is spoilt there.
        guard candidate.elsewhere > Self.hole || candidate.there > -3 * candidate.elsewhere else { return false }
        return evidence >= threshold || (evidence >= soleThreshold && isSole(candidate))
    }

    /// Whether the source is in one image only.
    private func isSole(_ candidate: DifferenceCandidate) -> Bool {
        candidate.there >= presence && abs(candidate.elsewhere) < absence
    }

    /// Whether the candidate is kept in the result.
    func keeps(_ candidate: DifferenceCandidate) -> Bool {
        abs(candidate.significance) >= min(threshold, trackThreshold) || reports(candidate)
    }

    /// The search leaves out all peaks below this significance.
    var lowest: Double { min(threshold, trackThreshold, soleThreshold) }
}

extension DifferenceCandidate {
    /// The signal to noise of the light at the place, in the image that is brighter there.
    package var there: Double { significance > 0 ? fluxNew / fluxNewError : fluxOld / fluxOldError }
    /// The same in the other image.
    var elsewhere: Double { significance > 0 ? fluxOld / fluxOldError : fluxNew / fluxNewError }

    /// How much likelier a change is than none, as a deviate of the normal distribution.
    ///
    /// No source is darker than nothing. If the other image is below its sky, a change explains that as badly as no change
    /// does. The logarithm of the ratio of likelihoods, with no flux below zero, is then half of the square of the significance
    /// less that of the hole. So a hole in one image beside a bump of noise in the other is not a source.
    var evidence: Double {
        let hole = min(elsewhere, 0)
        let square = significance * significance - hole * hole
        return square > 0 ? square.squareRoot() : 0
    }
}
