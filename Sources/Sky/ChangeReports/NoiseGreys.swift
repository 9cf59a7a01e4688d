import Glibc

/// Greys for a difference in units of its noise: as much light as dark, the same in every picture, so that two can be compared.
/// The noise is seen as a texture, and what is far above it is not all white (the inverse hyperbolic sine, as `GreyStretch`).
enum NoiseGreys {
    /// Where black and white are, and where the linear part ends, in sigmas.
    static let reach: Float = 60
    private static let softening: Float = 3

    /// Grey of every value, 128 for none.
    static func apply(to values: [Float]) -> [UInt8] {
        let white = asinhf(reach / softening)
        return values.map { value in
            guard !value.isNaN else { return 128 }
            let share = min(max(asinhf(value / softening) / white, -1), 1)
            return UInt8((127.5 + 127.5 * share).rounded())
        }
    }
}
