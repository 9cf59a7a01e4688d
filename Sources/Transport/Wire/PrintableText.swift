/// Makes text from a peer fit for a log or a terminal: no control characters, bounded length.
package enum PrintableText {
    /// Longest text of a peer that is shown.
    package static let limit = 512

    package static func of(_ text: String) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(limit) {
            shown.append(holds(scalar) ? scalar : " ")
        }
        return String(shown)
    }

    /// Whether all of a text is fit to be shown.
    package static func isWhole(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy(holds)
    }

    /// No control character, neither of ASCII nor of the eight-bit terminals (C1, such as CSI at U+009B), and no
    /// separator of lines or paragraphs.
    private static func holds(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 32 && !(127...159).contains(scalar.value) && scalar.value != 0x2028 && scalar.value != 0x2029
    }
}
