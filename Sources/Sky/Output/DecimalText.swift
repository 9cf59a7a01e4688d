import Glibc

/// Numbers as text with a fixed precision, the same bytes on every machine.
///
/// An empty field stands for a value that is missing or not finite, as in TOPCAT's and pandas' CSV.
enum DecimalText {
    /// Appends `value` with exactly `decimals` places (0 to 9).
    static func appendFixed(_ value: Double, _ decimals: Int, to bytes: inout [UInt8]) {
        guard value.isFinite, powers.indices.contains(decimals) else { return }
        let scaled = (value * powers[decimals]).rounded(.toNearestOrEven)
        // Beyond 2^53 a Double has no such decimals; printf writes the digits that it has.
        guard abs(scaled) < 9e15 else { return appendPrintf("%.*f", decimals, value, to: &bytes) }
        // A number below 9e15 has 16 digits at most, with a sign and a point; the last digit comes first.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { text in
            var (rest, start, places) = (UInt64(abs(scaled)), text.count, 0)
            repeat {
                if places == decimals && decimals > 0 {
                    start -= 1
                    text[start] = UInt8(ascii: ".")
                }
                start -= 1
                text[start] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
                places += 1
            } while rest > 0 || places <= decimals
            if scaled < 0 {
                start -= 1
                text[start] = UInt8(ascii: "-")
            }
            bytes.append(contentsOf: text[start...])
        }
    }

    /// Appends `value` with `digits` significant digits, without trailing zeros, as `%g` does.
    static func appendSignificant(_ value: Double, _ digits: Int, to bytes: inout [UInt8]) {
        guard value.isFinite else { return }
        // Most numbers take this way, which is ten times faster than printf. log10 may be off by one at a power of ten. The
        // result is then a digit more or less, and the same on every machine.
        let decimals = value == 0 ? 0 : digits - 1 - Int(log10(abs(value)).rounded(.down))
        if powers.indices.contains(decimals) {
            appendFixed(value, decimals, to: &bytes)
            guard decimals > 0 else { return }
            while bytes.last == UInt8(ascii: "0") { bytes.removeLast() }
            if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
            return
        }
        appendPrintf("%.*g", digits, value, to: &bytes)
    }

    /// `value` with exactly `decimals` places; empty when it is not finite.
    static func fixed(_ value: Double, _ decimals: Int) -> String {
        var bytes: [UInt8] = []
        appendFixed(value, decimals, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let powers: [Double] = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]

    /// Appends the value by printf. The program never calls `setlocale`, so the decimal point is a point.
    private static func appendPrintf(_ format: String, _ precision: Int, _ value: Double, to bytes: inout [UInt8]) {
        // The longest finite Double in %f has 309 digits before the point.
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 352) { buffer in
            let count = withVaList([Int32(clamping: precision), value]) {
                vsnprintf(buffer.baseAddress, buffer.count, format, $0)
            }
            let length = min(max(Int(count), 0), buffer.count - 1)
            bytes.append(contentsOf: buffer[..<length].lazy.map { UInt8(bitPattern: $0) })
        }
    }
}
