import NIOCore

/// A value that the coder writes itself although it came through a generic call: arrays and dictionaries pass even
/// their scalars that way, and bytes and numbers in bulk must not become one element each.
enum NativeValue {
    case string(String)
    case int(Int)
    case double(Double)
    case bool(Bool)
    case bytes([UInt8])
    case buffer(ByteBuffer)
    case packed(any PackedArray)

    /// Nil for any other type; that encodes itself then. Compares types by identity, because a dynamic cast of each
    /// value would cost more than writing it.
    init?<T>(_ value: T) {
        if let value = same(value, as: String.self) {
            self = .string(value)
        } else if let value = same(value, as: Int.self) {
            self = .int(value)
        } else if let value = same(value, as: Double.self) {
            self = .double(value)
        } else if let value = same(value, as: Bool.self) {
            self = .bool(value)
        } else if let value = same(value, as: [UInt8].self) {
            self = .bytes(value)
        } else if let value = same(value, as: ByteBuffer.self) {
            self = .buffer(value)
        } else if let value = same(value, as: [Double].self) {
            self = .packed(value)
        } else if let value = same(value, as: [Float].self) {
            self = .packed(value)
        } else if let value = same(value, as: [Int].self) {
            self = .packed(value)
        } else if let value = same(value, as: [Int32].self) {
            self = .packed(value)
        } else if let value = same(value, as: [Int64].self) {
            self = .packed(value)
        } else if let value = same(value, as: [UInt32].self) {
            self = .packed(value)
        } else if let value = same(value, as: [UInt64].self) {
            self = .packed(value)
        } else if let value = same(value, as: [Int16].self) {
            self = .packed(value)
        } else if let value = same(value, as: [UInt16].self) {
            self = .packed(value)
        } else if let value = same(value, as: [Int8].self) {
            self = .packed(value)
        } else if let value = same(value, as: [UInt].self) {
            self = .packed(value)
        } else {
            return nil
        }
    }
}

extension EncodingTape {
    /// Writes `value` where the current value of `node` goes.
    mutating func write(_ value: NativeValue, to node: Int) throws {
        switch value {
        case .string(let value): try write(value, to: node)
        case .int(let value): try write(value, to: node)
        case .double(let value): try write(value, to: node)
        case .bool(let value): try write(value, to: node)
        case .bytes(let value):
            try write(count: 16 + value.count, to: node) { bytes in
                bytes.append(WireTag.bytes)
                bytes.appendVarint(value.count)
                bytes.append(contentsOf: value)
            }
        case .buffer(let value): try write(payload: value, to: node)
        case .packed(let value): try value.write(to: &self, node: node)
        }
    }
}

extension DecodingMessage {
    /// A value of any type; the counterpart of `NativeValue`. `construct` lets a `T` decode itself: another type,
    /// or an array that was not packed because the peer declares it as something else than an array of numbers.
    ///
    /// No `Optional<T>` on the way: looking up its metadata takes longer than reading a number.
    func read<T: Decodable>(
        _ type: T.Type,
        from value: WireValue,
        at place: WirePlace,
        orElse construct: () throws -> T
    ) throws -> T {
        if T.self == String.self { return exactly(try read(String.self, from: value, at: place)) }
        if T.self == Int.self { return exactly(try read(Int.self, from: value, at: place)) }
        if T.self == Double.self { return exactly(try read(Double.self, from: value, at: place)) }
        if T.self == Bool.self { return exactly(try read(Bool.self, from: value, at: place)) }
        if T.self == ByteBuffer.self { return exactly(try readBuffer(from: value, at: place)) }
        switch value {
        case .bytes(let range) where T.self == [UInt8].self:
            return exactly([UInt8](try slice(range)))
        case .packed(let range):
            return try readPacked(type, range, orElse: construct)
        default:
            return try construct()
        }
    }

    private func readBuffer(from value: WireValue, at place: WirePlace) throws -> ByteBuffer {
        guard case .bytes(let range) = value else { throw mismatch(ByteBuffer.self, found: value, at: place) }
        return try bufferSlice(range)
    }

    private func readPacked<T>(_ type: T.Type, _ range: WireRange, orElse construct: () throws -> T) throws -> T {
        if T.self == [Double].self, let array = try [Double](packed: range, in: self) { return exactly(array) }
        if T.self == [Float].self, let array = try [Float](packed: range, in: self) { return exactly(array) }
        if T.self == [Int].self, let array = try [Int](packed: range, in: self) { return exactly(array) }
        if T.self == [Int32].self, let array = try [Int32](packed: range, in: self) { return exactly(array) }
        if T.self == [Int64].self, let array = try [Int64](packed: range, in: self) { return exactly(array) }
        if T.self == [UInt32].self, let array = try [UInt32](packed: range, in: self) { return exactly(array) }
        if T.self == [UInt64].self, let array = try [UInt64](packed: range, in: self) { return exactly(array) }
        if T.self == [Int16].self, let array = try [Int16](packed: range, in: self) { return exactly(array) }
        if T.self == [UInt16].self, let array = try [UInt16](packed: range, in: self) { return exactly(array) }
        if T.self == [Int8].self, let array = try [Int8](packed: range, in: self) { return exactly(array) }
        if T.self == [UInt].self, let array = try [UInt](packed: range, in: self) { return exactly(array) }
        return try construct()
    }
}

/// `value` as a `U` if `T` is `U`, exactly. The cast is sound because the two are then one type.
@inline(__always)
private func same<T, U>(_ value: T, as type: U.Type) -> U? {
    T.self == U.self ? unsafeBitCast(value, to: U.self) : nil
}

/// `value` as the `T` that the caller has just found `U` to be.
@inline(__always)
private func exactly<T, U>(_ value: U) -> T {
    unsafeBitCast(value, to: T.self)
}
