/// Makes text from outside (a peer, a file's name) fit for one line of a log, a terminal or a text file.
///
/// What is not shown as a character of its own becomes `?`: control characters drive terminals, marks for the direction of
/// writing make a name look like another one (CVE-2021-42574), and invisible ones make two names look the same.
package enum PrintableText {
    /// Longest text of a peer that is shown.
    package static let limit = 512

    /// Words of a peer: bounded, and of an end of a line a blank is left.
    package static func of(_ text: String) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(limit) {
            shown.append(holds(scalar) ? scalar : isBlank(scalar) ? " " : "?")
        }
        return String(shown)
    }

    /// All of a name, which is bounded already, such as a path.
    package static func whole(_ text: String) -> String {
        if isWhole(text) { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { holds($0) ? $0 : "?" }))
    }

    /// Whether all of a text is fit to be shown.
    package static func isWhole(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy(holds)
    }

    /// Ends of lines and tabs.
    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 9...13, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }

    /// Whether a character is shown as one of its own.
    package static func holds(_ scalar: Unicode.Scalar) -> Bool {
        // Nearly all of what comes.
        if scalar.isASCII { return (32..<127).contains(scalar.value) }
        // They choose between a character's black and its coloured form, and no name looks like another by them.
        if (0xFE0E...0xFE0F).contains(scalar.value) { return true }
        switch scalar.properties.generalCategory {
        // Controls of eight-bit terminals such as CSI (U+009B); directions, zero widths and tags; ends of lines.
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: return false
        // Others that are drawn as nothing, such as the Hangul fillers (Unicode Standard Annex 44).
        default: return !scalar.properties.isDefaultIgnorableCodePoint
        }
    }
}
