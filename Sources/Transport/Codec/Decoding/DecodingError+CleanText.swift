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
