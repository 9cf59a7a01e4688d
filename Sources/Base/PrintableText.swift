/// Makes text from outside (a peer, a file's name) fit for one line of a log, a terminal or a text file.
///
/// Everything that is not shown as a character of its own becomes `?`. Control characters drive terminals, marks for the
/// direction of writing make a name look like another one (CVE-2021-42574), and invisible characters make two names look
/// the same.
package enum PrintableText {
    /// The longest text of a peer that is shown, in Unicode scalars.
    package static let limit = 512

    /// Returns words of a peer, cut to the limit. Tabs and ends of lines become blanks.
    package static func of(_ text: String) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(limit) {
            shown.append(holds(scalar) ? scalar : isBlank(scalar) ? " " : "?")
        }
        return String(shown)
    }

    /// Returns a whole name, such as a path. Its length must already be limited.
    package static func whole(_ text: String) -> String {
        if isWhole(text) { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { holds($0) ? $0 : "?" }))
    }

    /// Whether all characters of a text can be shown.
    package static func isWhole(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy(holds)
    }

    /// Whether a character is a tab or the end of a line.
    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 9...13, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }

    /// Whether a character is shown as one of its own.
    package static func holds(_ scalar: Unicode.Scalar) -> Bool {
        // Nearly all characters that come are ASCII.
        if scalar.isASCII { return (32..<127).contains(scalar.value) }
        // These two choose between the black and the coloured form of a character, and do not make a name look like another one.
        if (0xFE0E...0xFE0F).contains(scalar.value) { return true }
        switch scalar.properties.generalCategory {
        // These are controls of eight-bit terminals such as CSI (U+009B); directions, zero widths and tags; and ends of lines.
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: return false
        // The rest may hold other characters that are drawn as nothing, such as the Hangul fillers (Unicode Standard Annex 44).
        default: return !scalar.properties.isDefaultIgnorableCodePoint
        }
    }
}
