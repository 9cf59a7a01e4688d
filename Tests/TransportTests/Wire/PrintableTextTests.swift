import Base
import Testing

@testable import Transport

@Suite struct PrintableTextTests {
    @Test(arguments: [
        // Directions: marks, embeddings and overrides, isolates, the Arabic letter mark.
        "\u{200E}", "\u{200F}", "\u{202A}", "\u{202B}", "\u{202C}", "\u{202D}", "\u{202E}", "\u{2066}", "\u{2067}",
        "\u{2068}", "\u{2069}", "\u{61C}",
        // Invisible: zero width, word joiner, soft hyphen, byte order mark, tags, fillers.
        "\u{200B}", "\u{200C}", "\u{200D}", "\u{2060}", "\u{AD}", "\u{FEFF}", "\u{E0001}", "\u{E0041}", "\u{3164}",
        "\u{115F}", "\u{34F}", "\u{180E}", "\u{FFF9}", "\u{1D173}", "\u{E0100}",
        // Controls of terminals.
        "\u{0}", "\u{7}", "\u{1B}", "\u{7F}", "\u{9B}", "\u{9D}",
    ])
    func `characters that cannot be shown are replaced by question marks`(hidden: String) {
        #expect(PrintableText.of("a\(hidden)b") == "a?b")
        #expect(PrintableText.whole("a\(hidden)b") == "a?b")
        #expect(!PrintableText.isWhole("a\(hidden)b") && !Hello.isValidName("a\(hidden)b"))
    }

    @Test(arguments: ["\n", "\t", "\r", "\u{85}", "\u{2028}", "\u{2029}"])
    func `a line end becomes a blank in text, and a question mark in names`(end: String) {
        #expect(PrintableText.of("a\(end)b") == "a b" && PrintableText.whole("a\(end)b") == "a?b")
        #expect(!PrintableText.isWhole("a\(end)b"))
    }

    @Test(arguments: ["m13.fits", "Sternwarte Göttingen", "東京", "M 31 ⚡️", "e\u{301}", "שלום", "a\u{A0}b", "€ 😀"])
    func `names of people and places stay as they are`(name: String) {
        #expect(PrintableText.of(name) == name && PrintableText.whole(name) == name && PrintableText.isWhole(name))
    }

    @Test func `a peer's text is cut to a limit, and a path is not`() {
        let long = String(repeating: "x", count: 1000)
        #expect(PrintableText.of(long).count == PrintableText.limit)
        #expect(PrintableText.whole(long) == long)
    }
}
