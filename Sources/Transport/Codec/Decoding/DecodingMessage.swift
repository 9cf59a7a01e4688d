import NIOCore

/// A message being decoded, shared by all its decoders and containers.
///
/// They reach its state through a pointer, which spares the runtime's check that nobody else is changing it, at each
/// of many steps. In its place there is a rule: a step on the state runs none of the value's code.
final class DecodingMessage {
    let state: UnsafeMutablePointer<DecodingState>

    init() {
        state = .allocate(capacity: 1)
        state.initialize(to: DecodingState())
    }

    deinit {
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Forgets the bytes. Decoders that a type has kept throw from now on.
    func close() {
        state.pointee.close()
    }
}

extension DecodingMessage: PooledSession {
    static let pool = SessionPool<DecodingMessage>()

    func clear() {
        state.pointee.clear()
    }
}

// MARK: - Values

extension DecodingMessage {
    var reader: WireReader { state.pointee.reader }

    /// Reads a scalar.
    @inline(__always)
    func read<Value: WirePrimitive>(_ type: Value.Type, from value: WireValue, at place: WirePlace) throws -> Value {
        guard let result = try Value.read(value, from: reader) else { throw mismatch(type, found: value, at: place) }
        return result
    }

    /// Decodes a value of any type.
    func decode<T: Decodable>(_ type: T.Type, from value: WireValue, at place: WirePlace) throws -> T {
        try reader.read(type, from: value, slice: { try slice($0) }) {
            try construct(type, from: WireDecoder(message: self, value: value, node: state.pointee.addNode(place)))
        }
    }

    /// Lets `T` decode itself.
    func construct<T: Decodable>(_ type: T.Type, from decoder: WireDecoder) throws -> T {
        // It would look for text if it decoded itself.
        if T.self == ByteBuffer.self { throw mismatch(type, found: decoder.value, at: place(of: decoder.node)) }
        try state.pointee.descend()
        defer { state.pointee.ascend() }
        return try T(from: decoder)
    }

    /// The bytes of `range` without a copy.
    func slice(_ range: WireRange) throws -> ByteBuffer {
        guard let buffer = state.pointee.buffer else { throw WireCodingError.truncated(offset: range.lower) }
        return try buffer.slice(range)
    }

    func codingPath(of place: WirePlace) -> [any CodingKey] { state.pointee.codingPath(of: place) }
    func place(of node: UInt32) -> WirePlace { state.pointee.place(of: node) }
    func addNode(_ place: WirePlace) -> UInt32 { state.pointee.addNode(place) }
}

extension ByteBuffer {
    /// The bytes of `range`, counted from the first readable byte, without a copy.
    func slice(_ range: WireRange) throws -> ByteBuffer {
        guard let slice = getSlice(at: readerIndex + range.lower, length: range.count) else {
            throw WireCodingError.truncated(offset: range.lower)
        }
        return slice
    }
}
