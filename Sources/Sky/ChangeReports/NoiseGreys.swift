import Glibc

/// Greys for a difference in units of its noise: as much light as dark, and the same in every picture, so that pictures can be
/// compared. The noise appears as a texture, and values far above it are not all white (the inverse hyperbolic sine, as in
/// `GreyStretch`).
enum NoiseGreys {
    /// The values of black and white, and below, the end of the linear part, in sigmas.
    static let reach: Float = 60
    private static let softening: Float = 3

    /// The grey of every value, 128 for a missing one.
    static func apply(to values: [Float]) -> [UInt8] {
        let white = asinhf(reach / softening)
        return values.map { value in
            guard !value.isNaN else { return 128 }
            let share = min(max(asinhf(value / softening) / white, -1), 1)
            return UInt8((127.5 + 127.5 * share).rounded())
        }
    }
}
