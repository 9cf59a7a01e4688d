import CCrypto

/// What OpenSSL refused to do, and its reason.
package struct CryptographyError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// - Parameter what: a sentence without its end: "a certificate cannot be read".
    init(_ what: String, reason: String = CryptographyError.lastReason()) {
        description = "\(what) (\(reason))"
    }

    /// The reason of the last call of this thread that failed. It is taken from OpenSSL, so that a later failure is not
    /// mistaken for this one.
    static func lastReason() -> String {
        defer { ERR_clear_error() }
        guard let text = ERR_reason_error_string(ERR_peek_last_error()) else { return "no reason given" }
        return String(cString: text)
    }
}
