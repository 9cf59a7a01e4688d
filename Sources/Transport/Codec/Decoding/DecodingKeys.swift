/// The key table of a message being decoded. Keys stay bytes of the message: fields are found by comparing bytes, and
/// only a dictionary or an error makes texts of them.
struct DecodingKeys: ~Copyable {
    private var entries: [Entry] = []
    /// The table is made when a scan of `entries` would be slower than hashing.
    private var positions: [KeyBytes: Int] = [:]

    private struct Entry {
        let fingerprint: KeyFingerprint
        let range: WireRange
        /// The last container that had the key, 0 for none. It finds duplicates without hashing.
        var container: UInt32 = 0
    }

    /// The longest table that is scanned. Comparing each new key with so many takes a microsecond or two.
    private static let scanLimit = 64

    var count: Int { entries.count }

    func range(at position: Int) -> WireRange? {
        entries.indices.contains(position) ? entries[position].range : nil
    }

    /// Reads the table at `offset` of the message, and moves `offset` behind it.
    mutating func read(from reader: WireReader, at offset: inout Int, limits: DecodingLimits) throws {
        let count = try reader.length(at: &offset, end: reader.count)
        guard count <= limits.keys else { throw WireCodingError.limitExceeded("keys", limit: limits.keys) }
        for position in 0..<count {
            let length = try reader.length(at: &offset, end: reader.count)
            let range = try reader.range(length, at: &offset, end: reader.count)
            let key = try reader.validatedText(range)
            let fingerprint = KeyFingerprint(key)
            guard find(key, fingerprint, in: reader) == nil else {
                throw WireCodingError.duplicateKey(PeerText(String(decoding: key, as: UTF8.self)))
            }
            entries.append(Entry(fingerprint: fingerprint, range: range))
            if position == Self.scanLimit {
                for (position, entry) in entries.enumerated() {
                    positions[KeyBytes(bytes: try reader.slice(entry.range))] = position
                }
            } else if position > Self.scanLimit {
                positions[KeyBytes(bytes: key)] = position
            }
        }
    }

    /// The position of `key` in the table; `nil` where it is not there.
    func find(_ key: UnsafeRawBufferPointer, _ fingerprint: KeyFingerprint, in reader: WireReader) -> Int? {
        guard entries.count <= Self.scanLimit else { return positions[KeyBytes(bytes: key)] }
        for position in entries.indices where matches(position, key, fingerprint, in: reader) { return position }
        return nil
    }

    /// Whether `key` is at `position`, which must be in the table.
    @inline(__always)
    func matches(
        _ position: Int,
        _ key: UnsafeRawBufferPointer,
        _ fingerprint: KeyFingerprint,
        in reader: WireReader
    ) -> Bool {
        guard entries[position].fingerprint == fingerprint else { return false }
        return reader.holds(key, at: entries[position].range)
    }

    /// Notes that `container` has the key at `position`. The result is false where that was noted already.
    @inline(__always)
    mutating func mark(_ position: Int, in container: UInt32) -> Bool {
        guard entries[position].container != container else { return false }
        entries[position].container = container
        return true
    }

    /// Forgets where keys are in memory; the bytes are about to go away.
    mutating func close() {
        if !positions.isEmpty { positions = [:] }
    }

    mutating func clear() {
        close()
        entries.removeAll(keepingCapacity: entries.count <= Self.scanLimit)
    }
}
