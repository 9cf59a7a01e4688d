/// A small seeded generator (Steele, Lea and Flood, OOPSLA 2014). The same seed gives the same run. It is not for secrets.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= SplitMix64.step
        return SplitMix64.mixed(state)
    }

    /// What the state grows by: 2 to the power of 64, divided by the golden ratio, and made odd.
    @inlinable
    package static var step: UInt64 { 0x9E37_79B9_7F4A_7C15 }

    /// The output function: words that differ in one bit come out different in half of theirs. No two come out equal.
    @inlinable
    package static func mixed(_ word: UInt64) -> UInt64 {
        var mixed = word
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
