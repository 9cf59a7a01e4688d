/// The parser's help, arranged and in the colours of a terminal.
struct LongHelp {
    private let text: String

    /// - Parameter text: the parser's text, which puts groups with a title before a command's own options.
    init(_ text: String) {
        var blocks = text.split(separator: "\n\n", omittingEmptySubsequences: false).map(String.init)
        let title = HelpSection.connection.uppercased() + ":\n"
        guard let place = blocks.firstIndex(where: { $0.hasPrefix(title) }),
            let options = blocks.firstIndex(where: { $0.hasPrefix("OPTIONS:\n") }), place < options
        else {
            self.text = text
            return
        }
        // The last block ends the text.
        let ending = blocks[options].hasSuffix("\n") ? "\n" : ""
        if !ending.isEmpty { blocks[options].removeLast() }
        blocks.insert(blocks.remove(at: place) + ending, at: options)
        self.text = blocks.joined(separator: "\n\n")
    }

    /// The help in a style. Words in capitals before a colon are a heading.
    func text(_ style: TextStyle) -> String {
        guard style.isColoured else { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard let match = line.prefixMatch(of: /[A-Z][A-Z ]+:/) else { return String(line) }
            return style.apply(.heading, to: String(match.0)) + line[match.range.upperBound...]
        }.joined(separator: "\n")
    }
}
