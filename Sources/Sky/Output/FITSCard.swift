/// One line of a FITS header: a keyword of at most eight characters, its value, and a comment.
public struct FITSCard: Hashable, Sendable {
    /// A header value of one of FITS's types.
    public enum Value: Hashable, Sendable {
        case text(String)
        case integer(Int)
        case unsigned(UInt64)
        case real(Double)
    }

    /// The keyword, in capitals.
    public var keyword: String
    /// The value.
    public var value: Value
    /// What it means, with its unit in brackets first (FITS standard 4.0, section 4.3.2).
    public var comment: String

    /// A card; the keyword must be FITS's: capitals, digits, `-` and `_`.
    public init(_ keyword: String, _ value: Value, _ comment: String) {
        self.keyword = keyword
        self.value = value
        self.comment = comment
    }
}
