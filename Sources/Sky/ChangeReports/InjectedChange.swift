import Base
import Glibc

/// A star that a comparison puts into the new image's copy, where none is, to see whether it finds what is new.
public struct InjectedChange: Hashable, Codable, Sendable {
    /// Place among all stars of the comparison, from 1; the noise of its photons follows from it.
    package let number: Int
    /// Pixels of the new image, counted from 0.
    package let x: Double
    package let y: Double
    /// Of the star in the new image alone, in the best aperture that there is.
    package let signalToNoise: Double

    /// What became of it.
    public struct Outcome: Hashable, Codable, Sendable {
        /// As in `InjectedChange`.
        package let number: Int
        package let x: Double
        package let y: Double
        package let signalToNoise: Double
        /// Total flux in units of the new image.
        package let flux: Double
        /// Whether the comparison reports it.
        let isFound: Bool
    }

    /// Stars of a comparison where nobody says how many: they tell a share above a signal to noise of 10 to 3 per cent, and cost a
    /// comparison of one part a tenth of its time.
    public static let usualCount = 400
    /// More tell no more.
    public static let countLimit = 20_000

    /// From what no comparison finds to what every one should.
    static let signalsToNoise = 2.0...100.0

    /// Stars all over an image, one in each of as many equal steps of the logarithm of the signal to noise.
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

    /// Refuses what no comparison asks for.
    ///
    /// - Parameter core: of the sector that has the star.
    package func validate(in core: PixelRect) throws(SkyError) {
        try SkyError.unless(
            Source.places.contains(x) && Source.places.contains(y) && core.contains(pixel),
            "a star to be injected that the sector does not have")
        try SkyError.unless(
            Self.signalsToNoise.contains(signalToNoise) && (1...Self.countLimit).contains(number),
            "a star to be injected with a signal to noise of \(signalToNoise)")
    }
}
