/// A page of lines that is drawn over the last one, in place, for a terminal of some size.
struct ScreenPage {
    /// What the terminal gets: to the upper left, each line with what is behind its end cleared, then the rest of the screen
    /// cleared (ECMA-48: CUP, EL, ED).
    let text: String

    /// - Parameter lines: in full or in part: those that have no room above the last row are left out, because a page that is
    ///   higher than the screen is pushed up, and the next one does not cover it. Lines that are wider than the screen are
    ///   broken by the terminal, and have so many rows.
    init(_ lines: [String], columns: Int, rows: Int) {
        var (text, left) = ("\u{1B}[H", max(1, rows - 1))
        for line in lines {
            let (taken, isFull) = ScreenPage.rows(of: line, columns: columns)
            left -= taken
            guard left >= 0 else { break }
            // Behind a row's last column, the cursor still stands on that column, and would clear it.
            text += line + (isFull ? "\n" : "\u{1B}[K\n")
        }
        self.text = text + "\u{1B}[J"
    }

    /// How many rows a line takes, and whether it ends in the last column of one.
    private static func rows(of line: String, columns: Int) -> (count: Int, isFull: Bool) {
        var (count, used) = (1, 0)
        for character in TextStyle.withoutCodes(line) {
            // A wide character is not broken: it goes to the next row as a whole.
            if used + character.columns > columns { (count, used) = (count + 1, 0) }
            used += character.columns
        }
        return (count, used == columns)
    }
}
