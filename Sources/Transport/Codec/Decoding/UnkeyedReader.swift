/// Reads the elements of an unkeyed container, or of a packed array or bytes as if they were one.
struct UnkeyedReader: UnkeyedDecodingContainer {
    private let message: DecodingMessage
    private let node: UInt32
    /// The kind of all elements, in a packed array.
    private let kind: PackedKind?
    private let total: Int
    private let start: Int
    private let end: Int
    /// Where the next element begins.
    private var offset: Int
    private(set) var currentIndex = 0

    init(_ value: WireValue, node: UInt32, in message: DecodingMessage) throws {
        self.message = message
        self.node = node
        switch value {
        case .unkeyed(let range):
            kind = nil
            offset = range.lower
            end = range.upper
            total = range.count == 0 ? 0 : try message.reader.length(at: &offset, end: end)
        case .bytes(let range):
            kind = .uint8
            offset = range.lower
            end = range.upper
            total = range.count
        case .packed(let range):
            let (kind, elements) = try message.reader.packedBlock(range)
            self.kind = kind
            offset = elements.lower
            end = elements.upper
            total = elements.count / kind.width
        default:
            throw message.mismatch(container: "an unkeyed container", found: value, at: message.place(of: node))
        }
        start = offset
        guard total > 0 || offset == end else { throw WireCodingError.wrongElementCount(offset: start) }
        try message.state.pointee.enter(node, count: total)
    }

    var codingPath: [any CodingKey] { message.codingPath(of: message.place(of: node)) }
    /// The count is never more than the bytes of the container, so a type may reserve that capacity.
    var count: Int? { total }
    var isAtEnd: Bool { currentIndex >= total }

    mutating func decodeNil() throws -> Bool {
        let element = try peek(Never.self)
        guard case .null = element.value else { return false }
        advance(behind: element)
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let element = try peek(type)
        let result = try message.decode(type, from: element.value, at: place)
        advance(behind: element)
        return result
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try read(type) }
    mutating func decode(_ type: String.Type) throws -> String { try read(type) }
    mutating func decode(_ type: Double.Type) throws -> Double { try read(type) }
    mutating func decode(_ type: Float.Type) throws -> Float { try read(type) }
    mutating func decode(_ type: Int.Type) throws -> Int { try read(type) }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try read(type) }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try read(type) }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try read(type) }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try read(type) }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try read(type) }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try read(type) }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try read(type) }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try read(type) }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try read(type) }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        let element = try peek(KeyedDecodingContainer<NestedKey>.self)
        let reader = try KeyedReader<NestedKey>(element.value, node: message.addNode(place), in: message)
        advance(behind: element)
        return KeyedDecodingContainer(reader)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let element = try peek((any UnkeyedDecodingContainer).self)
        let reader = try UnkeyedReader(element.value, node: message.addNode(place), in: message)
        advance(behind: element)
        return reader
    }

    mutating func superDecoder() throws -> any Decoder {
        let element = try peek((any Decoder).self)
        let decoder = WireDecoder(message: message, value: element.value, node: message.addNode(place))
        advance(behind: element)
        return decoder
    }
}

extension UnkeyedReader {
    private struct Element {
        let value: WireValue
        /// Where the element behind it begins.
        let next: Int
    }

    private var place: WirePlace {
        WirePlace(parent: node, label: .index(UInt32(truncatingIfNeeded: currentIndex)))
    }

    private mutating func read<Value: WirePrimitive>(_ type: Value.Type) throws -> Value {
        let element = try peek(type)
        let result = try message.read(type, from: element.value, at: place)
        advance(behind: element)
        return result
    }

    /// The next element, not yet consumed: one that cannot be decoded stays the next.
    private func peek(_ type: Any.Type) throws -> Element {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(type, message.context(at: place, "The container has no more elements"))
        }
        var next = offset
        let value =
            if let kind {
                try message.reader.packedElement(kind, at: &next, end: end)
            } else {
                try message.reader.value(at: &next, end: end)
            }
        // The last element ends the body, and no other does.
        guard (currentIndex + 1 == total) == (next == end) else {
            throw WireCodingError.wrongElementCount(offset: start)
        }
        return Element(value: value, next: next)
    }

    private mutating func advance(behind element: Element) {
        offset = element.next
        currentIndex += 1
    }
}
