/// The keys of a message, each once; fields refer to them by position.
struct KeyTable {
    private(set) var texts: [String] = []
    /// Made when a scan of `texts` would be slower than hashing.
    private var positions: [String: Int] = [:]
    /// Where the last look-up ended: the fields of a type come in the same order every time, so the next key asked
    /// for is mostly the next one.
    private var last = -1

    private static let scanLimit = 12

    subscript(position: Int) -> String { texts[position] }

    var count: Int { texts.count }

    mutating func reserveCapacity(_ capacity: Int) {
        texts.reserveCapacity(capacity)
    }

    /// Where `text` is.
    mutating func position(of text: String) -> Int? {
        let next = last + 1
        if next < texts.count, texts[next] == text {
            last = next
            return next
        }
        guard let found = texts.count <= Self.scanLimit ? texts.firstIndex(of: text) : positions[text] else {
            return nil
        }
        last = found
        return found
    }

    /// Adds a `text` that is not there.
    mutating func append(_ text: String) {
        last = texts.count
        texts.append(text)
        if texts.count == Self.scanLimit + 1 {
            for (position, text) in texts.enumerated() { positions[text] = position }
        } else if texts.count > Self.scanLimit {
            positions[text] = last
        }
    }
}
