/// Numbers as hexadecimal digits.
package enum HexText {
    /// Two lower-case digits for a byte.
    package static func of(_ byte: UInt8) -> String { padded(byte, digits: 2) }

    /// Four lower-case digits.
    package static func of(_ number: UInt16) -> String { padded(number, digits: 4) }

    /// Sixteen lower-case digits.
    package static func of(_ number: UInt64) -> String { padded(number, digits: 16) }

    /// Two lower-case digits for each byte.
    package static func of(_ bytes: some Sequence<UInt8>) -> String { bytes.map(of).joined() }

    /// The bytes that `of` writes in this way; `nil` for every other text.
    package static func bytes(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    private static func padded(_ number: some BinaryInteger, digits: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: digits - text.count) + text
    }
}
