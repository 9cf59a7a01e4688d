import Base
import Glibc

/// A seeded generator for one purpose: xoshiro256** (Blackman and Vigna 2021, ACM Trans. Math. Softw. 47, 36). SplitMix64 fills
/// its state, as its authors advise.
///
/// It is not the standard library's generator, because a frame must be the same on every machine and with every Swift release.
package struct RandomStream: RandomNumberGenerator {
    private var s0: UInt64
    private var s1: UInt64
    private var s2: UInt64
    private var s3: UInt64
    /// The second deviate of the last pair that `normal()` made.
    private var spare: Double?

    /// The purpose of a stream.
    package enum Purpose: UInt64 {
        case stars = 1
        case galaxies, noise, conditions, transients, movers, variables, cosmicRays, trails, badBlock, injected
    }

    /// The stream for one purpose. A purpose whose numbers are new in each epoch has one stream for each epoch.
    init(seed: UInt64, _ purpose: Purpose, epoch: Int = 0) {
        self.init(seed: seed, purpose: purpose.rawValue | UInt64(truncatingIfNeeded: epoch) << 32)
    }

    /// - Parameter purpose: Streams of one seed and different purposes are independent, so that more galaxies do not move the
    ///   stars.
    init(seed: UInt64, purpose: UInt64) {
        var filler = SplitMix64(seed: seed ^ SplitMix64.mixed(purpose &* SplitMix64.step))
        s0 = filler.next()
        s1 = filler.next()
        s2 = filler.next()
        s3 = filler.next()
    }

    package mutating func next() -> UInt64 {
        let product = s1 &* 5
        let result = ((product << 7) | (product >> 57)) &* 9
        let shifted = s1 << 17
        s2 ^= s0
        s3 ^= s1
        s1 ^= s2
        s0 ^= s3
        s2 ^= shifted
        s3 = (s3 << 45) | (s3 >> 19)
        return result
    }

    /// Uniform in [0, 1), all 53 bits of it.
    mutating func uniform() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    /// Uniform between `low` and `high`.
    mutating func uniform(_ low: Double, _ high: Double) -> Double {
        low + (high - low) * uniform()
    }

    /// A number between two positive ones, evenly distributed in its logarithm: it is as often between 1 and 2 as between 2 and
    /// 4.
    mutating func logUniform(_ range: ClosedRange<Double>) -> Double {
        exp(uniform(log(range.lowerBound), log(range.upperBound)))
    }

    /// One of the numbers 0..<`count`; 0 if `count` is 0.
    package mutating func index(_ count: Int) -> Int {
        min(Int(uniform() * Double(max(count, 0))), max(count - 1, 0))
    }

    /// `values` in random order (Fisher and Yates 1938).
    mutating func shuffled(_ values: [Int]) -> [Int] {
        var values = values
        for last in values.indices.dropFirst().reversed() { values.swapAt(last, index(last + 1)) }
        return values
    }

    /// A normal deviate of mean 0 and variance 1, by the polar method (Marsaglia and Bray 1964, SIAM Rev. 6, 260).
    package mutating func normal() -> Double {
        if let spare {
            self.spare = nil
            return spare
        }
        while true {
            let u = 2 * uniform() - 1
            let v = 2 * uniform() - 1
            let s = u * u + v * v
            guard s < 1, s > 0 else { continue }
            let factor = (-2 * log(s) / s).squareRoot()
            spare = v * factor
            return u * factor
        }
    }
}
