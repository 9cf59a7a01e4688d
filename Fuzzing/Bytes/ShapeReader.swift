import NIOCore

@testable import Transport

/// Reads a message as the shape it was written from, and checks that it finds it.
struct ShapeReader: Decodable {
    /// What is expected. The fuzzer has one thread.
    nonisolated(unsafe) static var expected = Shape.null

    init(from decoder: any Decoder) throws {
        try ShapeReader.read(ShapeReader.expected, decoder)
    }

    private static func read(_ shape: Shape, _ decoder: any Decoder) throws {
        switch shape {
        case .nothing, .broken:
            require(try decoder.container(keyedBy: AnyKey.self).allKeys.isEmpty, "no fields")
        case .array(let children, _):
            var container = try decoder.unkeyedContainer()
            require(container.count == children.count, "as many elements")
            for child in children { try read(child, container.superDecoder()) }
            require(container.isAtEnd, "and no more")
        case .object(let fields, _):
            let container = try decoder.container(keyedBy: AnyKey.self)
            require(container.allKeys.map(\.stringValue) == fields.map(\.key), "the keys in their order")
            for (key, value) in fields.reversed() {
                try read(value, container.superDecoder(forKey: AnyKey(stringValue: key)))
            }
        case .reentrant(let inner):
            let value = try WireCoder.decode([String: Int].self, from: ByteBuffer(bytes: [1, 1, 97, 0xA2, 0, 5]))
            require(value == ["a": 5], "a message within a message")
            try read(inner, decoder)
        default: try readScalar(shape, decoder.singleValueContainer())
        }
    }

    private static func readScalar(_ shape: Shape, _ value: any SingleValueDecodingContainer) throws {
        let isEqual =
            switch shape {
            case .null: value.decodeNil()
            case .bool(let bool): try value.decode(Bool.self) == bool
            case .int(let int): try value.decode(Int64.self) == int
            case .uint(let uint): try value.decode(UInt64.self) == uint
            case .double(let bits): try value.decode(Double.self).bitPattern == bits
            case .float(let bits): try value.decode(Float.self).bitPattern == bits
            case .text(let text): try value.decode(String.self).utf8.elementsEqual(text.utf8)
            case .bytes(let bytes): try value.decode([UInt8].self) == bytes
            case .buffer(let buffer): try value.decode(ByteBuffer.self) == buffer
            case .numbers(let numbers): try value.decode([Int32].self) == numbers
            default: false
            }
        require(isEqual, "the value that was written: \(shape)")
    }
}
