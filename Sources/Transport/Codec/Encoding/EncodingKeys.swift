/// The keys of a message being encoded, each once; fields refer to them by position.
struct EncodingKeys: ~Copyable {
    /// The keys as they go on the wire, each behind its length.
    private(set) var bytes = TapeBytes()
    private var entries: [Entry] = []
    /// The table is made when a scan of `entries` would be slower than hashing. It holds texts, because `bytes` moves as it grows.
    private var positions: [KeyText: Int] = [:]
    /// Where the last look-up ended: the fields of a type come in the same order every time, so the next key asked
    /// for is mostly the next one.
    private var last = -1

    private struct Entry {
        let fingerprint: KeyFingerprint
        /// Where the key is in `bytes`.
        let start: Int
        let count: Int
    }

    private struct KeyText: Hashable {
        let text: String

        static func == (left: KeyText, right: KeyText) -> Bool {
            left.text.withKeyBytes { left in right.text.withKeyBytes { left.hasSameBytes(as: $0) } }
        }

        func hash(into hasher: inout Hasher) {
            text.withKeyBytes { hasher.combine(bytes: $0) }
        }
    }

    private static let scanLimit = 64

    var count: Int { entries.count }

    func text(at position: Int) -> String {
        guard entries.indices.contains(position) else { return "" }
        return String(decoding: key(entries[position]), as: UTF8.self)
    }

    /// The position of `text`, which is added if it is not there yet.
    @inline(__always)
    mutating func position(of text: String) -> Int {
        last = text.withKeyBytes { key in
            let fingerprint = KeyFingerprint(key)
            let next = last + 1
            if next < entries.count, entries[next].fingerprint == fingerprint,
                self.key(entries[next]).hasSameBytes(as: key)
            {
                return next
            }
            return find(key, fingerprint, text) ?? append(key, fingerprint, text)
        }
        return last
    }

    mutating func clear(capacityMax: Int) {
        bytes.clear(capacityMax: capacityMax)
        entries.removeAll(keepingCapacity: entries.count <= Self.scanLimit)
        if !positions.isEmpty { positions = [:] }
        last = -1
    }

    @inline(__always)
    private func key(_ entry: Entry) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes.contents[entry.start..<entry.start + entry.count])
    }

    private func find(_ key: UnsafeRawBufferPointer, _ fingerprint: KeyFingerprint, _ text: String) -> Int? {
        guard entries.count <= Self.scanLimit else { return positions[KeyText(text: text)] }
        for (position, entry) in entries.enumerated()
        where entry.fingerprint == fingerprint && self.key(entry).hasSameBytes(as: key) {
            return position
        }
        return nil
    }

    private mutating func append(_ key: UnsafeRawBufferPointer, _ fingerprint: KeyFingerprint, _ text: String) -> Int {
        let position = entries.count
        bytes.appendVarint(key.count)
        entries.append(Entry(fingerprint: fingerprint, start: bytes.count, count: key.count))
        bytes.append(key)
        if position == Self.scanLimit {
            for position in entries.indices { positions[KeyText(text: self.text(at: position))] = position }
        } else if position > Self.scanLimit {
            positions[KeyText(text: text)] = position
        }
        return position
    }
}
