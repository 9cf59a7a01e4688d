import FoundationEssentials
import NIOCore

/// A value that the coder writes itself although it came through a generic call: arrays and dictionaries pass even
/// their scalars that way, and bytes and numbers in bulk must not become one element each.
enum NativeValue {
    case scalar(WireScalar)
    case text(String)
    /// The most frequent payload. As a `WirePayload` it would have to be looked up at run time, because its conformance depends on
    /// that of the elements.
    case bytes([UInt8])
    case payload(any WirePayload)

    /// The result is nil for any other type, which then encodes itself. Types are compared by identity, because a dynamic cast of
    /// each value would cost more than writing it, and only with types of the same size, because there are many.
    @inline(__always)
    init?<T>(_ value: T) {
        switch MemoryLayout<T>.size {
        case MemoryLayout<String>.size:
            if let value = same(value, as: String.self) {
                self = .text(value)
            } else if let value = same(value, as: Data.self) {
                self = .payload(value)
            } else {
                return nil
            }
        case MemoryLayout<Int>.size:
            guard let native = Self.word(value) else { return nil }
            self = native
        case MemoryLayout<UInt8>.size:
            if let value = same(value, as: Bool.self) {
                self = .scalar(WireScalar(value))
            } else if let value = same(value, as: UInt8.self) {
                self = .scalar(WireScalar(value))
            } else if let value = same(value, as: Int8.self) {
                self = .scalar(WireScalar(value))
            } else {
                return nil
            }
        case MemoryLayout<Float>.size:
            if let value = same(value, as: Float.self) {
                self = .scalar(WireScalar(value))
            } else if let value = same(value, as: Int32.self) {
                self = .scalar(WireScalar(value))
            } else if let value = same(value, as: UInt32.self) {
                self = .scalar(WireScalar(value))
            } else {
                return nil
            }
        case MemoryLayout<ByteBuffer>.size:
            guard let value = same(value, as: ByteBuffer.self) else { return nil }
            self = .payload(value)
        default: return nil
        }
    }

    /// The types of one word: numbers, and arrays of numbers.
    private static func word<T>(_ value: T) -> NativeValue? {
        if let value = same(value, as: Int.self) { return .scalar(WireScalar(value)) }
        if let value = same(value, as: Double.self) { return .scalar(WireScalar(value)) }
        if let value = same(value, as: UInt64.self) { return .scalar(WireScalar(value)) }
        if let value = same(value, as: Int64.self) { return .scalar(WireScalar(value)) }
        if let value = same(value, as: [UInt8].self) { return .bytes(value) }
        if let value = same(value, as: [Double].self) { return .payload(value) }
        if let value = same(value, as: [Float].self) { return .payload(value) }
        if let value = same(value, as: [Int].self) { return .payload(value) }
        if let value = same(value, as: [Int32].self) { return .payload(value) }
        if let value = same(value, as: [Int64].self) { return .payload(value) }
        if let value = same(value, as: [UInt32].self) { return .payload(value) }
        if let value = same(value, as: [UInt64].self) { return .payload(value) }
        if let value = same(value, as: [Int16].self) { return .payload(value) }
        if let value = same(value, as: [UInt16].self) { return .payload(value) }
        if let value = same(value, as: [Int8].self) { return .payload(value) }
        if let value = same(value, as: [UInt].self) { return .payload(value) }
        if let value = same(value, as: UInt.self) { return .scalar(WireScalar(value)) }
        return nil
    }
}

extension NativeValue {
    /// Appends a message of this value alone to `buffer`. It has no key and no container, so it needs no tape either.
    @inline(__always)
    func write(to buffer: inout ByteBuffer, limit: Int) throws {
        let room = min(limit, MessageLimits.byteCount - buffer.writerIndex)
        switch self {
        case .scalar(let scalar):
            try Self.write(2 + scalar.width, to: &buffer, room: room) { $0.append(scalar) }
        case .text(let text):
            let count = text.utf8.count
            let head = count < WireTag.shortString.count ? 1 : 1 + Varint.size(count)
            try Self.write(1 + head + count, to: &buffer, room: room) { $0.appendString(text, byteCount: count) }
        case .bytes(let bytes):
            let form = PayloadForm.bytes(count: bytes.count)
            try Self.write(1 + form.headByteCount + bytes.count, to: &buffer, room: room) { writer in
                form.writeHead(to: &writer)
                bytes.withUnsafeBytes { writer.append($0) }
            }
        case .payload(let payload):
            guard payload.byteCountMin <= room else {
                throw WireCodingError.limitExceeded("message bytes", limit: room)
            }
            let form = payload.form
            try Self.write(1 + form.headByteCount + form.byteCount, to: &buffer, room: room) { writer in
                form.writeHead(to: &writer)
                writer.append(payload, as: form)
            }
        }
    }

    /// Appends an empty key table and the value that `write` writes, `byteCount` bytes together.
    @inline(__always)
    private static func write(
        _ byteCount: Int,
        to buffer: inout ByteBuffer,
        room: Int,
        _ write: (inout AssemblyWriter) -> Void
    ) throws {
        guard byteCount <= room else { throw WireCodingError.limitExceeded("message bytes", limit: room) }
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: byteCount) { destination in
            var writer = AssemblyWriter(destination)
            writer.append(0)
            write(&writer)
            return writer.count
        }
    }
}

/// `value` as a `U` if `T` is `U`, exactly. The cast is sound because the two are then one type.
@inline(__always)
func same<T, U>(_ value: T, as type: U.Type) -> U? {
    T.self == U.self ? unsafeBitCast(value, to: U.self) : nil
}
