/// A key of a coding path: the key of a field, or the index of an element.
struct WireCodingKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    /// The key under which `superEncoder()` and `superDecoder()` work, as in Foundation's coders.
    static let `super` = WireCodingKey(stringValue: "super")

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "Index \(intValue)"
        self.intValue = intValue
    }

    /// `key` with its text made fit for a log.
    init(cleaning key: any CodingKey) {
        stringValue = PeerText.clean(key.stringValue, limit: 48)
        intValue = key.intValue
    }
}
