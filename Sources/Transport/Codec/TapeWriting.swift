// Each of these is one step on the tape, so that a container pays once for reaching it.
extension EncodingTape {
    /// Writes a field of the keyed container `node`.
    mutating func writeField(_ key: String, _ value: some WirePrimitive, to node: Int) throws {
        _ = try writeKey(key, to: node)
        try write(value, to: node)
    }

    /// Writes an element of the unkeyed container `node`.
    mutating func writeElement(_ value: some WirePrimitive, to node: Int) throws {
        _ = try writeElement(to: node)
        try write(value, to: node)
    }

    /// Writes the only value of `node`.
    mutating func writeSingle(_ value: some WirePrimitive, to node: Int) throws {
        settle(node, as: .single)
        try check(node)
        try write(value, to: node)
    }

    /// Writes the only value of `node`.
    mutating func writeSingle(_ value: NativeValue, to node: Int) throws {
        settle(node, as: .single)
        try check(node)
        try write(value, to: node)
    }
}
