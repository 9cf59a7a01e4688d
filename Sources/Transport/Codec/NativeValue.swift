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
    /// Writes any value where the current value of `node` goes: itself if it can, otherwise what the value does.
    func write<T: Encodable>(_ value: T, to node: Int, label: PathLabel) throws {
        if let native = NativeValue(value) { return try write(native, to: node) }
        let child = addChild(of: node, label: label)
        try check(child)
        try value.encode(to: WireEncoder(tape: self, node: child))
    }

    /// Writes `value` where the current value of `node` goes.
    func write(_ value: NativeValue, to node: Int) throws {
        switch value {
        case .string(let value): try write(value, to: node)
        case .int(let value): try write(value, to: node)
        case .double(let value): try write(value, to: node)
        case .bool(let value): try write(value, to: node)
        case .bytes(let value):
            try write(count: 16 + value.count, to: node) { bytes in
                bytes.writeInteger(WireTag.bytes)
                bytes.writeVarint(value.count)
                bytes.writeBytes(value)
            }
        case .buffer(let value): try write(payload: value, to: node)
        case .packed(let value): try value.write(to: self, node: node)
        }
    }
}

extension DecodingMessage {
    /// The counterpart of `NativeValue`. Nil when `T` must decode itself: another type, or an array that was not
    /// packed because the peer declares it as something else than an array of numbers.
    func readNative<T>(_ type: T.Type, from value: WireValue, at place: WirePlace) throws -> T? {
        if T.self == String.self { return same(try read(String.self, from: value, at: place), as: T.self) }
        if T.self == Int.self { return same(try read(Int.self, from: value, at: place), as: T.self) }
        if T.self == Double.self { return same(try read(Double.self, from: value, at: place), as: T.self) }
        if T.self == Bool.self { return same(try read(Bool.self, from: value, at: place), as: T.self) }
        if T.self == ByteBuffer.self { return same(try readBuffer(from: value, at: place), as: T.self) }
        switch value {
        case .bytes(let range) where T.self == [UInt8].self:
            return same([UInt8](try slice(range)), as: T.self)
        case .packed(let range):
            return try readPacked(type, range, at: place)
        default:
            return nil
        }
    }

    private func readBuffer(from value: WireValue, at place: WirePlace) throws -> ByteBuffer {
        guard case .bytes(let range) = value else { throw mismatch(ByteBuffer.self, found: value, at: place) }
        return try bufferSlice(range)
    }

    private func readPacked<T>(_ type: T.Type, _ range: WireRange, at place: WirePlace) throws -> T? {
        if T.self == [Double].self { return same(try [Double](packed: range, in: self, at: place), as: T.self) }
        if T.self == [Float].self { return same(try [Float](packed: range, in: self, at: place), as: T.self) }
        if T.self == [Int].self { return same(try [Int](packed: range, in: self, at: place), as: T.self) }
        if T.self == [Int32].self { return same(try [Int32](packed: range, in: self, at: place), as: T.self) }
        if T.self == [Int64].self { return same(try [Int64](packed: range, in: self, at: place), as: T.self) }
        if T.self == [UInt32].self { return same(try [UInt32](packed: range, in: self, at: place), as: T.self) }
        if T.self == [UInt64].self { return same(try [UInt64](packed: range, in: self, at: place), as: T.self) }
        if T.self == [Int16].self { return same(try [Int16](packed: range, in: self, at: place), as: T.self) }
        if T.self == [UInt16].self { return same(try [UInt16](packed: range, in: self, at: place), as: T.self) }
        if T.self == [Int8].self { return same(try [Int8](packed: range, in: self, at: place), as: T.self) }
        if T.self == [UInt].self { return same(try [UInt](packed: range, in: self, at: place), as: T.self) }
        return nil
    }
}

/// `value` as a `U` if `T` is `U`, exactly. The cast is sound because the two are then one type.
@inline(__always)
private func same<T, U>(_ value: T, as type: U.Type) -> U? {
    T.self == U.self ? unsafeBitCast(value, to: U.self) : nil
}
