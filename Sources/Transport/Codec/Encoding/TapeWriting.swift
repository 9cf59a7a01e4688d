// Each of these is one step on the tape, so that a container pays once for reaching it.
extension EncodingTape {
    /// Writes a field of the keyed container `node`.
    mutating func writeField(_ key: String, _ scalar: WireScalar, to node: UInt32) throws {
        _ = try beginField(key, in: node)
        try write(scalar, to: node)
    }

    /// Writes a field of the keyed container `node`.
    mutating func writeField(_ key: String, _ text: String, to node: UInt32) throws {
        _ = try beginField(key, in: node)
        try write(text, to: node)
    }

    /// Writes an element of the unkeyed container `node`.
    mutating func writeElement(_ scalar: WireScalar, to node: UInt32) throws {
        _ = try beginElement(in: node)
        try write(scalar, to: node)
    }

    /// Writes an element of the unkeyed container `node`.
    mutating func writeElement(_ text: String, to node: UInt32) throws {
        _ = try beginElement(in: node)
        try write(text, to: node)
    }

    /// Writes the only value of `node`.
    mutating func writeSingle(_ value: NativeValue, to node: UInt32) throws {
        settle(node, as: .single)
        try check(node)
        try write(value, to: node)
    }

    /// Writes `value` where the current value of `node` goes.
    mutating func write(_ value: NativeValue, to node: UInt32) throws {
        switch value {
        case .scalar(let value): try write(value, to: node)
        case .text(let value): try write(value, to: node)
        case .bytes(let value): try write(value, to: node)
        case .payload(let value): try write(value, to: node)
        }
    }
}
