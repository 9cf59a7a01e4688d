/// One field of a keyed container: the position of its key, and where its value is in the message.
struct KeyedField {
    let key: UInt32
    let offset: UInt32
}

/// The fields of one keyed container. A class because the protocol reads a container without mutating it, and the
/// look-up remembers where it is.
final class KeyedFields {
    private let message: DecodingMessage
    private let fields: [KeyedField]
    /// Where the container's body ends.
    private let end: Int
    /// The field found last. Types read their fields in the order in which they wrote them, so the next field asked
    /// for is mostly this one again or the one behind it.
    private var last = 0
    /// Fields by key, made when a look-up misses in a large container.
    private var positions: [UInt32: Int]?

    private static let scanLimit = 12

    init(_ range: WireRange, node: UInt32, in message: DecodingMessage) throws {
        self.message = message
        fields = try message.fields(in: range)
        end = range.upper
        try message.enter(node, count: fields.count)
    }

    /// All keys, in the order of the message.
    var keys: [String] { fields.map { message.keys[Int($0.key)] } }

    func find(_ text: String) -> KeyedField? {
        if let field = match(text, at: last) ?? match(text, at: last + 1) { return field }
        guard let key = message.keyPosition(text), let position = position(of: UInt32(key)) else { return nil }
        last = position
        return fields[position]
    }

    func value(of field: KeyedField) throws -> WireValue {
        var offset = Int(field.offset)
        return try message.reader.value(at: &offset, end: end)
    }

    @inline(__always)
    private func match(_ text: String, at position: Int) -> KeyedField? {
        guard position < fields.count, message.keys[Int(fields[position].key)] == text else { return nil }
        last = position
        return fields[position]
    }

    private func position(of key: UInt32) -> Int? {
        if fields.count <= Self.scanLimit { return fields.firstIndex { $0.key == key } }
        if let positions { return positions[key] }
        var made: [UInt32: Int] = [:]
        for (position, field) in fields.enumerated() { made[field.key] = position }
        positions = made
        return made[key]
    }
}
