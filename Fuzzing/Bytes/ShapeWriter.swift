import NIOCore

@testable import Transport

/// Encoders and containers that outlive their message.
final class KeptEncoders {
    private var encoders: [any Encoder] = []
    private var unkeyed: [any UnkeyedEncodingContainer] = []
    private var keyed: [KeyedEncodingContainer<AnyKey>] = []

    func keep(_ encoder: any Encoder) { encoders.append(encoder) }
    func keep(_ container: any UnkeyedEncodingContainer) { unkeyed.append(container) }
    func keep(_ container: KeyedEncodingContainer<AnyKey>) { keyed.append(container) }

    /// Writes where nothing may be written any more.
    func use() {
        for encoder in encoders.suffix(4) {
            _ = encoder.codingPath
            var value = encoder.singleValueContainer()
            try? value.encode("late")
            var container = encoder.unkeyedContainer()
            try? container.encode([1, 2, 3])
            var fields = encoder.container(keyedBy: AnyKey.self)
            try? fields.encode(7, forKey: AnyKey(stringValue: "late"))
        }
        for var container in unkeyed.suffix(4) {
            try? container.encode("late")
            var nested = container.nestedUnkeyedContainer()
            try? nested.encode(1)
        }
        for var container in keyed.suffix(4) {
            try? container.encode("late", forKey: AnyKey(stringValue: "late"))
            try? "later".encode(to: container.superEncoder())
        }
    }
}

/// Writes a shape as it wants to be written.
struct ShapeWriter: Encodable {
    let shape: Shape
    let kept: KeptEncoders
    /// Whether no rule is broken and nothing is too deep; after either of these nothing is written any more.
    let isLawful: Bool

    func encode(to encoder: any Encoder) throws {
        switch shape {
        case .nothing: break
        case .array(let children, let manner): try write(children, manner, to: encoder)
        case .object(let fields, let manner): try write(fields, manner, to: encoder)
        case .broken(let rule): try violate(rule, encoder)
        case .reentrant(let inner):
            let bytes = try? WireCoder.encode(["a": 5])
            require(bytes?.array == [1, 1, 97, 0xA2, 0, 5], "a message within a message: \(bytes?.array ?? [])")
            try with(inner).encode(to: encoder)
        default: try writeScalar(to: encoder)
        }
    }

    private func with(_ shape: Shape) -> ShapeWriter { ShapeWriter(shape: shape, kept: kept, isLawful: isLawful) }

    private func writeScalar(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch shape {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .uint(let value): try container.encode(value)
        case .double(let bits): try container.encode(Double(bitPattern: bits))
        case .float(let bits): try container.encode(Float(bitPattern: bits))
        case .text(let value): try container.encode(value)
        case .bytes(let value): try container.encode(value)
        case .buffer(let value): try container.encode(value)
        case .numbers(let value): try container.encode(value)
        default: break
        }
    }

    // MARK: - Containers

    private func write(_ children: [Shape], _ manner: Shape.Manner, to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        if manner == .kept {
            kept.keep(encoder)
            kept.keep(container)
        }
        try write(children, manner, in: &container)
    }

    private func write(
        _ children: [Shape], _ manner: Shape.Manner, in container: inout any UnkeyedEncodingContainer
    ) throws {
        switch manner {
        case .inTurn, .kept:
            for child in children { try writeElement(child, in: &container) }
        case .backwards:
            let encoders = children.map { _ in container.superEncoder() }
            for (child, encoder) in zip(children, encoders).reversed() { try with(child).encode(to: encoder) }
        case .nested:
            for child in children {
                switch child {
                case .array(let inner, let manner):
                    var nested = container.nestedUnkeyedContainer()
                    try write(inner, manner, in: &nested)
                case .object(let inner, let manner):
                    var nested = container.nestedContainer(keyedBy: AnyKey.self)
                    try write(inner, manner, in: &nested)
                default: try writeElement(child, in: &container)
                }
            }
        }
        if isLawful { require(container.count == children.count, "\(container.count) elements of \(children)") }
    }

    /// Writes some scalars as they are, and others as values of a generic type, which take different ways through a coder.
    private func writeElement(_ child: Shape, in container: inout any UnkeyedEncodingContainer) throws {
        switch child {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .double(let bits): try container.encode(Double(bitPattern: bits))
        case .text(let value): try container.encode(value)
        case .numbers(let value): try container.encode(value)
        default: try container.encode(with(child))
        }
    }

    private func write(
        _ fields: [(key: String, value: Shape)], _ manner: Shape.Manner, to encoder: any Encoder
    ) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        if manner == .kept {
            kept.keep(encoder)
            kept.keep(container)
        }
        try write(fields, manner, in: &container)
    }

    private func write(
        _ fields: [(key: String, value: Shape)], _ manner: Shape.Manner,
        in container: inout KeyedEncodingContainer<AnyKey>
    ) throws {
        switch manner {
        case .inTurn, .kept:
            for (key, value) in fields { try writeField(value, AnyKey(stringValue: key), in: &container) }
        case .backwards:
            let encoders = fields.map { field in container.superEncoder(forKey: AnyKey(stringValue: field.key)) }
            for (field, encoder) in zip(fields, encoders).reversed() { try with(field.value).encode(to: encoder) }
        case .nested:
            for (text, value) in fields {
                let key = AnyKey(stringValue: text)
                switch value {
                case .array(let inner, let manner):
                    var nested = container.nestedUnkeyedContainer(forKey: key)
                    try write(inner, manner, in: &nested)
                case .object(let inner, let manner):
                    var nested = container.nestedContainer(keyedBy: AnyKey.self, forKey: key)
                    try write(inner, manner, in: &nested)
                default: try writeField(value, key, in: &container)
                }
            }
        }
    }

    private func writeField(
        _ value: Shape, _ key: AnyKey, in container: inout KeyedEncodingContainer<AnyKey>
    ) throws {
        switch value {
        case .null: try container.encodeNil(forKey: key)
        case .bool(let value): try container.encode(value, forKey: key)
        case .uint(let value): try container.encode(value, forKey: key)
        case .float(let bits): try container.encode(Float(bitPattern: bits), forKey: key)
        case .text(let value): try container.encode(value, forKey: key)
        case .bytes(let value): try container.encode(value, forKey: key)
        default: try container.encode(with(value), forKey: key)
        }
    }

    private func violate(_ rule: Shape.Rule, _ encoder: any Encoder) throws {
        switch rule {
        case .throwing:
            var container = encoder.unkeyedContainer()
            try container.encode("half")
            throw Shape.Thrown()
        case .twoValues:
            var container = encoder.singleValueContainer()
            try container.encode(1)
            try container.encode(2)
        case .twoKinds:
            var array = encoder.unkeyedContainer()
            var fields = encoder.container(keyedBy: AnyKey.self)
            try? array.encode(1)
            try? fields.encode(1, forKey: AnyKey(stringValue: "a"))
        case .sameKey:
            var fields = encoder.container(keyedBy: AnyKey.self)
            try? fields.encode(1, forKey: AnyKey(stringValue: "a"))
            try? fields.encode(2, forKey: AnyKey(stringValue: "a"))
        }
    }
}
