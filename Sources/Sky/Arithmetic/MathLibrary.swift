import Glibc

/// The C library's mathematical functions, on which results depend too: sine, exponential and their like are rounded as the
/// library and the processor have it. glibc 2.36 and 2.41 agree in all functions that are used here, but each has two forms of
/// most of them, one for processors with fused multiply-add and one for those without, which differ in the last bit of one value
/// in 1,500; now and then that decides the last digit in a catalogue.
package enum MathLibrary {
    /// Tells two libraries apart that give different values: a hash of what the functions give for some thousand arguments, in
    /// hexadecimal. It takes half a millisecond, once.
    package static let mark: String = {
        let text = String(hash(arguments: 2048), radix: 16)
        return String(repeating: "0", count: 8 - text.utf8.count) + text
    }()

    private static func hash(arguments: Int) -> UInt32 {
        // FNV-1a (RFC 9923) over whole words.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func add(_ values: UInt64...) { for value in values { hash = (hash ^ value) &* 0x100_0000_01b3 } }
        // The golden ratio's multiples lie evenly in the interval; no argument is one of those that every library gets right.
        var share = 0.5
        for _ in 0..<arguments {
            share = (share + 0.618_033_988_749_894_9).truncatingRemainder(dividingBy: 1)
            let (signed, angle) = (2 * share - 1, 14 * share - 7)
            add(sin(angle).bitPattern, cos(angle).bitPattern, tan(angle).bitPattern)
            add(asin(signed).bitPattern, acos(signed).bitPattern, atan(10 * signed).bitPattern)
            add(atan2(angle, 3 - 5 * share).bitPattern, hypot(angle, share).bitPattern, cbrt(angle).bitPattern)
            add(exp(5 * angle).bitPattern, pow(100 * share, signed).bitPattern, erf(2 * signed).bitPattern)
            add(log(100 * share).bitPattern, log10(100 * share).bitPattern, erfc(7 * share).bitPattern)
            add(UInt64(expf(Float(5 * angle)).bitPattern))
        }
        return UInt32(truncatingIfNeeded: hash ^ hash >> 32)
    }
}
