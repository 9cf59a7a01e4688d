import FoundationEssentials
import NIOCore

/// A value whose bytes come in bulk. It is copied once, into the finished message, however large it is.
protocol WirePayload {
    /// Bytes that it takes at the very least, known without looking at them.
    var byteCountMin: Int { get }
    var form: PayloadForm { get }
    /// Fills `destination`, which has `form.byteCount` bytes.
    func copy(as form: PayloadForm, to destination: UnsafeMutableRawBufferPointer)
}

/// How a payload goes on the wire.
enum PayloadForm {
    case bytes(count: Int)
    case packed(PackedKind, count: Int)
    /// An empty unkeyed container: nobody could say which kind an empty packed array has.
    case empty

    /// Bytes behind the head.
    var byteCount: Int {
        switch self {
        case .bytes(let count): count
        case .packed(let kind, let count): kind.width * count
        case .empty: 0
        }
    }

    /// Bytes of tag, length and kind.
    var headByteCount: Int {
        switch self {
        case .bytes(let count): 1 + Varint.size(count)
        case .packed: 2 + Varint.size(1 + byteCount)
        case .empty: 1
        }
    }

    /// Appends tag, length and kind.
    func writeHead(to bytes: inout some ByteSink & ~Copyable) {
        switch self {
        case .bytes(let count):
            bytes.append(WireTag.bytes)
            bytes.appendVarint(count)
        case .packed(let kind, _):
            bytes.append(WireTag.packed)
            bytes.appendVarint(1 + byteCount)
            bytes.append(kind.rawValue)
        case .empty: bytes.append(WireTag.shortUnkeyed.lowerBound)
        }
    }
}

extension ByteBuffer: WirePayload {
    var byteCountMin: Int { readableBytes }
    var form: PayloadForm { .bytes(count: readableBytes) }

    func copy(as form: PayloadForm, to destination: UnsafeMutableRawBufferPointer) {
        withUnsafeReadableBytes { destination.copyMemory(from: $0) }
    }
}

extension Data: WirePayload {
    var byteCountMin: Int { count }
    var form: PayloadForm { .bytes(count: count) }

    func copy(as form: PayloadForm, to destination: UnsafeMutableRawBufferPointer) {
        withUnsafeBytes { destination.copyMemory(from: $0) }
    }
}

extension Array: WirePayload where Element: PackedElement {
    var byteCountMin: Int { count }
    var form: PayloadForm { Element.form(of: self) }

    func copy(as form: PayloadForm, to destination: UnsafeMutableRawBufferPointer) {
        switch form {
        case .bytes: withUnsafeBytes { destination.copyMemory(from: $0) }
        case .packed(let kind, _): Element.write(self, as: kind, to: destination)
        case .empty: break
        }
    }
}
