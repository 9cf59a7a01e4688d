import Base
import Glibc

/// The noise of a star's own light. It is a function of star and pixel and not a stream of random numbers, so that it is the
/// same for any part of the image and in any order of reading.
struct PhotonNoise {
    private let seed: UInt64
    /// Electrons per unit of the image, above 0.
    private let gain: Double

    /// Returns `nil` if the gain is not known.
    init?(seed: UInt64, star: Int, gain: Double) {
        guard gain > 0 else { return nil }
        self.seed = SplitMix64.mixed(seed ^ SplitMix64.mixed(UInt64(truncatingIfNeeded: star) &+ 0x51A2))
        self.gain = gain
    }

    /// The value that a pixel gets in addition to the expected `light`, in units of the image. A normal distribution of the
    /// same variance stands for Poisson's; on a sky of at least 20 electrons a pixel the difference is not visible.
    func deviation(light: Double, x: Int, y: Int) -> Double {
        let place = UInt64(truncatingIfNeeded: y) << 32 | UInt64(truncatingIfNeeded: x) & 0xFFFF_FFFF
        let first = SplitMix64.mixed(seed &+ place &* SplitMix64.step)
        let second = SplitMix64.mixed(first ^ 0xD1B5_4A32_D192_ED03)
        // The formula is that of Box and Muller 1958; 1 - u lies above 0.
        let radius = (-2 * log(1 - Double(first >> 11) * 0x1p-53)).squareRoot()
        return (light / gain).squareRoot() * radius * cos(2 * .pi * Double(second >> 11) * 0x1p-53)
    }
}
