import Base
import Glibc

/// A star that a comparison adds to a copy of the new image, where there is none, to see whether it finds new sources.
public struct InjectedChange: Hashable, Codable, Sendable {
    /// The star's place among all stars of the comparison, from 1. The noise of its photons follows from it.
    package let number: Int
    /// The star's position in pixels of the new image, counted from 0.
    package let x: Double
    package let y: Double
    /// The star's signal to noise in the new image alone, in the best possible aperture.
    package let signalToNoise: Double

    /// The result for one star.
    public struct Outcome: Hashable, Codable, Sendable {
        /// The same as in `InjectedChange`.
        package let number: Int
        package let x: Double
        package let y: Double
        package let signalToNoise: Double
        /// Total flux in units of the new image.
        package let flux: Double
        /// Whether the comparison reports it.
        let isFound: Bool
    }

    /// The number of stars if the user gives none. They determine the share above a signal to noise of 10 to 3 per cent, and
    /// take a tenth of the time of a comparison of one part.
    public static let usualCount = 400
    /// A larger number gives no better result.
    public static let countLimit = 20_000

    /// The range goes from stars that no comparison finds to stars that every comparison should find.
    static let signalsToNoise = 2.0...100.0

    /// Stars all over an image. Their signals to noise are spread evenly in the logarithm, one star in each of `count` equal
    /// steps.
    package static func all(_ count: Int, seed: UInt64, info: ImageInfo) -> [InjectedChange] {
        var random = RandomStream(seed: seed, .injected)
        let range = signalsToNoise
        return (0..<min(max(count, 0), countLimit)).map { index in
            let step = (Double(index) + random.uniform()) / Double(count)
            return InjectedChange(
                number: index + 1, x: random.uniform(0, Double(max(info.width - 1, 0))),
                y: random.uniform(0, Double(max(info.height - 1, 0))),
                signalToNoise: range.lowerBound * pow(range.upperBound / range.lowerBound, step))
        }
    }

    /// The pixel that its centre is in.
    var pixel: PixelRect { PixelRect(x: Int(x.rounded()), y: Int(y.rounded()), width: 1, height: 1) }

    /// Refuses a star that no comparison asks for.
    ///
    /// - Parameter core: The core of the sector that has the star.
    package func validate(in core: PixelRect) throws(SkyError) {
        try SkyError.unless(
            Source.places.contains(x) && Source.places.contains(y) && core.contains(pixel),
            "a star to be injected that the sector does not have")
        try SkyError.unless(
            Self.signalsToNoise.contains(signalToNoise) && (1...Self.countLimit).contains(number),
            "a star to be injected with a signal to noise of \(signalToNoise)")
    }
}
