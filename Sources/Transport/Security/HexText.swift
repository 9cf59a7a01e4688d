/// Bytes as hexadecimal digits.
enum HexText {
    /// Two lower-case digits.
    static func of(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return digits.count == 1 ? "0" + digits : digits
    }
}
