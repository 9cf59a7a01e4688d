/// A peer's text made fit for a log line: at most 48 printable ASCII characters, anything else as a question mark.
package struct PeerText: Hashable, Sendable, CustomStringConvertible {
    /// The clean text, without quotes.
    package let text: String

    package init(_ peerText: String, limit: Int = 48) {
        text = Self.clean(peerText, limit: limit)
    }

    package var description: String { "\"\(text)\"" }

    static func clean(_ text: String, limit: Int) -> String {
        // The text is cut before it is looked at: it may be megabytes long.
        var clean = ""
        for scalar in text.unicodeScalars.prefix(limit) {
            clean.unicodeScalars.append((" "..."~").contains(scalar) && scalar != "\"" ? scalar : "?")
        }
        return text.utf8.count > clean.utf8.count ? clean + "..." : clean
    }
}
