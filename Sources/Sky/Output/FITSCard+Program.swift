import Base

extension FITSCard {
    /// The program that writes a file, and what the numbers in it were measured by; of that nothing is said where it is not known.
    static func program(arithmetic: Arithmetic?) -> [FITSCard] {
        [FITSCard("CREATOR", .text("skynode " + SkyNetVersion.current), "program that made this")]
            + (arithmetic.map { [FITSCard("ARITHM", .text($0.text), arithmeticComment)] } ?? [])
    }

    /// The comment of a card with an arithmetic; it is short because the text is long.
    static let arithmeticComment = "measured by"
}
