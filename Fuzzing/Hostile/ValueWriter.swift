import NIOCore

/// Takes a value apart.
final class ValueSlot {
    private enum Content {
        case tree(ValueTree)
        case list([ValueSlot])
        case object([(key: String, slot: ValueSlot)])
    }

    private var content = Content.object([])

    var tree: ValueTree {
        get {
            switch content {
            case .tree(let tree): tree
            case .list(let slots): .list(slots.map(\.tree))
            case .object(let fields): .object(fields.map { ValueTree.Field(key: $0.key, value: $0.slot.tree) })
            }
        }
        set { content = .tree(newValue) }
    }

    var count: Int { if case .list(let slots) = content { slots.count } else { 0 } }

    func beginList() { if case .list = content {} else { content = .list([]) } }

    func append() -> ValueSlot {
        let slot = ValueSlot()
        guard case .list(var slots) = content else { return slot }
        slots.append(slot)
        content = .list(slots)
        return slot
    }

    func field(_ key: String) -> ValueSlot {
        let slot = ValueSlot()
        guard case .object(var fields) = content else { return slot }
        fields.append((key, slot))
        content = .object(fields)
        return slot
    }
}

struct ValueWriter: Encoder, SingleValueEncodingContainer {
    let slot: ValueSlot

    init(_ slot: ValueSlot = ValueSlot()) { self.slot = slot }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(Keyed<Key>(slot: slot))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        slot.beginList()
        return Unkeyed(slot: slot)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    /// Writes a value. A value that the wire carries whole is one leaf here too.
    func write(_ value: some Encodable) throws {
        switch value {
        case let value as ByteBuffer: slot.tree = .bytes(Array(value.readableBytesView))
        case let value as [UInt8]: slot.tree = .bytes(value)
        case let value as [Double]: slot.tree = .reals(value)
        default: try value.encode(to: self)
        }
    }

    func encodeNil() { slot.tree = .null }
    func encode(_ value: Bool) { slot.tree = .flag(value) }
    func encode(_ value: String) { slot.tree = .text(value) }
    func encode(_ value: Double) { slot.tree = .real(value) }
    func encode(_ value: Float) { slot.tree = .real(Double(value)) }
    func encode(_ value: Int) { slot.tree = .integer(Int64(value)) }
    func encode(_ value: Int8) { slot.tree = .integer(Int64(value)) }
    func encode(_ value: Int16) { slot.tree = .integer(Int64(value)) }
    func encode(_ value: Int32) { slot.tree = .integer(Int64(value)) }
    func encode(_ value: Int64) { slot.tree = .integer(value) }
    func encode(_ value: UInt) { slot.tree = .unsigned(UInt64(value)) }
    func encode(_ value: UInt8) { slot.tree = .unsigned(UInt64(value)) }
    func encode(_ value: UInt16) { slot.tree = .unsigned(UInt64(value)) }
    func encode(_ value: UInt32) { slot.tree = .unsigned(UInt64(value)) }
    func encode(_ value: UInt64) { slot.tree = .unsigned(value) }
    func encode<Value: Encodable>(_ value: Value) throws { try write(value) }
}

private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let slot: ValueSlot
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { slot.field(key.stringValue).tree = .null }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try ValueWriter(slot.field(key.stringValue)).write(value)
    }

    func nestedContainer<Other: CodingKey>(
        keyedBy type: Other.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Other> {
        ValueWriter(slot.field(key.stringValue)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        ValueWriter(slot.field(key.stringValue)).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { ValueWriter(slot.field("super")) }
    func superEncoder(forKey key: Key) -> any Encoder { ValueWriter(slot.field(key.stringValue)) }
}

private struct Unkeyed: UnkeyedEncodingContainer {
    let slot: ValueSlot
    var codingPath: [any CodingKey] { [] }
    var count: Int { slot.count }

    func encodeNil() { slot.append().tree = .null }
    func encode<Value: Encodable>(_ value: Value) throws { try ValueWriter(slot.append()).write(value) }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        ValueWriter(slot.append()).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { ValueWriter(slot.append()).unkeyedContainer() }
    func superEncoder() -> any Encoder { ValueWriter(slot.append()) }
}
