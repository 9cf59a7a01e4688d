/// What is known of one keyed container: where its fields are, and how far it has been read.
struct KeyedBody {
    let range: WireRange
    let fieldCount: UInt32
    /// The field found last, and the one behind it. Types read their fields in the order in which they wrote them,
    /// so the next field asked for is mostly one of these.
    fileprivate var last: UInt32
    fileprivate var next: UInt32

    fileprivate init(_ range: WireRange, fieldCount: Int) {
        self.range = range
        self.fieldCount = UInt32(truncatingIfNeeded: fieldCount)
        last = range.start
        next = range.start
    }
}

/// One field of a keyed container.
struct KeyedField {
    /// The position of its key in the key table.
    let key: UInt32
    let value: WireValue
}

extension DecodingState {
    /// Larger containers get an index of their fields when a field is not where it is expected.
    private static let scanLimit = 16

    /// Opens the keyed container whose body is `range`, stepping over its fields once to count and check them. The
    /// result stands for it.
    mutating func openKeyed(_ range: WireRange, node: UInt32) throws -> UInt32 {
        // Even a container that turns out to be broken gets a number of its own, in case the type goes on regardless.
        openedCount &+= 1
        var count = 0
        var offset = range.lower
        while offset < range.upper {
            let key = try key(at: &offset, end: range.upper)
            guard keys.mark(key, in: openedCount) else {
                throw WireCodingError.duplicateKey(PeerText(text(ofKey: key)))
            }
            _ = try reader.value(at: &offset, end: range.upper)
            count += 1
        }
        try enter(node, count: count)
        bodies.append(KeyedBody(range, fieldCount: count))
        return UInt32(truncatingIfNeeded: bodies.count - 1)
    }

    /// The field `text` of `container`; nil if there is none.
    mutating func field(_ text: String, of container: UInt32) throws -> KeyedField? {
        try text.withKeyBytes { try field($0, of: Int(container)) }
    }

    /// All keys of `container`, in the order of the message.
    func keys(of container: UInt32) throws -> [String] {
        let range = bodies[Int(container)].range
        var texts: [String] = []
        texts.reserveCapacity(Int(bodies[Int(container)].fieldCount))
        var offset = range.lower
        while offset < range.upper {
            texts.append(text(ofKey: try key(at: &offset, end: range.upper)))
            _ = try reader.value(at: &offset, end: range.upper)
        }
        return texts
    }

    @inline(__always)
    private mutating func field(_ key: UnsafeRawBufferPointer, of container: Int) throws -> KeyedField? {
        let body = bodies[container]
        let fingerprint = KeyFingerprint(key)
        if let field = try field(key, fingerprint, at: Int(body.last), of: container)
            ?? field(key, fingerprint, at: Int(body.next), of: container)
        {
            return field
        }
        guard let position = keys.find(key, fingerprint, in: reader) else { return nil }
        return try search(UInt32(truncatingIfNeeded: position), in: container)
    }

    /// The field at `start` if its key is the one wanted.
    @inline(__always)
    private mutating func field(
        _ key: UnsafeRawBufferPointer,
        _ fingerprint: KeyFingerprint,
        at start: Int,
        of container: Int
    ) throws -> KeyedField? {
        let end = bodies[container].range.upper
        guard start < end else { return nil }
        var offset = start
        let position = try self.key(at: &offset, end: end)
        guard keys.matches(position, key, fingerprint, in: reader) else { return nil }
        return try take(position, from: start, value: &offset, of: container)
    }

    /// Takes the value at `offset` as the field found last.
    @inline(__always)
    private mutating func take(
        _ position: Int,
        from start: Int,
        value offset: inout Int,
        of container: Int
    ) throws -> KeyedField {
        let value = try reader.value(at: &offset, end: bodies[container].range.upper)
        bodies[container].last = UInt32(truncatingIfNeeded: start)
        bodies[container].next = UInt32(truncatingIfNeeded: offset)
        return KeyedField(key: UInt32(truncatingIfNeeded: position), value: value)
    }

    /// The field with the key at `position`, wherever it is.
    private mutating func search(_ position: UInt32, in container: Int) throws -> KeyedField? {
        let body = bodies[container]
        if body.fieldCount > Self.scanLimit { return try lookUp(position, in: container) }
        var offset = body.range.lower
        while offset < body.range.upper {
            let start = offset
            let key = try key(at: &offset, end: body.range.upper)
            if key == position { return try take(key, from: start, value: &offset, of: container) }
            _ = try reader.value(at: &offset, end: body.range.upper)
        }
        return nil
    }

    private mutating func lookUp(_ position: UInt32, in container: Int) throws -> KeyedField? {
        let end = bodies[container].range.upper
        if fieldIndexes[container] == nil {
            var index: [UInt32: UInt32] = [:]
            var offset = bodies[container].range.lower
            while offset < end {
                let start = UInt32(truncatingIfNeeded: offset)
                index[UInt32(truncatingIfNeeded: try key(at: &offset, end: end))] = start
                _ = try reader.value(at: &offset, end: end)
            }
            fieldIndexes[container] = index
        }
        guard let start = fieldIndexes[container]?[position] else { return nil }
        var offset = Int(start)
        let key = try key(at: &offset, end: end)
        return try take(key, from: Int(start), value: &offset, of: container)
    }

    @inline(__always)
    private func key(at offset: inout Int, end: Int) throws -> Int {
        let start = offset
        let key = try reader.varint(at: &offset, end: end)
        guard key < UInt64(keys.count) else { throw WireCodingError.keyOutOfRange(offset: start) }
        return Int(key)
    }
}
