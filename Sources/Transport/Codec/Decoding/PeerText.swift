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

extension DecodingError {
    /// The same error with every text in it cut and cleaned: the standard library quotes raw values, and a
    /// dictionary's keys are in the coding path.
    var withCleanText: DecodingError {
        switch self {
        case .typeMismatch(let type, let context): .typeMismatch(type, context.withCleanText)
        case .valueNotFound(let type, let context): .valueNotFound(type, context.withCleanText)
        case .keyNotFound(let key, let context): .keyNotFound(WireCodingKey(cleaning: key), context.withCleanText)
        case .dataCorrupted(let context): .dataCorrupted(context.withCleanText)
        @unknown default: .dataCorrupted(Context(codingPath: [], debugDescription: "unknown decoding error"))
        }
    }
}

extension DecodingError.Context {
    // The underlying error is left out: nothing is known about its text.
    fileprivate var withCleanText: Self {
        Self(
            codingPath: codingPath.map { WireCodingKey(cleaning: $0) },
            debugDescription: PeerText.clean(debugDescription, limit: 240))
    }
}
