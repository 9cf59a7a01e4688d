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

    private static func padded(_ number: some BinaryInteger, digits: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: digits - text.count) + text
    }
}
