/// Where a value stands in its parent, for coding paths: small, because every nested value has one and errors are
/// rare.
enum PathLabel {
    case root
    /// The field with this key of the key table.
    case key(UInt32)
    /// The element at this index.
    case index(UInt32)

    /// The key to show; `text` gives the keys of the message.
    func codingKey(text: (Int) -> String) -> WireCodingKey? {
        switch self {
        case .root: nil
        case .key(let key): WireCodingKey(stringValue: text(Int(key)))
        case .index(let index): WireCodingKey(intValue: Int(index))
        }
    }
}
