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
