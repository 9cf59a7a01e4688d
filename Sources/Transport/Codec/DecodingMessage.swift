import NIOCore

/// A message being decoded: its bytes, its key table, and what has been spent of the limits. A class because all
/// decoders and containers of a message share it.
final class DecodingMessage {
    private(set) var reader: WireReader
    private let buffer: ByteBuffer
    private let limits: WireCoder.Limits
    private let rootOffset: Int
    private(set) var keys: KeyTable
    /// For each key, the last container that had it: finds duplicates without hashing.
    private var containers: [Int]
    private var containerCount = 0
    /// The nested values met so far, for coding paths and depths. Grows by one for a value that takes bytes.
    private var nodes = [PathNode(place: WirePlace(parent: 0, label: .root), depth: 0)]
    private var elementsLeft: Int
    private var recursion = 0

    private struct PathNode {
        let place: WirePlace
        let depth: UInt32
    }

    /// Reads the key table. `bytes` are the readable bytes of `buffer` and stay valid until `close()`.
    init(bytes: UnsafeRawBufferPointer, buffer: ByteBuffer, limits: WireCoder.Limits) throws {
        reader = try WireReader(bytes)
        self.buffer = buffer
        self.limits = limits
        elementsLeft = limits.elements
        var offset = 0
        keys = try KeyTable(reader: reader, at: &offset, limits: limits)
        containers = [Int](repeating: 0, count: keys.count)
        rootOffset = offset
    }

    /// Forgets the bytes. Decoders that a type has kept throw from now on.
    func close() {
        reader = WireReader()
    }

    /// The value of the message, which must end where the message ends.
    func readRoot<T: Decodable>(_ type: T.Type) throws -> T {
        var offset = rootOffset
        let value = try reader.value(at: &offset, end: reader.count)
        guard offset == reader.count else { throw WireCodingError.trailingBytes(count: reader.count - offset) }
        return try WireDecoder(message: self, value: value, node: 0).decode(type)
    }
}

// MARK: - Places

/// Where a value stands: the nested value around it, and its key or index there.
struct WirePlace {
    let parent: UInt32
    let label: PathLabel
}

extension DecodingMessage {
    /// Remembers a nested value; the result stands for it.
    func addNode(_ place: WirePlace) -> UInt32 {
        nodes.append(PathNode(place: place, depth: nodes[Int(place.parent)].depth + 1))
        return UInt32(truncatingIfNeeded: nodes.count - 1)
    }

    func place(of node: UInt32) -> WirePlace { nodes[Int(node)].place }

    func codingPath(of place: WirePlace) -> [any CodingKey] {
        var path: [any CodingKey] = []
        var place = place
        while let key = place.label.codingKey(in: keys) {
            path.append(key)
            place = nodes[Int(place.parent)].place
        }
        return path.reversed()
    }
}

// MARK: - Values

extension DecodingMessage {
    /// A scalar.
    @inline(__always)
    func read<Value: WirePrimitive>(_ type: Value.Type, from value: WireValue, at place: WirePlace) throws -> Value {
        guard let result = try Value.read(value, in: self) else { throw mismatch(type, found: value, at: place) }
        return result
    }

    /// A value of any type.
    func decode<T: Decodable>(_ type: T.Type, from value: WireValue, at place: WirePlace) throws -> T {
        try read(type, from: value, at: place) {
            try construct(type, from: WireDecoder(message: self, value: value, node: addNode(place)))
        }
    }

    /// Lets `T` decode itself. A wrapper (an `Optional`, a raw value) re-enters without going deeper on the wire, so
    /// recursion has a limit of its own.
    func construct<T: Decodable>(_ type: T.Type, from decoder: WireDecoder) throws -> T {
        let recursionLimit = 4 * max(limits.depth, 1)
        guard recursion < recursionLimit else {
            throw WireCodingError.limitExceeded("recursion", limit: recursionLimit)
        }
        recursion += 1
        defer { recursion -= 1 }
        return try T(from: decoder)
    }

    func text(_ range: WireRange) throws -> String {
        try reader.text(range, limit: limits.stringBytes)
    }

    func slice(_ range: WireRange) throws -> UnsafeRawBufferPointer {
        try reader.slice(range)
    }

    /// The bytes of `range` without a copy.
    func bufferSlice(_ range: WireRange) throws -> ByteBuffer {
        guard let slice = buffer.getSlice(at: buffer.readerIndex + range.lower, length: range.count) else {
            throw WireCodingError.truncated(offset: range.lower)
        }
        return slice
    }
}

// MARK: - Containers

extension DecodingMessage {
    /// Pays for opening a container of `count` elements that is the value `node`.
    func enter(_ node: UInt32, count: Int) throws {
        guard nodes[Int(node)].depth < limits.depth else {
            throw WireCodingError.limitExceeded("depth", limit: limits.depth)
        }
        guard count < elementsLeft else {
            throw WireCodingError.limitExceeded("elements", limit: limits.elements)
        }
        elementsLeft -= count + 1
    }

    /// Finds the fields of the keyed container whose body is `range`, stepping over their values.
    func fields(in range: WireRange) throws -> [KeyedField] {
        containerCount += 1
        var fields: [KeyedField] = []
        fields.reserveCapacity(min(range.count / 2, 16))
        var offset = range.lower
        while offset < range.upper {
            let start = offset
            let key = try reader.varint(at: &offset, end: range.upper)
            guard key < UInt64(containers.count) else { throw WireCodingError.keyOutOfRange(offset: start) }
            let position = Int(key)
            guard containers[position] != containerCount else {
                throw WireCodingError.duplicateKey(PeerText(keys[position]))
            }
            containers[position] = containerCount
            fields.append(KeyedField(key: UInt32(position), offset: UInt32(offset)))
            _ = try reader.value(at: &offset, end: range.upper)
        }
        return fields
    }

    /// Where `text` is in the key table.
    func keyPosition(_ text: String) -> Int? { keys.position(of: text) }
}

extension KeyTable {
    /// Reads the table at the start of a message.
    init(reader: WireReader, at offset: inout Int, limits: WireCoder.Limits) throws {
        self.init()
        let count = try reader.length(at: &offset, end: reader.count)
        guard count <= limits.keys else { throw WireCodingError.limitExceeded("keys", limit: limits.keys) }
        reserveCapacity(min(count, 64))
        for _ in 0..<count {
            let length = try reader.length(at: &offset, end: reader.count)
            let range = try reader.range(length, at: &offset, end: reader.count)
            let text = try reader.text(range, limit: limits.stringBytes)
            guard position(of: text) == nil else { throw WireCodingError.duplicateKey(PeerText(text)) }
            append(text)
        }
    }
}
