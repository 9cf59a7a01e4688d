/// Bytes that are not a message of the wire format, or one that asks for more than the limits allow.
///
/// Offsets count bytes from the start of the message. The description holds nothing of the peer's text but a key,
/// cut and cleaned.
package enum WireCodingError: Error, Hashable, Sendable {
    /// A value ends after its container or the message does.
    case truncated(offset: Int)
    /// Bytes are left over after the value.
    case trailingBytes(count: Int)
    /// No kind of value has this tag.
    case unknownTag(UInt8, offset: Int)
    /// A length or count does not fit in 64 bits.
    case overlongNumber(offset: Int)
    /// Text is not UTF-8.
    case invalidUTF8(offset: Int)
    /// A field names a key that the message's key table does not have.
    case keyOutOfRange(offset: Int)
    /// The key table, or one container, has this key twice.
    case duplicateKey(PeerText)
    /// A container holds more or fewer elements than it says.
    case wrongElementCount(offset: Int)
    /// A packed array has an unknown element kind, or ends inside an element.
    case malformedPackedArray(offset: Int)
    /// A limit of `DecodingLimits` or of the message itself, by its name.
    case limitExceeded(String, limit: Int)
    /// The decoder was used after the decode it belonged to.
    case closed
}

extension WireCodingError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .truncated(let offset): "message ends too early, at byte \(offset)"
        case .trailingBytes(let count): "\(count) bytes follow the value"
        case .unknownTag(let tag, let offset): "unknown tag \(tag) at byte \(offset); is the peer newer than this node?"
        case .overlongNumber(let offset): "number of more than 64 bits at byte \(offset)"
        case .invalidUTF8(let offset): "text at byte \(offset) is not UTF-8"
        case .keyOutOfRange(let offset): "field at byte \(offset) has a key outside the key table"
        case .duplicateKey(let key): "key \(key) appears twice"
        case .wrongElementCount(let offset): "container at byte \(offset) does not hold as many elements as it says"
        case .malformedPackedArray(let offset): "malformed packed array at byte \(offset)"
        case .limitExceeded(let name, let limit): "message exceeds the limit of \(limit) for \(name)"
        case .closed: "decoder used after its decode returned"
        }
    }
}
