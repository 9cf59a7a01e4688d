/// Makes text from a peer fit for a log or a terminal: no control characters, bounded length.
package enum PrintableText {
    /// Longest text of a peer that is shown.
    package static let limit = 512

    package static func of(_ text: String) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(limit) {
            let isControl = scalar.value < 32 || (127...159).contains(scalar.value)
            shown.append(isControl || scalar.value == 0x2028 || scalar.value == 0x2029 ? " " : scalar)
        }
        return String(shown)
    }
}
