import Foundation

/// SplitMix64 (Steele, Lea and Flood 2014): small, and the same numbers on every machine.
struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A new seed, printed, or the one in the environment to repeat a run.
    static func seed(for test: String) -> UInt64 {
        let seed = ProcessInfo.processInfo.environment["CODEC_SEED"].flatMap(UInt64.init) ?? .random(in: 0...UInt64.max)
        print("\(test): CODEC_SEED=\(seed)")
        return seed
    }
}
