// A character is not a column of a terminal: one of Chinese, Japanese or Korean takes two, as an emoji does, and a mark over a
// letter takes none. The rule is that of the Unicode Standard, Annex 11. It is written down here because `wcwidth` of the C
// library knows only what the locale of the process has, which is nothing where that is "C", as in a container.

extension StringProtocol {
    /// How many columns of a terminal the text takes.
    var columns: Int { reduce(0) { $0 + $1.columns } }

    /// As much of the beginning as has room in so many columns.
    func prefix(columns room: Int) -> SubSequence {
        var left = room
        return prefix { character in
            left -= character.columns
            return left >= 0
        }
    }
}

extension String {
    /// The text with blanks behind it, as many columns wide as asked for, or wider.
    func padded(columns: Int) -> String { self + String(repeating: " ", count: Swift.max(0, columns - self.columns)) }
}

extension Character {
    /// The columns of its widest scalar: marks lie over the letter before them, and what several emoji make is one picture.
    var columns: Int {
        if isASCII { return 1 }
        // This mark chooses the coloured form of a character that is narrow without it.
        if unicodeScalars.first?.properties.isEmoji == true, unicodeScalars.contains("\u{FE0F}") { return 2 }
        return unicodeScalars.reduce(0) { Swift.max($0, $1.columns) }
    }
}

extension Unicode.Scalar {
    fileprivate var columns: Int {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: 0
        default: properties.isEmojiPresentation || Self.wide.contains { $0.contains(value) } ? 2 : 1
        }
    }

    /// The blocks of characters whose East_Asian_Width is W or F; those that are emoji are known to the standard library.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
        0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F2FF, 0x20000...0x3FFFD,
    ]
}
