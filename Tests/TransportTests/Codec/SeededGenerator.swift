import Base
import Foundation

/// Small, and the same numbers on every machine.
typealias SeededGenerator = SplitMix64

extension SplitMix64 {
    /// A new seed, printed, or the one in the environment to repeat a run.
    static func seed(for test: String) -> UInt64 {
        let seed = ProcessInfo.processInfo.environment["CODEC_SEED"].flatMap(UInt64.init) ?? .random(in: 0...UInt64.max)
        print("\(test): CODEC_SEED=\(seed)")
        return seed
    }
}
